package storage

import (
	"context"
	"errors"
	"io"
	"iter"
)

// ErrNotFound is what [Reader.Get] returns for a key that is not there, and [SideFiles] for a note.
var ErrNotFound = errors.New("not found")

// ErrClosed is returned by every use of a closed store.
var ErrClosed = errors.New("store is closed")

// ErrReadOnly is returned where a store that was opened to be read would have to be written.
var ErrReadOnly = errors.New("store is read-only")

// ErrDamaged is returned when a store is opened whose files are incomplete or changed.
var ErrDamaged = errors.New("the database is damaged")

// LockedError says that another process holds the store.
type LockedError struct {
	Path   string
	Holder string // what the holder wrote about itself: "pid 4711, birthmark sync, since 2026-11-21T04:29:00Z"; may be empty
}

func (e *LockedError) Error() string {
	if e.Holder == "" {
		return e.Path + " is in use by another process"
	}
	return e.Path + " is in use by " + e.Holder
}

// Family numbers a family of rows. Numbers are given once and stay: a store without families of its own may use
// them as a prefix of the key.
type Family uint16

// Access says how a family is used, so that a store can lay it out.
type Access uint8

const (
	Ordered Access = iota // keys arrive in ascending order and are read singly and in ranges
	Lookup                // keys in random order, read singly, often absent
	Grouped               // keys in random order, read by ranges that share a prefix
	Hashed                // keys begin with PrefixSize bytes of a hash, spread evenly, and are read by those; often absent
)

// PrefixSize is how many bytes of a hash the keys of a [Hashed] family begin with.
const PrefixSize = 8

// Declaration introduces a family to a store.
type Declaration struct {
	Family Family
	Name   string // stable; a column family's name
	Access Access

	// Hints. A store that has no use for them leaves them.
	Incompressible  bool // keys or values are mostly hashes: no compression makes them smaller
	DeferCompaction bool // nothing reads it while rows are added in bulk: it may be brought into shape afterwards
}

// KV is a row. Both slices are valid until the next step of the scan that yielded it.
type KV struct{ Key, Value []byte }

// Reader reads one snapshot. It is valid inside the function it was handed to, there from any goroutine.
type Reader interface {
	// Get returns the value, owned by the caller; ErrNotFound where the key is absent.
	Get(f Family, key []byte) ([]byte, error)

	// GetMany returns the values in the order of keys, nil where absent (a value of no bytes is not nil), in one
	// round trip. The slices are the caller's.
	GetMany(f Family, keys [][]byte) ([][]byte, error)

	// Suffixes returns for every head, of PrefixSize bytes, what follows it in the keys of f that begin with it: their tails in
	// order, one after the other; nil where there are none. One round trip; the slices are the caller's. f is Hashed,
	// and its keys have one length.
	Suffixes(f Family, heads [][]byte) ([][]byte, error)

	// Scan yields the rows with from <= key < to in order, or the other way round where reverse is set.
	// A nil from or to leaves that end open. After an error it ends.
	Scan(f Family, from, to []byte, reverse bool) iter.Seq2[KV, error]
}

// Batch collects what one atomic write changes. Key and value are copied. Of several changes to a key the last counts.
// The methods cannot fail: what can go wrong is found by the write.
type Batch interface {
	Put(f Family, key, value []byte)
	Delete(f Family, key []byte)
}

// Store keeps rows.
type Store interface {
	// Declare makes families known, creating those that do not exist yet. A family must be declared, once a
	// process, before its first use. A store that was opened to be read takes a missing family as empty.
	Declare(ds ...Declaration) error

	// View runs fn over one snapshot.
	View(ctx context.Context, fn func(Reader) error) error

	// Update runs fn, then writes all that fn put into the batch, or nothing where fn or the write fails. When it
	// returns nil the write survives the end of the process (what more it survives is the store's to say). The
	// reader shows the state before. One Update runs at a time; Views go on beside it.
	Update(ctx context.Context, fn func(Reader, Batch) error) error

	// Drop removes families with all their rows, declared or not; those that do not exist are passed over. It waits until
	// no View runs. To use a family again it has to be declared.
	Drop(ctx context.Context, ds ...Declaration) error

	// Close waits for what is running and frees the store. Closing twice is harmless.
	Close() error
}

// BulkUpdater is a store that has a faster way for updates of many rows.
type BulkUpdater interface {
	// UpdateBulk is [Store.Update] for millions of rows: it promises the same, and is on disk when it returns. An update
	// of few rows costs more this way.
	UpdateBulk(ctx context.Context, fn func(Reader, Batch) error) error
}

// Sizer is a store that knows how much room a family takes.
type Sizer interface {
	// Size is the bytes of the family on disk and in buffers, as far as the store knows.
	Size(f Family) (int64, error)
}

// Flusher is a store that may hold finished updates in memory alone.
type Flusher interface {
	// Flush makes every finished Update durable.
	Flush(ctx context.Context) error
}

// SideFiles is a store on disk that keeps notes beside its rows: what can be made anew from the rows, and is wanted soon
// after opening. A note is whole or absent, and may be gone at any time. Names are of letters, digits, - and _.
type SideFiles interface {
	// WriteSideFile makes what write writes the note of that name, durably, in place of one that was there. Where write or
	// the disk fails, that one stays.
	WriteSideFile(name string, write func(io.Writer) error) error

	// ReadSideFile lets read have a note; [ErrNotFound] where there is none. An error of read is returned as it is.
	ReadSideFile(name string, read func(io.Reader) error) error
}

// Compactor is a store that settles in the background.
type Compactor interface {
	// Compact brings every declared family into its final shape on disk.
	Compact(ctx context.Context) error
}
