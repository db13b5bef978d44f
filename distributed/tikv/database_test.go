package tikv_test

import (
	"testing"

	"birthmark/core/coretest"
	"birthmark/distributed/cluster"
	"birthmark/distributed/tikv"
	"birthmark/internal/testrun"
	"birthmark/storage"
)

// Databases in TiKV equal those in memory, with families that span many regions, also if every batch of blocks is
// written in parts.
func TestDatabases(t *testing.T) {
	testrun.Slow(t)
	for name, mode := range map[string]func(*tikv.Config){
		"one transaction": func(*tikv.Config) {},
		"in parts":        (*tikv.Config).InParts,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.Own(t, 1<<20)
			coretest.Run(t, func(t *testing.T) storage.Store { return open(t, c.URL(), mode) })
			urls := map[string]string{}
			coretest.RunPersistent(t, func(t *testing.T, dir string) storage.Store {
				if urls[dir] == "" {
					urls[dir] = c.URL()
				}
				return open(t, urls[dir], mode)
			})
		})
	}
}

func open(t *testing.T, url string, mode func(*tikv.Config)) storage.Store {
	t.Helper()
	c, err := tikv.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	mode(&c)
	s, err := tikv.Open(t.Context(), c, tikv.Options{Purpose: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
