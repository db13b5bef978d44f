package rocks

// #include "options_file.h"
import "C"

import "github.com/linxGnu/grocksdb"

// skipOptionsFile makes a database that writes keep no OPTIONS file. RocksDB writes it at every open, when families are
// created or dropped and when an option changes, then reads it and compares: 10 ms of CPU time and two fsyncs each, a
// third of an open. Options come from [newSettings], nothing reads the file.
func skipOptionsFile(o *grocksdb.Options) { C.birthmark_skip_options_file(native(o)) }
