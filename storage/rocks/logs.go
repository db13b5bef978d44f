package rocks

// #include "logs.h"
import "C"

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/bits"
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

// endAtGaps ends the replay of logs before a batch if the batch before it is missing, such as the last one of a log that
// was removed before RocksDB recorded it. Each batch names the one before it: see [batch.encode].
func endAtGaps(o *grocksdb.Options) { C.birthmark_end_at_gaps(native(o)) }

// checkLogs returns ErrDamaged if the updates in the logs do not follow each other, such as in a copy of a log, or in a log
// with a part of another one. Debian's RocksDB has its assertions on: it aborts the process when it reads such logs.
func checkLogs(dir string) error {
	logs, err := logsOf(dir)
	if err != nil {
		return err
	}
	next, before := uint64(0), ""
	for _, l := range logs {
		name := filepath.Base(l.path)
		err := eachBatch(l.path, func(sequence uint64, updates uint32) error {
			if sequence < next {
				return fmt.Errorf("%w: the log %s has update %d after update %d of %s: it is not a log of this database, or has parts "+
					"of another one; move it away", storage.ErrDamaged, name, sequence, next-1, before)
			}
			if updates > 0 {
				next, before = sequence+uint64(updates), name
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// logFile is a write-ahead log.
type logFile struct {
	number uint64
	path   string
}

// logsOf returns the logs in a folder in their order.
func logsOf(dir string) (logs []logFile, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, path := range paths {
		if n, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(path), ".log"), 10, 64); err == nil {
			logs = append(logs, logFile{n, path})
		}
	}
	slices.SortFunc(logs, func(a, b logFile) int { return cmp.Compare(a.number, b.number) })
	return logs, err
}

// eachBatch calls do with the sequence number and the number of updates of every batch in a log, up to the first one
// that is incomplete or modified: RocksDB ends there too.
//
// A log has blocks of 32 KiB. A record has a checksum, 4 bytes; its size, 2; its type, 1. A batch is one record or several,
// and begins with its sequence number, 8 bytes, and its number of updates, 4. Numbers are little-endian (RocksDB,
// db/log_format.h and db/write_batch.cc).
func eachBatch(path string, do func(sequence uint64, updates uint32) error) error {
	const full, first, middle, last, header, block = 1, 2, 3, 4, 7, 32 << 10
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // removed by the writer
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var head []byte // the beginning of a batch
	open := false   // a batch has begun
	for b := make([]byte, block); ; {
		n, err := io.ReadFull(f, b)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		for rest := b[:n]; len(rest) >= header; {
			size, kind := int(binary.LittleEndian.Uint16(rest[4:])), rest[header-1]
			begins := kind == full || kind == first
			if kind < full || kind > last || begins == open || len(rest) < header+size ||
				binary.LittleEndian.Uint32(rest) != maskedChecksum(rest[header-1:header+size]) {
				return nil
			}
			if begins {
				head = head[:0]
			}
			head = append(head, rest[header:header+min(size, 12-len(head))]...)
			rest = rest[header+size:]
			if open = kind == first || kind == middle; open {
				continue
			}
			if len(head) < 12 {
				return nil
			}
			if err := do(binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint32(head[8:])); err != nil {
				return err
			}
		}
		if n < block {
			return nil
		}
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedChecksum is the checksum of a record: CRC-32C, changed as in RocksDB's util/crc32c.h.
func maskedChecksum(b []byte) uint32 {
	return bits.RotateLeft32(crc32.Checksum(b, castagnoli), 17) + 0xa282ead8
}
