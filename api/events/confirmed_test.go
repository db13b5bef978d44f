package events_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/api/events"
	"birthmark/core/query/changes"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// A client that requests N confirmations receives events of blocks with N confirmations only. A reorganization of fewer
// than N blocks rolls none of them back, even if the client reconnects.
// reorganizations of fewer blocks, also if it reconnects.
func TestConfirmedEventsAreNotRolledBack(t *testing.T) {
	n := testseed.Of(t, 772)
	rng := rand.New(rand.NewPCG(n, 0))
	v := modeltest.Variants()[3]
	for round := range uint64(4) {
		depth := 2 + rng.IntN(4)
		w := worldOf(t, v)
		s := w.serve(events.Options{})
		generators := []*modeltest.Generator{v.NewGenerator(n + round)}
		var chain []*model.Block
		made := uint64(0)
		grow := func(count int) {
			for range count {
				made++
				g := generators[len(chain)].Fork(made)
				chain, generators = append(chain, g.Next()), append(generators, g)
			}
			w.grow(chain[len(chain)-count:]...)
		}
		grow(10)
		q, what := anyQuery(rng, w.model, chain)
		q += fmt.Sprintf("&from=origin&confirmations=%d", depth)
		client, read, begins := newWallet(), make(chan struct{}), 0
		var c *stream
		start := func() {
			c = connect(t, s.URL, q, client.lastID())
			c, done := c, make(chan struct{})
			read = done
			go func() {
				defer close(done)
				for {
					e, err := c.next()
					if err != nil {
						return
					}
					client.take(e)
				}
			}()
			begins++
			until(t, "the first event of a connection", func() bool { return client.rollbacks() >= begins })
		}
		stop := func() {
			c.close()
			<-read
			client.stop()
		}
		start()
		for range 15 {
			if back := rng.IntN(depth); back > 0 && rng.IntN(2) == 0 {
				keep := len(chain) - back
				w.rollback(chain[keep-1].Point())
				chain, generators = chain[:keep:keep], generators[:keep+1:keep+1]
				grow(back + 1)
			} else {
				grow(1 + rng.IntN(3))
			}
			if rng.IntN(4) == 0 {
				stop()
				start()
			}
			want := w.model.FormatHash(chain[len(chain)-depth].Hash)
			until(t, "a client to be at the confirmed block", func() bool {
				there, wrong := client.isAt(want)
				if wrong != nil {
					t.Fatal(wrong)
				}
				return there
			})
		}
		stop()
		if n := client.rollbacks(); n != begins {
			t.Errorf("%d rollbacks for %d connections with reorganizations of fewer than %d blocks", n, begins, depth)
		}
		fresh := newWorld(t, w.model, w.keep)
		fresh.grow(chain[:len(chain)-depth+1]...)
		got, want := client.texts(), []string{}
		for e, err := range changes.Follow(t.Context(), fresh.now().Queries, nil, what) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Output != nil:
				want = append(want, text(t, e.Output))
			case e.Spend != nil:
				want = append(want, text(t, e.Spend))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d confirmations: %d events, expected %d", depth, len(got), len(want))
		}
	}
}
