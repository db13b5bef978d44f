package rocks

// #include "logs.h"
import "C"

import "github.com/linxGnu/grocksdb"

// disableInfoLog turns off RocksDB's info log. On a full disk RocksDB 7.8 aborts the process when it appends to that
// log after a failed append. All other failures are returned as errors.
func disableInfoLog(o *grocksdb.Options) { C.birthmark_disable_info_log(native(o)) }

// trackLogs records every synced write-ahead log and its size in the manifest. Open then fails if a log is missing or
// truncated, instead of returning a database that lacks its rows.
func trackLogs(o *grocksdb.Options) { C.birthmark_track_logs(native(o)) }
