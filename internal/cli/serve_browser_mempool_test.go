package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/api/events"
	"birthmark/api/explorer"
	"birthmark/api/served"
	"birthmark/core/coretest"
	"birthmark/core/pending"
	"birthmark/core/pending/pendingtest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// mempoolServer serves a generated chain with a node that has unconfirmed transactions.
func mempoolServer(t *testing.T, n *pendingtest.Node) (url string) {
	t.Helper()
	db := n.World.DB
	severalBlocks := func(o *pending.Options) { o.Traits.BlockVSize = 4500 } // projected ones
	pool := answertest.Follow(t, db, func(context.Context, []string) (model.Source, error) { return n, nil }, severalBlocks)
	chain := &served.Chain{
		Name: "test", Model: db.Chain(), View: db.View, Moved: db.Moved, Mempool: pool, State: func() served.State { return served.State{} },
	}
	v1, err := api.New(api.Options{Chains: []*served.Chain{chain}})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := explorer.New(explorer.Options{Chains: []*served.Chain{chain}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", v1)
	mux.Handle("/v1/test/events", events.Handler(chain, events.Options{}))
	mux.Handle("/", pages)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// The mempool page shows transactions that enter and leave the mempool. The page of an unconfirmed transaction changes
// when it is confirmed. Both work without a reload.
func unconfirmedArrive(t *testing.T, browser context.Context) {
	n := &pendingtest.Node{World: pendingtest.New(t, pendingtest.Variants()[0], testseed.New(t))}
	w := n.World
	arrive := func(many int) (last string) {
		n.Lock()
		defer n.Unlock()
		for range many {
			u := w.Pay(w.Coins(w.Pool))
			u.Seen = time.Now()
			w.Arrive(u)
			last = u.Hash.String()
		}
		return last
	}
	arrive(40)
	b := newTab(t, browser, mempoolServer(t, n))
	b.do("begin", wide(desk), scheme("light"))
	b.open("/test", 200)
	b.becomes(`document.querySelector('#latest-txs')?.textContent.includes('unconfirmed')`)
	b.look("", "frame", "contrast", "width", "labels")
	b.open("/test/mempool", 200)
	t.Logf("first paint of the page of the mempool: %.0f ms", b.firstPaint())
	for _, theme := range []string{"light", "dark"} {
		for _, size := range []int64{desk, phone} {
			b.do("size", wide(size), scheme(theme))
			b.look(fmt.Sprint(theme, size), "frame", "contrast", "width", "labels")
		}
	}
	b.do("size", wide(desk), scheme("light"))
	last := arrive(1)
	b.becomes(`!!document.querySelector('main a[href="/test/tx/` + last + `"]')`)
	b.follow("the newest", chromedp.Click(chromedp.CSS(`main a[href="/test/tx/`+last+`"]`)))
	b.look("unconfirmed", "frame", "contrast", "width", "labels")
	b.do("on a phone", wide(phone))
	b.look("on a phone", "contrast", "width", "labels")
	if !eval[bool](b, `document.querySelector('h1').textContent.includes('unconfirmed')`) {
		t.Error("the transaction is not marked as unconfirmed")
	}
	b.follow("a block arrives", chromedp.Func(func(context.Context, *chromedp.Target) error {
		n.Lock()
		defer n.Unlock()
		w.Mine(w.Pool)
		w.Sync()
		return nil
	}))
	b.becomes(`document.querySelector('main').textContent.includes('1 confirmation')`)
	b.open("/test/block/tip", 200)
	for !eval[bool](b, `!!document.querySelector('#compared')`) { // the server compares the block after it arrived
		time.Sleep(20 * time.Millisecond)
		b.open("/test/block/tip", 200)
	}
	b.everyLook(axeScript(t))
	eval[bool](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
	b.everyLook(axeScript(t))
	b.do("begin", wide(desk))
	b.reachEverything("/test/block/tip")
	n.Lock()
	coretest.Consistent(t, w.DB)
	n.Unlock()
}
