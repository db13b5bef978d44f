package rocks

// #include "logs.h"
import "C"

import (
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// quiet turns off RocksDB's info log. On a full disk RocksDB 7.8 ends the process when it appends to that log again
// after an append failed. Everything else that fails is returned as an error.
func disableInfoLog(o *grocksdb.Options) { C.birthmark_quiet(cOptions(o)) }

// trackLogs records every synced write-ahead log in the manifest, with its size. Open then fails if one is missing or
// was cut, instead of returning a database without some of its blocks.
func trackLogs(o *grocksdb.Options) { C.birthmark_track_logs(cOptions(o)) }

// cOptions returns the pointer of the C API, the first field of grocksdb's options.
func cOptions(o *grocksdb.Options) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(o)) }
