package answers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core/pending"
	"birthmark/core/pending/answers"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// follow runs a follower of the transactions of a node until the test ends.
func follow(t *testing.T, n *pendingtest.Node) *pending.Follower {
	t.Helper()
	db := n.DB
	f := pending.NewFollower(pending.Options{
		View: db.View, Moved: db.Moved, Traits: db.Chain().Traits(), Memory: 1 << 30, Log: slog.New(slog.DiscardHandler),
		Interval: 2 * time.Millisecond, Patience: testrun.Patience, Open: func(context.Context, []string) (model.Source, error) { return n, nil },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); f.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return f
}

// live waits until a follower has the tip of the database and all transactions of its node.
func live(t *testing.T, f *pending.Follower, n *pendingtest.Node) *pending.Standing {
	t.Helper()
	for u := range f.Changes(t.Context()) {
		n.Lock()
		complete := u.State() == pending.Live && u.Count() == len(n.Pool) && u.Tip == n.DB.Tip()
		n.Unlock()
		if complete {
			return u.Standing
		}
	}
	t.Fatal("the mempool did not reach the transactions of the node")
	return nil
}

// A watch sends changes only, the whole set after a reset, and at most a given number of events at once.
func TestAWatchSendsChangesAndAfterAResetEverything(t *testing.T) {
	n := &pendingtest.Node{World: pendingtest.New(t, pendingtest.Variants()[0], testseed.New(t))}
	db := n.DB
	for range 9 {
		n.Arrive(n.Pay(n.Coins(n.Pool)))
	}
	f := follow(t, n)
	watch := &answers.Watch{Follower: f, View: db.View, Terms: []query.Term{{Index: "address"}, {Index: "tag"}}, Spends: true}
	next := func(room int) (lines []string, more bool) {
		t.Helper()
		more, err := watch.Next(t.Context(), db.Tip(), func(e answers.Event) (bool, error) {
			b, err := json.Marshal(e)
			lines = append(lines, string(b))
			return len(lines) == room, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines, more
	}
	live(t, f, n)
	all, more := next(1000)
	first, last := all[0], all[len(all)-1]
	if count := len(all) - 2; more || count < 2 || !strings.HasPrefix(first, `{"type":"mempool","state":"live"`) ||
		!strings.HasSuffix(first, `"count":0,"reset":true}`) || !strings.HasSuffix(last, fmt.Sprintf(`"count":%d}`, count)) ||
		!strings.HasPrefix(all[1], `{"type":"pending","tx":"`) {
		t.Fatalf("%t, %d events:\n%s", more, len(all), strings.Join(all, "\n"))
	}
	if lines, more := next(1000); len(lines) > 0 || more {
		t.Errorf("without a change: %q, %t", lines, more)
	}
	watch.Reset()
	var parts []string
	for more := true; more; {
		var part []string
		if part, more = next(1); len(part) != 1 {
			t.Fatalf("%d events at once", len(part))
		}
		parts = append(parts, part...)
	}
	if !slices.Equal(parts, all) {
		t.Errorf("after a reset\n%s\nexpected\n%s", strings.Join(parts, "\n"), strings.Join(all, "\n"))
	}
	n.Lock()
	n.Pool = nil
	n.Unlock()
	live(t, f, n)
	gone, _ := next(1000)
	for _, line := range gone[:len(gone)-1] {
		if !strings.HasPrefix(line, `{"type":"gone","tx":"`) || !strings.HasSuffix(line, `"reason":"dropped"}`) {
			t.Errorf("got %s", line)
		}
	}
	if len(gone) != len(all)-1 || !strings.HasSuffix(gone[len(gone)-1], `"count":0}`) {
		t.Errorf("%d events, expected %d:\n%s", len(gone), len(all)-1, strings.Join(gone, "\n"))
	}
}

// If a block changes the assets of an unconfirmed transaction, it leaves with the reason changed, and arrives again with
// the new ones.
func TestAWatchReportsChangedAssets(t *testing.T) {
	variants := pendingtest.Variants()
	v := variants[slices.IndexFunc(variants, func(v modeltest.Variant) bool { return v.Tokens })]
	n := &pendingtest.Node{World: pendingtest.New(t, v, testseed.New(t))}
	db := n.DB
	coins := n.Coins(nil)
	coin := coins[slices.IndexFunc(coins, func(c pendingtest.Coin) bool {
		return slices.ContainsFunc(c.Output.Keys, func(k model.Key) bool { return k.Index == 0 })
	})]
	n.Mine(nil) // the coin is old enough
	n.Mine(nil)
	n.Sync()
	pay := func(in model.Input, m *modeltest.TokenWish) *model.Unconfirmed {
		u := pendingtest.Unconfirmed(model.Tx{Hash: n.Name(), Inputs: []model.Input{in}, Outputs: make([]model.Output, 1), Message: m})
		n.Arrive(u)
		return u
	}
	created := pay(model.Input{Tx: coin.Tx, Index: coin.Index}, &modeltest.TokenWish{Create: "new", Cap: 1, Until: 99, To: []int{0}})
	after := pay(model.Input{Tx: created.Hash}, &modeltest.TokenWish{To: []int{0}})
	f := follow(t, n)
	watch := &answers.Watch{Follower: f, View: db.View, Terms: []query.Term{{Index: query.AssetTerm}}}
	next := func() (got []string) {
		t.Helper()
		if _, err := watch.Next(t.Context(), db.Tip(), func(e answers.Event) (bool, error) {
			switch {
			case e.Pending != nil:
				got = append(got, e.Pending.Tx+" "+e.Pending.Outputs[0].Assets[0].Asset)
			case e.Gone != nil:
				got = append(got, e.Gone.Tx+" "+e.Gone.Reason)
			}
			return false, nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	c := db.Chain()
	live(t, f, n)
	id := c.FormatAsset(created.Hash[:])
	want := []string{c.FormatHash(created.Hash) + " " + id, c.FormatHash(after.Hash) + " " + id}
	if got := next(); !slices.Equal(got, want) {
		t.Errorf("got %q, expected %q", got, want)
	}
	n.Lock()
	n.Mine([]*model.Unconfirmed{created})
	n.Unlock()
	n.Sync()
	live(t, f, n)
	pk, err := model.NarrowPointers.Tx(db.Tip().Height, 1)
	if err != nil {
		t.Fatal(err)
	}
	id = c.FormatAsset(fmt.Appendf(nil, "asset of %v", pk))
	want = []string{c.FormatHash(after.Hash) + " changed", c.FormatHash(after.Hash) + " " + id}
	if got := next(); !slices.Equal(got, want) {
		t.Errorf("after a block: %q, expected %q", got, want)
	}
}
