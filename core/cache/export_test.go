package cache

import (
	"fmt"

	"birthmark/model"
)

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

// tables returns all tables by name.
func (c *Caches) tables() map[string]*table {
	all := map[string]*table{}
	for i := range c.shards {
		all[fmt.Sprint("unspent ", i)], all[fmt.Sprint("births ", i)] = c.shards[i].unspent, c.shards[i].births
	}
	return all
}
