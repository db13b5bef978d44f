package cache

import (
	"fmt"
	"math/rand/v2"

	"birthmark/model"
)

// The functions here are for tests of packages that use the caches.

// Entries returns the entries of every table by name, each with its pointer.
func (c *Caches) Entries() map[string]map[any]model.UtxoPk {
	all := map[string]map[any]model.UtxoPk{}
	for name, t := range c.tables() {
		all[name] = map[any]model.UtxoPk{}
		for _, e := range t.entries {
			if e.tag != 0 {
				all[name][e] = model.UtxoPk(e.pk)
			}
		}
	}
	return all
}

// Fill fills every table to its bound with entries of the first block, and returns the size of the tables in bytes.
func (c *Caches) Fill() (bytes int64) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, t := range c.tables() {
		for t.used < t.capacity*maxLoad/16-1 {
			t.insert(rng.Uint64()|1, rng.Uint64()&t.mask(), uint64(model.HeightPk(1).First()), 0)
		}
		bytes += int64(len(t.entries)) * entrySize
	}
	return bytes
}

// tables returns all tables by name.
func (c *Caches) tables() map[string]*Table {
	all := map[string]*Table{"unspent": c.Unspent, "births": c.Births}
	for number, t := range c.owners {
		all[fmt.Sprintf("owners of index %d", number)] = t
	}
	return all
}
