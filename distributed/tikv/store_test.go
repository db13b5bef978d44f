package tikv

import (
	"os"
	"testing"

	"birthmark/distributed/cluster"
	"birthmark/internal/testrun"
	"birthmark/storage"
	"birthmark/storage/storetest"
)

func TestMain(m *testing.M) {
	if os.Getenv("BIRTHMARK_TIKV_CHILD") != "" {
		child()
		return
	}
	testrun.Main(m, cluster.Stop)
}

// modes are the ways to write: the default, and with every update of more than three rows in parts.
var modes = map[string]func(*Config){
	"one transaction": func(*Config) {},
	"in parts":        inParts,
}

func inParts(c *Config) { c.smallKeys, c.partKeys, c.partBytes = 3, 500, 64<<10 }

// open opens a database for writing, and closes it at the end of the test.
func open(t *testing.T, url string, mode func(*Config)) *Store {
	t.Helper()
	return openAs(t, url, mode, Options{Purpose: t.Name()})
}

func openAs(t *testing.T, url string, mode func(*Config), o Options) *Store {
	t.Helper()
	c, err := ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	mode(&c)
	s, err := Open(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	c := cluster.Shared(t)
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storage.Store { return open(t, c.URL(), mode) })
		})
		t.Run(name+", opened again", func(t *testing.T) {
			urls := map[string]string{}
			storetest.RunPersistent(t, func(t *testing.T, dir string) storage.Store {
				if urls[dir] == "" {
					urls[dir] = c.URL()
				}
				return open(t, urls[dir], mode)
			})
		})
	}
}
