package tikv

import (
	"strings"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/oracle"

	"birthmark/distributed/cluster"
	"birthmark/storage"
)

// later returns the timestamp after a duration, as a clock of the cluster would return it then.
func (s *Store) later(t *testing.T, d time.Duration) uint64 {
	t.Helper()
	now, err := s.now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return oracle.GoTimeToTS(oracle.GetTimeFromTS(now).Add(d))
}

// afterGCLife waits until GCLife has passed by the clock of the cluster, which advances in steps of up to 50 ms.
func (s *Store) afterGCLife(t *testing.T) {
	t.Helper()
	for began := s.later(t, 0); age(began, s.later(t, 0)) <= s.config.GCLife; {
		time.Sleep(5 * time.Millisecond)
	}
}

// showsGeneration fails unless all rows that a store shows are of generation n.
func showsGeneration(t *testing.T, s *Store, n int) {
	t.Helper()
	if got, err := viewGeneration(t.Context(), s); err != nil || got != n {
		t.Errorf("generation %d, %v, expected %d", got, err, n)
	}
}

// Garbage collection keeps the versions of every registered process until it has closed. A reader that registers too
// late fails instead of returning incomplete rows. The rows of a dropped family are deleted.
func TestGarbageCollection(t *testing.T) {
	c := cluster.Own(t, 1<<20)
	url := startGenerations(t, c)
	generations := func(o Options) *Store {
		t.Helper()
		o.Purpose = t.Name()
		s, err := openGenerations(t.Context(), url, o, func(c *Config) { c.GCLife = time.Millisecond })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	write := func(w *Store, n int) {
		t.Helper()
		if err := writeGeneration(t.Context(), w, n); err != nil {
			t.Fatal(err)
		}
	}
	advance := func(w *Store) uint64 {
		t.Helper()
		safe, err := w.advance(t.Context(), w.later(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		return safe
	}

	registered, late, w := generations(Options{ReadOnly: true}), generations(Options{ReadOnly: true}), generations(Options{})
	shown := registered.oldest()
	if err := registered.register(t.Context(), registered.later(t, 2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	write(w, 2)
	if safe := advance(w); safe > shown {
		t.Errorf("the safe point is %d, and a reader registered %d", safe, shown)
	}
	showsGeneration(t, registered, 1)

	if err := registered.Close(); err != nil {
		t.Fatal(err)
	}
	write(w, 3)
	w.afterGCLife(t)
	if safe := advance(w); safe <= shown {
		t.Errorf("after the reader was closed the safe point is %d, expected more than %d", safe, shown)
	}
	if err := late.register(t.Context(), late.later(t, 2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := viewGeneration(t.Context(), late); err == nil || !strings.Contains(err.Error(), "garbage") {
		t.Errorf("a reader below the safe point returns generation %d, %v, expected an error about garbage collection", n, err)
	}
	showsGeneration(t, w, 3)
	showsGeneration(t, generations(Options{ReadOnly: true}), 3)

	dropped := generationFamilies[1]
	number := w.catalogue.numbers()[dropped.Family]
	if err := w.Drop(t.Context(), dropped); err != nil {
		t.Fatal(err)
	}
	if n := w.storedRows(t, number); n != 2*generationRows {
		t.Errorf("%d rows of a dropped family before the safe point passes, expected %d", n, 2*generationRows)
	}
	if err := w.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
		b.Put(generationFamilies[0].Family, []byte("another"), []byte("3"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	w.afterGCLife(t)
	if err := w.destroy(t.Context(), advance(w)); err != nil {
		t.Fatal(err)
	}
	if n := w.storedRows(t, number); n != 0 || len(w.catalogue.stored.Dropped) != 0 {
		t.Errorf("%d rows of a dropped family remain, %d families are not deleted yet", n, len(w.catalogue.stored.Dropped))
	}
}

// storedRows returns the number of rows that the cluster has for the number of a family, whether it is declared or not.
func (s *Store) storedRows(t *testing.T, number uint32) (n int) {
	t.Helper()
	first, end := s.keys.bounds(number, nil, nil)
	it, err := s.client.GetSnapshot(s.later(t, 0)).Iter(first, end)
	for ; err == nil && it.Valid(); err = it.Next() {
		n++
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
