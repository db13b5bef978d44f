package storage

import (
	"context"
	"errors"
	"io"
	"iter"
)

// ErrNotFound is returned by [Reader.Get] for an absent key and by [SideFiles.ReadSideFile] for an absent file.
var ErrNotFound = errors.New("not found")

// ErrClosed is returned by every call on a closed store.
var ErrClosed = errors.New("store is closed")

// ErrReadOnly is returned by calls that would write to a store that was opened read-only.
var ErrReadOnly = errors.New("store is read-only")

// ErrDamaged is returned if a store is opened whose files are incomplete or modified.
var ErrDamaged = errors.New("the database is damaged")

// LockedError reports that another process has the store open for writing.
type LockedError struct {
	Path   string
	Holder string // "pid 4711, birthmark sync, since 2026-11-21T04:29:00Z"; may be empty
}

func (e *LockedError) Error() string {
	if e.Holder == "" {
		return e.Path + " is in use by another process"
	}
	return e.Path + " is in use by " + e.Holder
}

// Family is the number of a family of rows. Numbers never change: a store without native families may use them as a
// prefix of the key.
type Family uint16

// Access describes how a family is used, so that a store can choose a layout.
type Access uint8

const (
	Ordered Access = iota // keys are written in ascending order; read by key and by range
	Lookup                // keys are written in random order; read by key, often absent
	Grouped               // keys are written in random order; read by ranges with a common prefix
	Hashed                // keys begin with a hash prefix of PrefixSize bytes; read by it, often absent
)

// PrefixSize is the size in bytes of the hash prefix that keys of a [Hashed] family begin with.
const PrefixSize = 8

// Declaration introduces a family to a store.
type Declaration struct {
	Family Family
	Name   string // stable; the name of a column family
	Access Access

	// Hints, which a store may ignore.
	Incompressible  bool // keys or values are mostly hashes
	DeferCompaction bool // not read during bulk updates: compaction may wait until they end
	Present         bool // lookups mostly find their key: most tables need no filter
}

// KV is a row. Both slices are valid until the next iteration of the scan that yielded it.
type KV struct{ Key, Value []byte }

// Reader reads one snapshot. It is valid until the function it was passed to returns, and safe for concurrent use.
type Reader interface {
	// Get returns the value, which the caller owns, or ErrNotFound.
	Get(f Family, key []byte) ([]byte, error)

	// GetMany returns the values in the order of keys in one round trip: nil for an absent key, not nil for an empty
	// value. The caller owns the slices.
	GetMany(f Family, keys [][]byte) ([][]byte, error)

	// Suffixes returns for each prefix of PrefixSize bytes the rest of every key that begins with it, in key order and
	// concatenated; nil if there is none. It takes one round trip. The caller owns the slices. f must be [Hashed] with
	// keys of one length.
	Suffixes(f Family, prefixes [][]byte) ([][]byte, error)

	// Scan yields the rows with from <= key < to in ascending order, or descending if reverse is set. A nil from or to
	// leaves that end open. Scan ends after the first error.
	Scan(f Family, from, to []byte, reverse bool) iter.Seq2[KV, error]
}

// Batch collects the changes of one atomic write. It copies keys and values. The last change to a key wins. The methods
// do not fail: errors are returned by the write.
type Batch interface {
	Put(f Family, key, value []byte)
	Delete(f Family, key []byte)
}

// SumsBatch is a Batch that can add to a row without reading it. A row of sums is three uvarints, one byte with the
// size of the fourth number, and the fourth and the fifth number, both big-endian without leading zeros.
type SumsBatch interface {
	// AddSums adds each of the five numbers to that of the row, modulo 2^64 or, for the last two, 2^128. Without a row
	// the sums become the row. A batch must not change the key in another way.
	AddSums(f Family, key, sums []byte)
}

// Store is a key-value store with families.
type Store interface {
	// Declare opens families and creates missing ones. A process must declare a family before it uses it. A
	// read-only store treats a missing family as empty.
	Declare(ds ...Declaration) error

	// View runs fn on one snapshot.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn and writes the batch atomically, or writes nothing if fn or the write fails. A successful write
	// survives the end of the process; what else it survives depends on the store. The reader shows the state before
	// the update. Updates run one at a time, concurrently with Views.
	Update(ctx context.Context, fn func(Reader, Batch) error) error

	// Drop removes families, declared or not, with all their rows; it ignores families that do not exist. It waits
	// until no View runs. A dropped family must be declared again before use.
	Drop(ctx context.Context, ds ...Declaration) error

	// Close waits for calls in progress and frees the store. A second call does nothing.
	Close() error
}

// BulkUpdater is a store with a faster path for large updates.
type BulkUpdater interface {
	// UpdateBulk is [Store.Update] for millions of rows: it has the same guarantees, and its rows are on disk when it
	// returns. For a few rows it is slower than Update. The Batch may be a [SumsBatch].
	UpdateBulk(ctx context.Context, fn func(Reader, Batch) error) error
}

// Sizer is a store that reports the size of a family.
type Sizer interface {
	// Size returns the approximate size of the family in bytes, on disk and in buffers.
	Size(f Family) (int64, error)
}

// Flusher is a store that may hold finished updates in memory only.
type Flusher interface {
	// Flush makes every finished update durable.
	Flush(ctx context.Context) error
}

// SideFiles is a store that keeps files next to its rows: derived data that can be rebuilt from the rows and speeds up
// opening. A side file is complete or absent, and may disappear at any time. Names consist of letters, digits, - and _.
type SideFiles interface {
	// WriteSideFile durably replaces the file of that name by what write writes. The previous file remains if write or
	// the disk fails.
	WriteSideFile(name string, write func(io.Writer) error) error

	// ReadSideFile calls read with the contents of a file. It returns [ErrNotFound] if there is none, and an error of
	// read unchanged.
	ReadSideFile(name string, read func(io.Reader) error) error
}

// CacheFolder is a store with a folder for files that extend caches beyond memory. Only the process that opened the
// store for writing uses it. Its files may be deleted while the store is closed.
type CacheFolder interface {
	// CacheFolder returns the path of the folder, which may not exist yet, and the number of its files that may be open.
	CacheFolder() (path string, files int)
}

// Compactor is a store that reorganises its files in the background.
type Compactor interface {
	// Compact fully compacts every declared family.
	Compact(ctx context.Context) error
}
