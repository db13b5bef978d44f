package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"birthmark/core"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/config"
	"birthmark/internal/snapshot"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// Database is an open database with its store.
type Database struct {
	*core.DB
	Dir   string
	Store storage.Store

	release func()          // lowers Go's memory limit again
	raws    model.RawReader // the node with the raw transactions; nil: none
}

// Close closes the store. After an error the last writes may not be durable.
func (d *Database) Close() error {
	defer d.release()
	err := d.Store.Close()
	if d.raws != nil {
		err = errors.Join(err, d.raws.Close())
	}
	return err
}

// heap is the memory of Go's runtime for all open databases.
var heap struct {
	mu           sync.Mutex
	taken, usual int64 // usual: the limit while no database is open
}

// RaiseMemory lets Go's heap have more memory until release is called, for work that [Host.OpenReading] does not count.
func RaiseMemory(bytes int64) (release func()) { return raiseLimit(bytes) }

// raiseLimit adds bytes to the memory limit of Go's runtime until release is called.
func raiseLimit(bytes int64) (release func()) {
	add := func(n int64) {
		heap.mu.Lock()
		defer heap.mu.Unlock()
		if heap.taken == 0 {
			heap.usual = debug.SetMemoryLimit(-1)
		}
		limit := heap.usual
		if heap.taken += n; heap.taken > 0 {
			limit = heap.taken
		}
		debug.SetMemoryLimit(limit)
	}
	add(bytes)
	return sync.OnceFunc(func() { add(-bytes) })
}

// OpenReading opens the database of set for reading.
func (h *Host) OpenReading(ctx context.Context, set *config.Chain, o core.Options) (*Database, error) {
	if _, err := ExistingFolder(set); err != nil {
		return nil, err
	}
	memory := config.DivideReading(set.Memory)
	o.IDBytes = memory.TxIDs
	return h.read(ctx, set, memory.Go(), rocks.Options{BlockCache: memory.BlockCache}, o)
}

func (h *Host) read(ctx context.Context, set *config.Chain, heap int64, of rocks.Options, o core.Options) (*Database, error) {
	of.ReadOnly, o.ReadOnly = true, true
	store, err := h.openStore(ctx, set.DB, of)
	if err != nil {
		return nil, cannotOpen(err)
	}
	return h.opened(ctx, set, store, heap, o)
}

// OpenWriting opens the database of set for writing. It must exist.
func (h *Host) OpenWriting(ctx context.Context, set *config.Chain) (*Database, error) {
	dir, err := ExistingFolder(set)
	if err != nil {
		return nil, err
	}
	return h.write(ctx, set, dir)
}

// write opens or creates the database in dir for writing.
func (h *Host) write(ctx context.Context, set *config.Chain, dir string) (*Database, error) {
	if err := set.CheckSegments(); err != nil {
		return nil, err
	}
	if set.Segments.To != "" {
		if _, err := segmentsTarget(set); err != nil {
			return nil, err
		}
	}
	memory := config.Divide(set.Memory)
	store, err := h.openUnlocked(ctx, dir, rocks.Options{
		WAL: set.WAL, BlockCache: memory.BlockCache, WriteBuffers: memory.WriteBuffers, Compression: set.Compression,
		Holder: h.holder(), Warn: func(message string) { h.Log.Warn(message, "db", dir) },
	})
	if err != nil {
		return nil, cannotOpen(err)
	}
	if err := snapshot.RemoveLeftover(dir); err != nil {
		h.Log.Warn("cannot remove what an interrupted birthmark snapshot create left", "db", dir, "error", err)
	}
	numbered, err := segment.Attach(ctx, store, h.segmentOptions(set, dir))
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return h.opened(ctx, set, numbered, memory.Go(), core.Options{CacheBytes: cmp.Or(h.Caches, memory.Caches), IDBytes: memory.TxIDs})
}

// A process that creates a checkpoint holds the lock of a database that no other process writes for a moment.
const (
	unlockTries = 50
	unlockPause = 200 * time.Millisecond
)

