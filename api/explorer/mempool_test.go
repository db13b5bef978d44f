package explorer

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/api/compat/answertest"
	"birthmark/api/served"
	"birthmark/core/pending"
	"birthmark/core/pending/pendingtest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// pool serves a world with the mempool of its node, and waits until the mempool is complete.
func pool(t *testing.T, w *pendingtest.World) (http.Handler, *served.Chain) {
	t.Helper()
	return poolWith(t, w, w.DB.Chain().Traits())
}

func poolWith(t *testing.T, w *pendingtest.World, traits model.Traits) (http.Handler, *served.Chain) {
	t.Helper()
	h, chain, _ := poolOfNode(t, w, traits)
	return h, chain
}

// poolOfNode is poolWith with the node, whose lock guards the world.
func poolOfNode(t *testing.T, w *pendingtest.World, traits model.Traits) (http.Handler, *served.Chain, *pendingtest.Node) {
	t.Helper()
	n := &pendingtest.Node{World: w}
	db := w.DB
	f := answertest.Follow(t, db, func(context.Context, []string) (model.Source, error) { return n, nil },
		func(o *pending.Options) { o.Traits, o.Interval = traits, 2*time.Millisecond })
	chain := chainOf("made-up", db, nil)
	chain.Mempool = f
	for s := f.Standing(); s.State() != pending.Live || s.Count() != len(w.IDs()); s = f.Standing() {
		if t.Context().Err() != nil {
			t.Fatal("timeout: the mempool does not match the node")
		}
		time.Sleep(2 * time.Millisecond)
	}
	return explorerOf(t, chain), chain, n
}

// Every unconfirmed transaction has a page, and its addresses show it; the mempool and the overview show the newest.
func TestUnconfirmedTransactionsHavePages(t *testing.T) {
	for i, v := range pendingtest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			w := pendingtest.New(t, v, testseed.Of(t, uint64(80+i)))
			for range 3 {
				w.Mine(nil)
			}
			w.Sync()
			for range 12 {
				if u := w.Pay(w.Coins(w.Pool)); u != nil {
					w.Arrive(u)
				}
			}
			h, chain := pool(t, w)
			standing := chain.Mempool.Standing()
			if standing.Count() == 0 {
				t.Fatal("no unconfirmed transaction")
			}
			count := fmt.Sprintf("Unconfirmed transactions%d", standing.Count())
			mempool, home := read(t, h, "/made-up/mempool", http.StatusOK), read(t, h, "/made-up", http.StatusOK)
			mempool.has(t, "Mempool", count, "Fees of all", "Newest transactions")
			home.has(t, count, "Newest unconfirmed transactions")
			for _, d := range []*document{mempool, home} {
				if tag := ask(t, h, d.path).Header.Get("ETag"); tag != "" {
					t.Errorf("%s has the ETag %s", d.path, tag)
				}
			}
			rows := 0
			for u := range standing.Newest() {
				hash := u.ID.String()
				path := "/made-up/tx/" + hash
				if rows++; rows <= mempoolTxs && !slices.Contains(mempool.links(), path) || rows <= homeTxs && !slices.Contains(home.links(), path) {
					t.Errorf("the mempool or the overview does not link to %s", path)
				}
				d := read(t, h, path, http.StatusOK)
				d.has(t, "Transaction unconfirmed", hash, "First seen")
				for _, link := range d.links() {
					if strings.HasPrefix(link, "/made-up/output/") {
						read(t, h, link, http.StatusOK) // the page has confirmed transactions only
					}
					if strings.HasPrefix(link, "/made-up/address/") {
						read(t, h, link, http.StatusOK).has(t, "unconfirmed transaction", hash[len(hash)-6:])
					}
				}
			}
			unknown := strings.Repeat("cd", 32)
			read(t, h, "/made-up/tx/"+unknown, http.StatusNotFound).has(t, "No transaction "+unknown)
		})
	}
}

// Pages of all unconfirmed transactions follow their total number; pages of a value follow the number of the value.
func TestPagesFollowUnconfirmedTransactions(t *testing.T) {
	w := pendingtest.New(t, pendingtest.Variants()[0], testseed.Of(t, 90))
	w.Mine(nil)
	w.Sync()
	h, _ := pool(t, w)
	for path, want := range map[string]string{
		"/made-up": "/v1/made-up/events?mempool=include", "/made-up/mempool": "/v1/made-up/events?mempool=include",
		"/made-up/blocks": "/v1/made-up/events", "/made-up/index/tag/t01": "/v1/made-up/events?follow=tag%3Dt01&spends=true&mempool=include",
	} {
		d := read(t, h, path, http.StatusOK)
		for _, n := range d.each("p") {
			if id, _ := attr(n, "id"); id != "tip" {
				continue
			}
			if got, _ := attr(n, "data-events"); got != want {
				t.Errorf("%s follows %s, expected %s", path, got, want)
			}
		}
	}
	alone := explorerOf(t, chainOf("made-up", w.DB, nil))
	d := read(t, alone, "/made-up/mempool", http.StatusNotFound)
	d.has(t, "has no unconfirmed transactions on this server")
	if slices.Contains(d.links(), "/made-up/mempool") {
		t.Error("a server without mempool links to it")
	}
}

// The number of unconfirmed transactions has a note about its state.
func TestNotesAboutTheMempool(t *testing.T) {
	w := pendingtest.New(t, pendingtest.Variants()[0], testseed.Of(t, 90))
	v := &visit{site: &site{}, ctx: t.Context(), chain: chainOf("made-up", w.DB, nil)}
	for _, c := range []struct {
		info pending.Info
		note string
	}{
		{pending.Info{State: pending.Live, VSize: 1200}, "1,200 B"},
		{pending.Info{State: pending.Filling}, "loading from the node"},
		{pending.Info{State: pending.Filling, Wanted: 1200}, "loading from the node: 1,200 there"},
		{pending.Info{State: pending.Old, VSize: 1200}, "the node does not answer"},
		{pending.Info{State: pending.None}, "the node does not answer"},
		{pending.Info{State: pending.Partial, VSize: 1200}, "1,200 B, without the lowest fee rates"},
	} {
		if got := v.pendingStat(c.info).Note; got != c.note {
			t.Errorf("%+v: %q, expected %q", c.info, got, c.note)
		}
	}
}
