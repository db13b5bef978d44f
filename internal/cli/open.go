package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"

	"github.com/urfave/cli/v2"
)

// database is an open database and what must be closed with it.
type database struct {
	*core.DB
	dir   string
	chain model.Chain
	store storage.Store
	room  func() // gives back what Go's runtime may take for it
}

// Close closes the store. What fails here was not made durable, so the error counts.
func (d *database) Close() error {
	defer d.room()
	return d.store.Close()
}

// heap is what Go's runtime may take for all databases that are open.
var heap struct {
	mu           sync.Mutex
	taken, usual int64 // usual: Go's limit while none is open
}

// makeRoom lets Go's runtime take bytes more, until they are given back.
func makeRoom(bytes int64) (giveBack func()) {
	take := func(n int64) {
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
	take(bytes)
	return sync.OnceFunc(func() { take(-bytes) })
}

// openReading opens the database that c names, to be read.
func (p *program) openReading(c *cli.Context) (*database, error) {
	set, err := p.one(c)
	if err != nil {
		return nil, err
	}
	return p.openReadingOf(c, set)
}

// openDamaged opens the database that c names, to be read, also if it lost rows.
func (p *program) openDamaged(c *cli.Context) (*database, error) {
	set, err := p.one(c)
	if err != nil {
		return nil, err
	}
	return p.openReadingWith(c, set, core.Options{Damaged: true})
}

// openReadingOf opens the database that set names, to be read.
func (p *program) openReadingOf(c *cli.Context, set *config.Chain) (*database, error) {
	return p.openReadingWith(c, set, core.Options{})
}

func (p *program) openReadingWith(c *cli.Context, set *config.Chain, o core.Options) (*database, error) {
	dir, err := folder(set)
	if err != nil {
		return nil, err
	}
	if err := mustHoldDatabase(dir); err != nil {
		return nil, err
	}
	memory := config.DivideReading(set.Memory)
	return p.read(c.Context, set, memory.Go(), rocks.Options{BlockCache: memory.BlockCache}, o)
}

// read opens the database that set names, to be read.
func (p *program) read(ctx context.Context, set *config.Chain, heap int64, of rocks.Options, o core.Options) (*database, error) {
	of.ReadOnly, o.ReadOnly = true, true
	store, err := rocks.Open(set.DB, of)
	if err != nil {
		return nil, cannotOpen(err)
	}
	return p.opened(ctx, set, store, heap, o)
}

// openWriting opens the database that set names, to be written. It must be there.
func (p *program) openWriting(c *cli.Context, set *config.Chain) (*database, error) {
	dir, err := folder(set)
	if err != nil {
		return nil, err
	}
	if err := mustHoldDatabase(dir); err != nil {
		return nil, err
	}
	return p.write(c, set, dir)
}

// write opens the database in dir to be written, or makes it.
func (p *program) write(c *cli.Context, set *config.Chain, dir string) (*database, error) {
	memory := config.Divide(set.Memory)
	store, err := rocks.Open(dir, rocks.Options{
		WAL: set.WAL, BlockCache: memory.BlockCache, WriteBuffers: memory.WriteBuffers, Compression: set.Compression,
		Holder: fmt.Sprintf("pid %d, %s, since %s", os.Getpid(), commandName(c), p.now().UTC().Format(time.RFC3339)),
	})
	if err != nil {
		return nil, cannotOpen(err)
	}
	return p.opened(c.Context, set, store, memory.Go(), core.Options{CacheBytes: memory.Caches, Indexes: set.IndexNames(), Keep: set.IndexOptions(), Raw: set.Raw})
}

// opened opens the core on a store. Which chain it holds the store knows itself; what is set must agree.
func (p *program) opened(ctx context.Context, set *config.Chain, store storage.Store, heap int64, o core.Options) (*database, error) {
	d := &database{dir: set.DB, store: store, room: makeRoom(heap)}
	err := func() (err error) {
		id, known, err := core.Identify(ctx, store)
		if err != nil {
			return err
		}
		if !known && set.Chain == "" && o.ReadOnly {
			return noDatabase(set.DB)
		}
		if d.chain, err = p.chainFor(set, id, known); err != nil {
			return err
		}
		if _, err = indexesOf(set, d.chain); err != nil {
			return err
		}
		o.Chain = d.chain
		if d.DB, err = core.Open(ctx, store, o); errors.Is(err, storage.ErrDamaged) {
			return cannotOpen(fmt.Errorf("%s: %w", set.DB, err))
		}
		return err
	}()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// chainFor is the chain of a database: as set, else as the database says.
func (p *program) chainFor(set *config.Chain, id core.Identity, known bool) (model.Chain, error) {
	if !known {
		return p.chainOf(set)
	}
	name, network := set.Chain, set.Network
	if name == "" {
		name = id.Chain
	}
	if network == "" && name == id.Chain {
		network = id.Network
	}
	if name == id.Chain {
		set.Stored = append(set.Stored, id.Definitions...)
	}
	chain, err := p.make(set, name, network)
	if _, code := model.KindOf(err); (code == "unknown_chain" || code == "unknown_network") && name == id.Chain && network == id.Network {
		return nil, model.Errorf(model.Refused, "wrong_chain", "%s holds %s %s (format %d), which this program does not know: %w",
			set.DB, id.Chain, id.Network, id.Format, err)
	}
	return chain, err
}

func mustHoldDatabase(dir string) error {
	found, err := holdsDatabase(dir)
	if err == nil && !found {
		err = noDatabase(dir)
	}
	return err
}

func noDatabase(dir string) error {
	return model.Errorf(model.Refused, "no_database", "%s holds no database: birthmark sync makes one", dir)
}

// holdsDatabase reports whether dir holds a database: RocksDB's own entry point says so.
func holdsDatabase(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, "CURRENT"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// cannotOpen is the error of a database that is there and cannot be opened: it refuses, whatever its reason.
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
