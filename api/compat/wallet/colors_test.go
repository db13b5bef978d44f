package wallet_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/tapyrus"
	"birthmark/core"
	"birthmark/core/meter"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// coloredChain serves a generated chain with colored coins.
func coloredChain(t *testing.T) (w *wallet.Chain, sync func(*coingen.Chain)) {
	t.Helper()
	chain, err := bitcoin.Open(tapyrus.Spec, "dev")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Chain = chain
	db := open(t, memory.New(), o)
	w = wallet.New(&served.Chain{
		Name: "tapyrus-dev", Model: chain, View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
	})
	return w, func(c *coingen.Chain) {
		file := filepath.Join(t.TempDir(), "blk00000.dat")
		if err := os.WriteFile(file, c.File(), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + file, Indexes: db.Indexes(), Raw: true})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// The newest blocks and the list of all colors lead to the same pages, also after a reorganization.
func TestColorsByUseDoNotDependOnLimits(t *testing.T) {
	coin, _ := coingen.Find("tapyrus")
	o := coingen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 4}
	w, sync := coloredChain(t)
	chain, fork := coingen.New(coin, o), coingen.Replay(coin, o, 90)
	for range 100 {
		chain.Next()
	}
	for range 15 {
		fork.Next()
	}
	pages := func() (all []string) {
		var after []byte
		for {
			var uses []wallet.ColorUse
			view(t, w, func(v *wallet.View) {
				var err error
				if uses, err = v.ColorsByUse(after, 3); err != nil {
					t.Fatal(err)
				}
			})
			if len(uses) == 0 {
				return all
			}
			for _, u := range uses {
				all = append(all, fmt.Sprintf("%x %d", u.Color, u.Height))
			}
			after = uses[len(uses)-1].Color
		}
	}
	for i, c := range []*coingen.Chain{chain, fork} {
		sync(c)
		var want []string
		for _, limits := range [][2]int{{1 << 20, 1 << 20}, {0, 1 << 20}, {1 << 20, 0}, {3, 30}} {
			wallet.SetRecent(t, limits[0], limits[1])
			got := pages()
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || len(got) != len(c.Assets()) {
				t.Fatalf("chain %d, limits %v: %d colors of %d\n got %v\nwant %v", i, limits, len(got), len(c.Assets()), got, want)
			}
		}
	}
}

// poorPayer pays a number of points.
type poorPayer struct{ left int64 }

var errPoor = errors.New("the client has no points")

func (p *poorPayer) Pay(points int64) error {
	if p.left -= points; p.left < 0 {
		return errPoor
	}
	return nil
}

func (p *poorPayer) Release() {}

// A count that ends early is continued by the next request, and has the same result.
func TestCountsOfColorsContinue(t *testing.T) {
	coin, _ := coingen.Find("tapyrus")
	o := coingen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 10}
	chain, fork := coingen.New(coin, o), coingen.Replay(coin, o, 75)
	for range 80 {
		chain.Next()
	}
	for range 10 {
		fork.Next()
	}
	whole, syncWhole := coloredChain(t)
	parts, syncParts := coloredChain(t)
	failed, continued := 0, 0
	for _, c := range []*coingen.Chain{chain, fork} {
		syncWhole(c)
		syncParts(c)
		key := wallet.KeyOf(scriptOf(t, c))
		count := func(w *wallet.Chain, ctx context.Context, id string) (text string, err error) {
			err = w.View(ctx, func(v *wallet.View) error {
				if id != "" {
					confirmed, _, err := v.ColorStats([]byte(id))
					text = fmt.Sprint(confirmed)
					return err
				}
				s, err := v.Script(key)
				if err != nil {
					return err
				}
				confirmed, _, err := s.ColoredStats()
				text = fmt.Sprint(confirmed)
				return err
			})
			return text, err
		}
		for _, id := range append(slices.Collect(maps.Keys(c.Assets())), "") {
			wallet.SetKeepAfter(t, 1<<20)
			want, err := count(whole, t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			wallet.SetKeepAfter(t, 2)
			budget, tries := int64(20), 0
			for ; ; tries++ {
				ctx := meter.With(t.Context(), meter.New(&poorPayer{budget}, 0, 1, nil))
				got, err := count(parts, ctx, id)
				if errors.Is(err, errPoor) {
					if budget += budget / 8; budget > 1<<20 {
						t.Fatalf("%x: not counted with %d points", id, budget)
					}
					failed++
					continue
				}
				if err != nil || got != want {
					t.Fatalf("%x after %d tries: %s, %v, expected %s", id, tries, got, err, want)
				}
				break
			}
			if tries > 1 {
				continued++
			}
		}
	}
	if failed == 0 || continued == 0 {
		t.Errorf("%d counts ended early, %d of them twice", failed, continued)
	}
}

// scriptOf returns the script that the most outputs of a chain pay to.
func scriptOf(t *testing.T, c *coingen.Chain) []byte {
	t.Helper()
	chain, err := bitcoin.Open(tapyrus.Spec, "dev")
	if err != nil {
		t.Fatal(err)
	}
	script, err := chain.(model.Scripter).AddressScript(c.HotAddress())
	if err != nil {
		t.Fatal(err)
	}
	return script
}
