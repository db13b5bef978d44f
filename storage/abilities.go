package storage

import "context"

// Versioned is a [Reader] that identifies its snapshot.
type Versioned interface {
	// Version returns the version of the snapshot. Readers of one store with equal versions show the same rows. ok is
	// false if the version is unknown, such as for a snapshot that was taken during a write.
	Version() (version uint64, ok bool)
}

// Limits are the largest sizes of a row that a store accepts, in bytes; 0: no limit.
type Limits struct{ Key, Value int }

// Limited is a store that rejects larger rows: an update with one fails and writes nothing.
type Limited interface{ Limits() Limits }

// LimitsOf returns the limits of a store.
func LimitsOf(s Store) Limits {
	if l, ok := s.(Limited); ok {
		return l.Limits()
	}
	return Limits{}
}

// FamilyLister is a store that reports which families exist, whether they are declared or not.
type FamilyLister interface {
	// Has reports whether a family with that name exists.
	Has(name string) bool
}

// Watched is a read-only store of a database that another process may write. It shows the state at the time it was
// opened.
type Watched interface {
	// Newest returns the version of the newest state, which grows with every update; 0 if nothing was ever written.
	Newest(ctx context.Context) (version uint64, err error)
}
