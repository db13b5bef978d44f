package rocks

// Reads keep no pointer and call no Go function, so their arguments can be on the stack.

// #cgo CXXFLAGS: -std=c++17 -O2
// #cgo noescape birthmark_multi_get
// #cgo nocallback birthmark_multi_get
// #cgo noescape birthmark_suffixes
// #cgo nocallback birthmark_suffixes
// #cgo noescape birthmark_ranges
// #cgo nocallback birthmark_ranges
// #cgo noescape birthmark_scan_next
// #cgo nocallback birthmark_scan_next
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// native returns the C API's pointer of a grocksdb object: its first field in the pinned version.
func native[T grocksdb.DB | grocksdb.ColumnFamilyHandle | grocksdb.Snapshot | grocksdb.Options](object *T) unsafe.Pointer {
	if object == nil {
		return nil
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(object))
}

func cError(text *C.char) error {
	if text == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(text))
	return errors.New(C.GoString(text))
}

func bytesPointer(b []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))) }

// readMode selects what readMany returns for a key.
type readMode int

const (
	readValues   readMode = iota // its value
	readSuffixes                 // the rest of each key that begins with it, concatenated
)

// readMany sets values to one slice per key of one family in one call. It leaves out keys for which it finds nothing.
func readMany(
	db *grocksdb.DB, cf *grocksdb.ColumnFamilyHandle, snapshot *grocksdb.Snapshot, keys [][]byte, mode readMode, values [][]byte,
) error {
	if len(keys) == 0 {
		return nil
	}
	size := 0
	for _, k := range keys {
		size += len(k)
	}
	n := len(keys)
	var fewBytes [128]byte // of small reads, on the stack
	var fewNumbers [3 * 4]C.uint64_t
	joined, numbers := fewBytes[:0], fewNumbers[:]
	if size >= len(fewBytes) || 3*n > len(fewNumbers) {
		joined, numbers = make([]byte, 0, size+1), make([]C.uint64_t, 3*n)
	}
	ends, starts, sizes := numbers[:n], numbers[n:2*n], numbers[2*n:3*n] // sizes are signed
	for i, k := range keys {
		joined = append(joined, k...)
		ends[i] = C.uint64_t(len(joined))
	}
	joined = joined[:cap(joined)] // never empty: C needs an address
	var out C.birthmark_result
	var text *C.char
	if mode == readSuffixes {
		text = C.birthmark_suffixes(native(db), native(cf), native(snapshot), bytesPointer(joined), &ends[0], C.size_t(n),
			&out, &starts[0], (*C.int64_t)(unsafe.Pointer(&sizes[0])))
	} else {
		text = C.birthmark_multi_get(native(db), native(cf), native(snapshot), bytesPointer(joined), &ends[0], C.size_t(n),
			&out, &starts[0], (*C.int64_t)(unsafe.Pointer(&sizes[0])))
	}
	if err := cError(text); err != nil {
		return err
	}
	arena := taken(&out)
	for i := range sizes {
		if size := int64(sizes[i]); size >= 0 {
			end := int(starts[i]) + int(size)
			values[i] = arena[starts[i]:end:end]
		}
	}
	return nil
}

// taken copies the bytes of a read and frees their memory. It does not return nil.
func taken(r *C.birthmark_result) []byte {
	if r.larger == nil {
		return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(&r.room)), r.size)...)
	}
	defer C.free(unsafe.Pointer(r.larger))
	return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(r.larger)), r.size)...) // not cleared before
}

// threadWaits returns how often the operating system's thread has waited, for example for the disk.
func threadWaits() int64 { return int64(C.birthmark_thread_waits()) }

// readRanges reads the rows of ranges of one family in one call.
func readRanges(
	db *grocksdb.DB, cf *grocksdb.ColumnFamilyHandle, snapshot *grocksdb.Snapshot, ranges []storage.Range,
) ([][]storage.KV, error) {
	n := len(ranges)
	size := 0
	for i := range ranges {
		size += len(ranges[i].From) + len(ranges[i].To)
	}
	bounds, list, ends := make([]byte, 0, size+1), make([]C.birthmark_range, n), make([]C.uint64_t, n)
	for i, r := range ranges {
		bounds = append(bounds, r.From...)
		list[i].from_end = C.uint64_t(len(bounds))
		bounds = append(bounds, r.To...)
		list[i].to_end, list[i].limit = C.uint64_t(len(bounds)), C.uint64_t(r.Limit)
		if r.To == nil {
			list[i].open = 1
		}
	}
	bounds = bounds[:cap(bounds)] // never empty: C needs an address
	var out C.birthmark_result
	err := cError(C.birthmark_ranges(native(db), native(cf), native(snapshot), bytesPointer(bounds), &list[0], C.size_t(n),
		&out, &ends[0]))
	if err != nil {
		return nil, err
	}
	arena := taken(&out)
	count := 0
	for at := 0; at < len(arena); count++ {
		_, _, at = nextRow(arena, at)
	}
	all, rows, at := make([]storage.KV, 0, count), make([][]storage.KV, n), 0
	for i := range rows {
		first := len(all)
		for at < int(ends[i]) {
			var row storage.KV
			row.Key, row.Value, at = nextRow(arena, at)
			all = append(all, row)
		}
		rows[i] = all[first:len(all):len(all)]
	}
	return rows, nil
}

