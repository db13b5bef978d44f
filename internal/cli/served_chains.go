package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"birthmark/api/served"
	"birthmark/internal/config"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// live is a chain that is served: [syncing] or [watched].
type live interface {
	watch(alone bool) (stop func()) // tells how far it is; alone: nothing else does
	run(ctx context.Context)        // until ctx ends
	close() error                   // when nobody asks any more and run has ended
	chain(chain model.Chain) *served.Chain
}

// lives are all chains that a process serves.
type lives struct {
	all    []live
	chains []*served.Chain // in the order of the settings
	ending context.CancelFunc
	ran    sync.WaitGroup
}

// openAll opens the databases of all chains, or none: those with a source to be synced, others to be read.
func (p *program) openAll(c *cli.Context, sets []*config.Chain) (all *lives, err error) {
	all = &lives{ending: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, all.close())
		}
	}()
	if err := apportion(p.settings.Memory, sets); err != nil {
		return all, err
	}
	if err := apart(sets); err != nil {
		return all, err
	}
	lives, models := make([]live, len(sets)), make([]model.Chain, len(sets))
	open := func(i int) (err error) {
		if lives[i], models[i], err = p.openLive(c, sets[i]); err == nil {
			all.all = append(all.all, lives[i])
		}
		return err
	}
	// What is still to be made is made when it is known that all of them can be served.
	for i, set := range sets {
		found, err := holdsDatabase(set.DB)
		if err == nil && (found || set.Source == "") {
			err = open(i)
		} else if err == nil {
			models[i], err = p.chainOf(set)
		}
		if err != nil {
			return all, err
		}
	}
	if _, err := namesOf(models); err != nil {
		return all, err
	}
	for i := range sets {
		if lives[i] == nil {
			if err := open(i); err != nil {
				return all, err
			}
		}
		all.chains = append(all.chains, lives[i].chain(models[i]))
	}
	return all, nil
}

// openLive opens the database of a chain: to be synced where it has a source, else to be read.
func (p *program) openLive(c *cli.Context, set *config.Chain) (live, model.Chain, error) {
	if set.Source == "" {
		w, err := p.openWatched(c, set)
		if err != nil {
			return nil, nil, err
		}
		return w, w.db.chain, nil
	}
	s, err := p.openSyncing(c, set)
	if err != nil {
		return nil, nil, err
	}
	return s, s.db.chain, nil
}

// apart is an error where two chains share a folder.
func apart(sets []*config.Chain) error {
	folders := map[string]bool{}
	for _, set := range sets {
		dir, err := folder(set)
		if err != nil {
			return err
		}
		if dir = filepath.Clean(dir); folders[dir] {
			return usageError("bad_setting", "two chains have the database %s: each has one of its own", dir)
		}
		folders[dir] = true
	}
	return nil
}

// run has all chains come forward until ctx ends.
func (l *lives) run(ctx context.Context) {
	ctx, l.ending = context.WithCancel(ctx)
	for _, one := range l.all {
		l.ran.Go(func() {
			defer one.watch(len(l.all) == 1)()
			one.run(ctx)
		})
	}
}

// close ends what run began and closes all databases.
func (l *lives) close() (err error) {
	l.ending()
	l.ran.Wait()
	for _, one := range l.all {
		err = errors.Join(err, one.close())
	}
	return err
}

// apportion gives each chain its part of the memory: one that is synced twice what one gets that is read.
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
	}
	return nil
}

// servedName is the name of a chain in paths: the chain's own for mainnet, CHAIN-NETWORK for every other network. It
// does not depend on what else is served, so a path never changes its meaning.
func servedName(c model.Chain) string {
	if c.Network() == mainnet {
		return c.Name()
	}
	return c.Name() + "-" + c.Network()
}

// namesOf are the names of chains that one process serves. It is an error if two have the same.
func namesOf(chains []model.Chain) ([]string, error) {
	names := make([]string, len(chains))
	for i, c := range chains {
		name := servedName(c)
		if slices.Contains(names, name) {
			return nil, usageError("bad_setting", "two databases of %s %s: a server has one of each network", c.Name(), c.Network())
		}
		names[i] = name
	}
	return names, nil
}

// mainnet is the network that every chain has, the one people mean where they name none.
const mainnet = "mainnet"
