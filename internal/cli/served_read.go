package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/model"
	"birthmark/storage/rocks"

	"github.com/urfave/cli/v2"
)

const (
	lookEvery = time.Second // at the files of a database that is only read
	mostOld   = 3           // openings of it that may still be asked while the newest is shown
)

// watched is a chain that is served as it is. Where another process writes its database, it is opened anew for what was
// written; until it is open the old one answers.
type watched struct {
	*shown
	p     *program
	set   *config.Chain
	name  string // of chain and network
	heap  int64
	cache *rocks.Cache // of all openings
	db    *database    // the newest
	seen  string       // what was written when it was opened

	old  sync.WaitGroup // openings that are still asked
	room chan struct{}  // for so many of them
	told string         // why it could not be opened anew, as it was logged
}

// openWatched opens the database of a chain that is only to be served. It must be there.
func (p *program) openWatched(c *cli.Context, set *config.Chain) (*watched, error) {
	if err := mustHoldDatabase(set.DB); err != nil {
		return nil, err
	}
	memory := config.DivideReading(set.Memory)
	w := &watched{p: p, set: set, heap: memory.Go(), cache: rocks.NewCache(memory.BlockCache), room: make(chan struct{}, mostOld)}
	db, err := w.open(c.Context)
	if err != nil {
		w.cache.Close()
		return nil, err
	}
	w.db, w.name = db, db.chain.Name()+" "+db.chain.Network()
	w.shown = newShown(p, db.DB)
	return w, nil
}

// open opens the database as it is now.
func (w *watched) open(ctx context.Context) (*database, error) {
	var err error
	if w.seen, err = written(w.set.DB); err != nil {
		return nil, cannotOpen(err)
	}
	set := *w.set // what a database says of its chain is not kept for the next
	return w.p.read(ctx, &set, w.heap, rocks.Options{Cache: w.cache}, core.Options{})
}

func (w *watched) watch(bool) (stop func()) { return func() {} } // the process that syncs it does

// run looks for what another process has written, until ctx ends.
func (w *watched) run(ctx context.Context) {
	for pause := lookEvery; ; {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = lookEvery
		now, err := written(w.set.DB)
		if err == nil && now == w.seen {
			continue
		}
		if err == nil {
			began := w.p.now()
			err = w.renew(ctx)
			pause = max(pause, openPart*w.p.now().Sub(began))
		}
		if ctx.Err() != nil {
			return
		}
		if w.fails(err); err == nil {
			w.told = ""
		} else if text := err.Error(); text != w.told {
			w.told = text
			w.p.log.Error("the database cannot be opened anew for now; what it held is served", "db", w.set.DB, "error", err)
		}
	}
}

// renew shows the database as it is now.
func (w *watched) renew(ctx context.Context) error {
	select {
	case w.room <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	db, err := w.open(ctx)
	if err == nil {
		if name := db.chain.Name() + " " + db.chain.Network(); name != w.name {
			err = errors.Join(model.Errorf(model.Refused, "wrong_chain", "%s holds %s by now, it held %s when it was opened", w.set.DB, name, w.name), db.Close())
		}
	}
	if err != nil {
		<-w.room
		w.seen = "" // to be tried again
		return err
	}
	before := w.db
	w.db = db
	leave := w.show(db.DB)
	w.old.Go(func() {
		leave()
		if err := before.Close(); err != nil {
			w.p.log.Error("a database that was read does not close", "db", w.set.DB, "error", err)
		}
		<-w.room
	})
	return nil
}

// close closes the database, when nobody asks it any more. run has ended.
func (w *watched) close() error {
	w.show(nil)()
	w.old.Wait()
	err := w.db.Close()
	w.cache.Close()
	return err
}