// nextRow returns the row of the shim at a position, and the position after it.
func nextRow(rows []byte, at int) (key, value []byte, next int) {
	sizes := rows[at : at+8]
	k := at + 8 + int(binary.NativeEndian.Uint32(sizes))
	v := k + int(binary.NativeEndian.Uint32(sizes[4:]))
	return rows[at+8 : k : k], rows[k:v:v], v
}

// setPrefixExtractor bases the filters of a family on the first size bytes of its keys.
func setPrefixExtractor(o *grocksdb.Options, size int) {
	C.birthmark_set_prefix_extractor(native(o), C.size_t(size))
}

// hintInserts lets an insert into a memtable begin at the position of the last one.
func hintInserts(o *grocksdb.Options) { C.birthmark_hint_inserts(native(o)) }

// setSums lets additions of sums take effect: see [storage.SumsBatch].
func setSums(o *grocksdb.Options) { C.birthmark_set_sums(native(o)) }

// createFamilies creates one family per name. After an error it returns the handles of the created ones.
func createFamilies(
	db *grocksdb.DB, names []string, options []*grocksdb.Options,
) ([]*grocksdb.ColumnFamilyHandle, error) {
	if len(names) == 0 {
		return nil, nil
	}
	joined := C.CString(strings.Join(names, "\x00"))
	defer C.free(unsafe.Pointer(joined))
	// The C API's pointers, as integers: Go's collector does not follow them.
	from, to := make([]uintptr, len(names)), make([]uintptr, len(names))
	for i, o := range options {
		from[i] = uintptr(native(o))
	}
	var n C.size_t
	err := cError(C.birthmark_create_families(native(db), joined, (*unsafe.Pointer)(unsafe.Pointer(&from[0])),
		C.size_t(len(names)), (*unsafe.Pointer)(unsafe.Pointer(&to[0])), &n))
	handles := make([]*grocksdb.ColumnFamilyHandle, n)
	for i := range handles {
		handles[i] = new(grocksdb.ColumnFamilyHandle)
		*(*uintptr)(unsafe.Pointer(handles[i])) = to[i] // its first field, as in native
	}
	return handles, err
}

// flushAll flushes the memtables of all families, atomically if the database is configured so.
func flushAll(db *grocksdb.DB, cfs []*grocksdb.ColumnFamilyHandle) error {
	families, free := pointers(cfs)
	defer free()
	return cError(C.birthmark_flush(native(db), families, C.size_t(len(cfs))))
}

// pointers returns an array of the C API's handles, to be freed with free.
func pointers(cfs []*grocksdb.ColumnFamilyHandle) (array *unsafe.Pointer, free func()) {
	// cgo does not allow passing Go memory that contains pointers, so the array is in C memory. The pointers are
	// written as integers: the garbage collector's write barrier would follow the uninitialised previous value.
	p := C.malloc(C.size_t(len(cfs)+1) * C.size_t(unsafe.Sizeof(uintptr(0))))
	numbers := unsafe.Slice((*uintptr)(p), len(cfs))
	for i, cf := range cfs {
		numbers[i] = uintptr(native(cf))
	}
	return (*unsafe.Pointer)(p), func() { C.free(p) }
}

// heapArenas returns the current and the maximum number of arenas of the C heap.
func heapArenas() (n, limit int) { return int(C.birthmark_arenas()), int(C.birthmark_max_arenas()) }

// Version returns the version of RocksDB, such as 7.8.3.
func Version() string {
	v := int(C.birthmark_rocksdb_version())
	return fmt.Sprintf("%d.%d.%d", v>>16, v>>8&0xff, v&0xff)
}

// Library describes the RocksDB that the program is linked with.
type Library struct {
	Version     string   `json:"version"`     // such as 7.8.3
	Assertions  bool     `json:"assertions"`  // compiled without NDEBUG: a failed assertion aborts the process
	Compression []string `json:"compression"` // without none
}

// LinkedLibrary returns the description of RocksDB.
func LinkedLibrary() Library {
	l := Library{Version: Version(), Assertions: C.birthmark_rocksdb_assertions() != 0}
	kinds := uint32(C.birthmark_rocksdb_compression())
	for kind, name := range map[int]string{1: "snappy", 2: "zlib", 3: "bzip2", 4: "lz4", 5: "lz4hc", 7: "zstd"} {
		if kinds>>kind&1 != 0 {
			l.Compression = append(l.Compression, name)
		}
	}
	slices.Sort(l.Compression)
	return l
}

