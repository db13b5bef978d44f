package daemon

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"birthmark/api/served"
	"birthmark/internal/config"
	"birthmark/internal/guard"
	"birthmark/model"
)

// servedChain is a [syncedChain] or a [readOnlyChain].
type servedChain interface {
	watch(only bool) (stop func()) // reports the progress; only: of the only chain of the process
	run(ctx context.Context)       // until ctx ends
	close() error                  // after run returned; waits for users
	chain(chain model.Chain) *served.Chain
}

// Chains are the chains that a process serves.
type Chains struct {
	all    []servedChain
	served []*served.Chain          // in the order of the settings
	sets   map[string]*config.Chain // by name of the served chain
	cancel context.CancelFunc
	ran    sync.WaitGroup
}

// OpenChains opens the databases of all chains or none: those with a source are synced. memory is divided between them.
func (h *Host) OpenChains(ctx context.Context, memory config.Size, sets []*config.Chain) (all *Chains, err error) {
	all = &Chains{cancel: func() {}, sets: map[string]*config.Chain{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.Close())
		}
	}()
	if err := apportion(memory, sets); err != nil {
		return all, err
	}
	if err := checkFolders(sets); err != nil {
		return all, err
	}
	for _, set := range sets {
		if err := h.bootstrap(ctx, set, nil); err != nil {
			return all, err
		}
	}
	opened, models := make([]servedChain, len(sets)), make([]model.Chain, len(sets))
	open := func(i int) (err error) {
		if opened[i], models[i], err = h.openServed(ctx, sets[i]); err == nil {
			all.all = append(all.all, opened[i])
		}
		return err
	}
	// Databases that do not exist yet are created after everything else was checked.
	lacks := make([]*Lacks, len(sets))
	for i, set := range sets {
		found, err := HoldsDatabase(set.DB)
		if err != nil {
			return all, err
		}
		if found || set.Source == "" {
			if err = open(i); err == nil {
				lacks[i], err = h.lacksOf(ctx, opened[i].chain(models[i]), set)
			}
		} else if models[i], err = h.Chain(set); err == nil {
			lacks[i], err = h.lacks(ctx, set, models[i], nil, true)
		}
		if err != nil {
			return all, err
		}
	}
	if _, err := namesOf(models); err != nil {
		return all, err
	}
	if err := h.checkLacks(lacks); err != nil {
		return all, err
	}
	for i := range sets {
		if opened[i] == nil {
			if err := open(i); err != nil {
				return all, err
			}
		}
		chain := opened[i].chain(models[i])
		all.served = append(all.served, chain)
		all.sets[chain.Name] = sets[i]
	}
	return all, nil
}

// openServed opens the database of a chain: for syncing if it has a source, else read-only.
func (h *Host) openServed(ctx context.Context, set *config.Chain) (servedChain, model.Chain, error) {
	if set.Source == "" {
		w, err := h.openReadOnly(ctx, set)
		if err != nil {
			return nil, nil, err
		}
		return w, w.db.Chain(), nil
	}
	s, err := h.openSynced(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	return s, s.db.Chain(), nil
}

// checkFolders returns an error if two chains share a folder.
func checkFolders(sets []*config.Chain) error {
	folders := map[string]bool{}
	for _, set := range sets {
		dir, err := Folder(set)
		if err != nil {
			return err
		}
		if dir = filepath.Clean(dir); folders[dir] {
			return usageError("bad_setting", "two chains use the database folder %s: each chain needs its own", dir)
		}
		folders[dir] = true
	}
	return nil
}

// Run syncs all chains in the background until ctx ends or Close is called.
func (l *Chains) Run(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	for _, one := range l.all {
		l.ran.Go(func() {
			defer one.watch(len(l.all) == 1)()
			for guard.Do(slog.Default(), "a chain", func() { one.run(ctx) }) != nil {
				select {
				case <-time.After(retryMost):
				case <-ctx.Done():
					return
				}
			}
		})
	}
}

// Close ends Run and closes all databases.
func (l *Chains) Close() (err error) {
	l.cancel()
	l.ran.Wait()
	for _, one := range l.all {
		err = errors.Join(err, one.close())
	}
	return err
}

// apportion divides the memory between chains. A synced chain gets twice as much as a read-only one.
func apportion(memory config.Size, sets []*config.Chain) error {
	weights := make([]int, len(sets))
	for i, set := range sets {
		if weights[i] = 1; set.Source != "" {
			weights[i] = 2
		}
	}
	parts, err := config.Apportion(memory, weights)
	if err != nil {
		return usageError("bad_setting", "memory: %w", err)
	}
	for i, set := range sets {
		set.Memory = parts[i]
		if err := ReserveMempool(set); err != nil {
			return err
		}
		if err := set.ReserveWatch(); err != nil {
			return err
		}
	}
	return nil
}

// mainnet is the default network of every chain.
const mainnet = "mainnet"

// ServedName returns the name of a chain in paths: the chain's name for mainnet, CHAIN-NETWORK for other networks. It does
// not depend on what else is served, so a path never changes its meaning.
func ServedName(c model.Chain) string {
	if c.Network() == mainnet {
		return c.Name()
	}
	return c.Name() + "-" + c.Network()
}

// namesOf returns the names of the chains that one process serves, or an error if two are equal.
func namesOf(chains []model.Chain) ([]string, error) {
	names := make([]string, len(chains))
	for i, c := range chains {
		name := ServedName(c)
		if slices.Contains(names, name) {
			return nil, usageError("bad_setting", "two databases of %s %s: a server can serve only one per network", c.Name(), c.Network())
		}
		names[i] = name
	}
	return names, nil
}
