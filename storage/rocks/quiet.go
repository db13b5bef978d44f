package rocks

// #include "quiet.h"
import "C"

import (
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// quiet turns RocksDB's own log off. On a full disk it is the log that ends the process: its file, which could not be
// appended to, must not be appended to again, and RocksDB 7.8 does so and then trips over its own assertion. What is
// wrong is told by the errors that calls return.
func quiet(o *grocksdb.Options) { C.birthmark_quiet(*(*unsafe.Pointer)(unsafe.Pointer(o))) }