// setBackgroundJobs sets the number of threads that flush and compact.
func setBackgroundJobs(db *grocksdb.DB, jobs int) error {
	return cError(C.birthmark_background_jobs(native(db), C.int(jobs)))
}

// compact compacts a family. If ctx ends it stops early, and the database remains valid.
func compact(ctx context.Context, db *grocksdb.DB, cf *grocksdb.ColumnFamilyHandle) error {
	return stoppable(ctx, func(stop unsafe.Pointer, stopped *C.int) *C.char {
		return C.birthmark_compact(native(db), native(cf), stop, stopped)
	})
}

// mergeSmall merges one series of at least least and at most most neighboring tables that are smaller than small bytes.
// It reports whether there was one.
func mergeSmall(ctx context.Context, db *grocksdb.DB, cf *grocksdb.ColumnFamilyHandle, small, least, most int) (merged bool, err error) {
	var found C.int
	err = stoppable(ctx, func(stop unsafe.Pointer, stopped *C.int) *C.char {
		return C.birthmark_merge_small(native(db), native(cf), C.uint64_t(small), C.size_t(least), C.size_t(most), stop, &found, stopped)
	})
	return found != 0, err
}

// stoppable calls a compaction, which ends early if ctx ends.
func stoppable(ctx context.Context, compact func(stop unsafe.Pointer, stopped *C.int) *C.char) error {
	stop := C.birthmark_stop_new()
	defer C.birthmark_stop_free(stop)
	done := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(done)
		C.birthmark_stop(stop)
	})
	var stopped C.int
	err := cError(compact(stop, &stopped))
	if !forget() {
		<-done // the callback has started: stop must not be freed before it ends
	}
	if stopped != 0 {
		return ctx.Err()
	}
	return err
}

// writeTable writes sorted changes as a table. final selects the compression of the last level.
func writeTable(options *grocksdb.Options, path string, rows *changes, final bool) error {
	p := C.CString(path)
	defer C.free(unsafe.Pointer(p))
	last := C.int(0)
	if final {
		last = 1
	}
	var list *C.birthmark_row
	if rows.listed {
		list = (*C.birthmark_row)(unsafe.Pointer(unsafe.SliceData(rows.records)))
	}
	return cError(C.birthmark_write_table(native(options), p, bytesPointer(rows.data), list, C.size_t(rows.n), last))
}

// ingest adds one table per family to the database: all or none.
func ingest(db *grocksdb.DB, cfs []*grocksdb.ColumnFamilyHandle, paths []string) error {
	families, free := pointers(cfs)
	defer free()
	size := C.size_t(unsafe.Sizeof(uintptr(0)))
	p := C.malloc(C.size_t(len(paths)+1) * size)
	defer C.free(p)
	names := unsafe.Slice((**C.char)(p), len(paths))
	for i, path := range paths {
		*(*uintptr)(unsafe.Pointer(&names[i])) = 0 // the memory is uninitialised
		names[i] = C.CString(path)
		defer C.free(unsafe.Pointer(names[i]))
	}
	return cError(C.birthmark_ingest(native(db), families, (**C.char)(p), C.size_t(len(paths))))
}

// scan is an open iterator.
type scan struct {
	p    unsafe.Pointer
	rows []byte // fetched rows that next has not returned yet
	all  []byte // memory of the fetched rows, which the next ones replace
	want int    // bytes to fetch next
}

const (
	firstScanBytes = 2 << 10
	maxScanBytes   = 256 << 10
)

func openScan(
	db *grocksdb.DB, cf *grocksdb.ColumnFamilyHandle, snapshot *grocksdb.Snapshot, from, to []byte, reverse bool,
) *scan {
	var r C.int
	if reverse {
		r = 1
	}
	bound := func(b []byte) *C.char {
		if b != nil && len(b) == 0 {
			return bytesPointer([]byte{0}) // a non-nil address for an empty bound
		}
		return bytesPointer(b)
	}
	return &scan{
		p: C.birthmark_scan_open(native(db), native(cf), native(snapshot),
			bound(from), C.size_t(len(from)), bound(to), C.size_t(len(to)), r),
		want: firstScanBytes,
	}
}

// next returns the next row; ok is false at the end. The slices are valid until the next call.
func (s *scan) next() (key, value []byte, ok bool, err error) {
	if len(s.rows) == 0 {
		var rows *C.char
		var size C.size_t
		if err := cError(C.birthmark_scan_next(s.p, C.size_t(s.want), &rows, &size)); err != nil {
			return nil, nil, false, err
		}
		if size == 0 {
			return nil, nil, false, nil
		}
		s.all = append(s.all[:0], unsafe.Slice((*byte)(unsafe.Pointer(rows)), int(size))...)
		s.rows = s.all
		s.want = min(s.want*4, maxScanBytes)
	}
	key, value, size := nextRow(s.rows, 0)
	s.rows = s.rows[size:]
	return key, value, true, nil
}

func (s *scan) close() { C.birthmark_scan_close(s.p) }