// openUnlocked opens a store. It waits up to 10 seconds if a process that creates a snapshot holds its lock.
func (h *Host) openUnlocked(ctx context.Context, dir string, o rocks.Options) (storage.Store, error) {
	for try := 1; ; try++ {
		store, err := h.openStore(ctx, dir, o)
		locked, is := errors.AsType[*storage.LockedError](err)
		if !is || !strings.Contains(locked.Holder, snapshotCommand) || try == unlockTries {
			return store, err
		}
		if try == 1 {
			h.Log.Info("waiting for a snapshot that is being created", "db", dir, "holder", locked.Holder)
		}
		select {
		case <-time.After(unlockPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// snapshotCommand is the command that holds the lock only while it creates a checkpoint.
const snapshotCommand = "snapshot create"

// openStore opens a folder or the database of a URL, which uses only some of the options.
func (h *Host) openStore(ctx context.Context, db string, o rocks.Options) (storage.Store, error) {
	open, err := remoteOpener(db)
	if err != nil {
		return nil, err
	}
	if open != nil {
		return open(ctx, db, o.ReadOnly, h.Command)
	}
	return rocks.Open(db, o)
}

// opened opens the core on a store. The store names its chain; the settings must agree with it.
func (h *Host) opened(ctx context.Context, set *config.Chain, store storage.Store, heap int64, o core.Options) (*Database, error) {
	d := &Database{Dir: localFolder(set), Store: store, release: raiseLimit(heap)}
	err := func() (err error) {
		id, known, err := core.Identify(ctx, store)
		if err != nil {
			return err
		}
		if !known && set.Chain == "" && o.ReadOnly {
			return noDatabase(set.DB)
		}
		if o.Chain, err = h.chainFor(set, id, known); err != nil {
			return err
		}
		if o.Chain.Traits().Pointers == model.WidePointers && !o.ReadOnly { // see config.Division.ForLargeBlocks
			moved, release := o.CacheBytes/2, d.release
			more := raiseLimit(moved)
			o.CacheBytes -= moved
			d.release = func() { more(); release() }
		}
		names, err := IndexesOf(set, o.Chain)
		if err != nil {
			return err
		}
		if !known {
			o.Indexes, o.Keep = names, set.IndexOptions()
			o.Raw, o.RawFiles = set.Raw == config.RawKeep, set.Raw == config.RawFiles
		}
		o.Room = set.Memory.Room(o.Chain.Traits().Pointers == model.WidePointers)
		d.DB, err = core.Open(ctx, store, o)
		if errors.Is(err, storage.ErrDamaged) {
			return cannotOpen(fmt.Errorf("%s: %w", set.DB, err))
		}
		if err != nil {
			return err
		}
		if d.raws, err = openRaw(set, d.DB); err != nil {
			return err
		}
		d.SetRawAccess(pointers.RawAccess{Folder: set.RawFolder, Node: d.raws, Ask: asksNode(set, d.DB)})
		return nil
	}()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// chainFor returns the chain of a database, from the settings or else from the database.
func (h *Host) chainFor(set *config.Chain, id schema.Identity, known bool) (model.Chain, error) {
	if !known {
		return h.Chain(set)
	}
	if set.Chain != "" && set.Chain != id.Chain {
		if _, err := h.NewChain(set.Chain, ""); err != nil { // misspelled
			return nil, err
		}
		return nil, wrongDatabase(set, id, set.Chain)
	}
	network := cmp.Or(set.Network, id.Network)
	set.Stored = append(set.Stored, id.Definitions...)
	set.StoredAssets = &id.Assets
	chain, err := h.MakeChain(set, id.Chain, network)
	if _, code := model.KindOf(err); (code == "unknown_chain" || code == "unknown_network") && network == id.Network {
		return nil, model.Errorf(model.Refused, "wrong_chain", "%s contains %s %s (format %d), which this program does not support: %w",
			set.DB, id.Chain, id.Network, id.Format, err)
	}
	if err == nil && chain.Network() != id.Network {
		return nil, wrongDatabase(set, id, id.Chain+" "+chain.Network())
	}
	return chain, err
}

// wrongDatabase returns the error of a database whose chain or network is not the selected one.
func wrongDatabase(set *config.Chain, id schema.Identity, selected string) error {
	code, contains, flags := "wrong_chain", id.Chain, "--chain and --network"
	if id.Chain == set.Chain || set.Chain == "" {
		code, contains, flags = "wrong_network", id.Chain+" "+id.Network, "--network"
	}
	return model.Errorf(model.Refused, code, "database %s contains %s, not %s: name another folder (--db), or leave out %s",
		set.DB, contains, selected, flags)
}

// ExistingFolder returns the folder of set, or an error if it holds no database.
func ExistingFolder(set *config.Chain) (dir string, err error) {
	if dir, err = Folder(set); err != nil {
		return "", err
	}
	found, err := HoldsDatabase(dir)
	if err == nil && !found {
		err = noDatabase(dir)
	}
	return dir, err
}

func noDatabase(dir string) error {
	return model.Errorf(model.Refused, "no_database", "no database in %s: create one with birthmark sync", dir)
}

// HoldsDatabase reports whether dir, a folder or a URL, holds a database: a folder has RocksDB's file CURRENT.
func HoldsDatabase(dir string) (bool, error) {
	if open, err := remoteOpener(dir); err != nil {
		return false, err
	} else if open != nil {
		version, err := remoteVersion(dir, open)
		return version > 0, err
	}
	_, err := os.Stat(filepath.Join(dir, "CURRENT"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// ReopenPart limits the time that polling readers spend on opening a database: 1/ReopenPart of their time.
const ReopenPart = 10

// Written returns a text that changes with every write to the database in dir: the names, sizes and times of its log and
// manifest files, or the version of the database of a URL.
func Written(dir string) (string, error) {
	if open, err := remoteOpener(dir); err != nil {
		return "", err
	} else if open != nil {
		version, err := remoteVersion(dir, open)
		return fmt.Sprint(version), err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		name := e.Name()
		if name != "CURRENT" && !strings.HasPrefix(name, "MANIFEST-") && filepath.Ext(name) != ".log" {
			continue
		}
		if info, err := e.Info(); err == nil { // else it was removed in the meantime
			fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String(), nil
}

// cannotOpen returns the error of an existing database that cannot be opened, of kind Refused.
func cannotOpen(err error) error {
	switch _, code := core.Classify(err); code {
	case "internal":
		return model.Errorf(model.Refused, "cannot_open", "%w", err)
	case "damaged":
		return model.Errorf(model.Refused, "damaged", "%w; restore a copy of the folder or sync into a new one (if birthmark check "+
			"can open it, it lists the problems)", err)
	}
	return err
}
