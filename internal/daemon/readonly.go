package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/guard"
	"birthmark/model"
	"birthmark/storage/rocks"
)

const (
	pollEvery   = time.Second // how often the files of a database that another process writes are checked
	maxOldViews = 3           // earlier openings that still have users while the newest is served
)

// readOnlyChain is a served chain that this process does not sync. If another process writes the database, it is opened
// again after each change; the old opening serves until the new one is ready.
type readOnlyChain struct {
	*handle
	set   *config.Chain
	name  string // chain and network
	heap  int64
	cache *rocks.Cache // shared by all openings: tables keep their names, so that a new opening does not begin empty
	db    *Database    // the newest opening
	seen  string       // the state of the files when it was opened

	old    sync.WaitGroup // earlier openings that still have users
	slots  chan struct{}  // limits them
	logged string         // the error of the last failed opening
}

// openReadOnly opens the database of a chain that is served but not synced. It must exist.
func (h *Host) openReadOnly(ctx context.Context, set *config.Chain) (*readOnlyChain, error) {
	if _, err := ExistingFolder(set); err != nil {
		return nil, err
	}
	memory := config.DivideReading(set.Memory)
	w := &readOnlyChain{
		handle: &handle{h: h}, set: set, heap: memory.Go(), cache: rocks.NewCache(memory.BlockCache), slots: make(chan struct{}, maxOldViews),
	}
	db, err := w.open(ctx)
	if err != nil {
		w.cache.Close()
		return nil, err
	}
	w.db, w.name, w.at = db, nameOf(db), hold(db.DB)
	if err := w.openNode(ctx, set, db); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func nameOf(db *Database) string { return db.Chain().Name() + " " + db.Chain().Network() }

// open opens the database in its current state.
func (w *readOnlyChain) open(ctx context.Context) (*Database, error) {
	var err error
	if w.seen, err = Written(w.set.DB); err != nil {
		return nil, cannotOpen(err)
	}
	set := *w.set // opening adds the definitions stored in the database
	return w.h.read(ctx, &set, w.heap, rocks.Options{Cache: w.cache}, core.Options{IDBytes: config.DivideReading(set.Memory).TxIDs})
}

func (w *readOnlyChain) watch(bool) (stop func()) { return func() {} } // the syncing process reports

// run polls for changes by another process until ctx ends.
func (w *readOnlyChain) run(ctx context.Context) {
	defer w.followMempool(ctx)()
	defer w.h.createSnapshots(ctx, w.set, w.handle)()
	defer w.h.exportTables(ctx, w.set, w.handle)()
	for pause := pollEvery; ; {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = pollEvery
		now, err := Written(w.set.DB)
		if err == nil && now == w.seen {
			continue
		}
		if err == nil {
			began := w.h.Now()
			err = w.reopen(ctx)
			pause = max(pause, ReopenPart*w.h.Now().Sub(began))
		}
		if ctx.Err() != nil {
			return
		}
		if w.fail(err); err == nil {
			w.logged = ""
		} else if text := err.Error(); text != w.logged {
			w.logged = text
			w.h.Log.Error("cannot reopen the database; serving its previous state", "db", w.set.DB, "error", err)
		}
	}
}

// reopen opens the database in its current state and serves it.
func (w *readOnlyChain) reopen(ctx context.Context) error {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	db, err := w.open(ctx)
	if err == nil {
		if name := nameOf(db); name != w.name {
			err = errors.Join(model.Errorf(model.Refused, "wrong_chain", "%s now holds %s instead of %s", w.set.DB, name, w.name), db.Close())
		}
	}
	if err != nil {
		<-w.slots
		w.seen = "" // retry at the next poll
		return err
	}
	before := w.db
	w.db = db
	wait := w.replace(db.DB)
	w.old.Go(func() {
		err := guard.Call(func() error { wait(); return before.Close() })
		if err != nil {
			w.h.Log.Error("cannot close a database", "db", w.set.DB, "error", err)
		}
		<-w.slots
	})
	return nil
}

// close closes the database after its last user left. run has returned.
func (w *readOnlyChain) close() error {
	w.replace(nil)()
	w.old.Wait()
	err := errors.Join(w.closeNode(), w.db.Close())
	w.cache.Close()
	return err
}
