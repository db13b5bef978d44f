package rocks

// #include "logs.h"
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// disableInfoLog turns off RocksDB's info log. On a full disk RocksDB 7.8 aborts the process when it appends to that
// log after a failed append. All other failures are returned as errors.
func disableInfoLog(o *grocksdb.Options) { C.birthmark_disable_info_log(native(o)) }

// trackLogs records every synced write-ahead log and its size in the manifest. Open then fails if a log is missing or
// truncated, instead of returning a database that lacks its rows.
func trackLogs(o *grocksdb.Options) { C.birthmark_track_logs(native(o)) }

// checkLogs returns ErrDamaged if the updates of a log do not follow those of the log with the next lower number, such as
// in a copy of a log. RocksDB of Debian has its assertions on: it aborts the process when it reads such logs.
func checkLogs(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return err
	}
	type log struct {
		number uint64
		path   string
	}
	var logs []log
	for _, path := range paths {
		if n, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), ".log"), 10, 64); err == nil {
			logs = append(logs, log{n, path})
		}
	}
	slices.SortFunc(logs, func(a, b log) int { return int(int64(a.number) - int64(b.number)) })
	var before logBegin
	for i, l := range logs {
		begin, err := readLogBegin(l.path)
		if err != nil {
			return err
		}
		if begin.updates == 0 {
			continue
		}
		if before.updates > 0 && begin.sequence <= before.sequence {
			return fmt.Errorf("%w: the log %s begins with update %d, the log before it, %s, with update %d: it is no log of this "+
				"database, or a copy of an older one; move it away", storage.ErrDamaged, filepath.Base(l.path), begin.sequence,
				filepath.Base(logs[i-1].path), before.sequence)
		}
		before = begin
	}
	return nil
}

// logBegin is the first batch of a log.
type logBegin struct {
	sequence uint64 // of its first update
	updates  uint32 // 0: the log has no batch that can be read, which RocksDB reports
}

// readLogBegin reads the first record of a log: checksum, 4 bytes; size, 2; type, 1; then the sequence and the number of
// updates of a batch, 8 and 4 bytes, little-endian (RocksDB, db/log_format.h and db/write_batch.cc).
func readLogBegin(path string) (begin logBegin, err error) {
	const full, first, header = 1, 2, 7
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // removed by the writer
		return begin, nil
	}
	if err != nil {
		return begin, err
	}
	defer f.Close()
	b := make([]byte, header+8+4)
	if _, err := io.ReadFull(f, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return begin, nil
	} else if err != nil {
		return begin, err
	}
	if t := b[header-1]; t != full && t != first {
		return begin, nil
	}
	return logBegin{binary.LittleEndian.Uint64(b[header:]), binary.LittleEndian.Uint32(b[header+8:])}, nil
}
