package events_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"birthmark/api/events"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// A new block is read once for any number of clients, whatever they follow.
func TestBlockIsReadOnceForAllClients(t *testing.T) {
	v := modeltest.Variants()[3]
	w := worldOf(t, v)
	blocks := v.NewGenerator(testseed.Of(t, 880)).Blocks(60)
	w.grow(blocks[:40]...)
	var views atomic.Int64
	chain := w.served()
	view := chain.View
	chain.View = func(ctx context.Context, fn func(*query.View) error) error {
		views.Add(1)
		return view(ctx, fn)
	}
	s := httptest.NewServer(events.Handler(chain, events.Options{}))
	defer s.Close()
	var streams []*stream
	rng := testseed.Rand(t)
	for i := range 60 {
		query, _ := anyQuery(rng, w.model, blocks[40:]) // values of the coming blocks
		if i%6 == 0 {
			query = ""
		}
		streams = append(streams, connect(t, s.URL, query, ""))
	}
	wallets := make([]*wallet, len(streams))
	for i, c := range streams {
		wallets[i] = newWallet()
		go follow(wallets[i], c)
		wallets[i].arrives(t, w)
	}
	for n, b := range blocks[40:] {
		before := views.Load()
		w.grow(b)
		for _, wallet := range wallets {
			wallet.arrives(t, w)
		}
		if read := views.Load() - before; read != 1 {
			t.Errorf("block %d was read %d times for %d clients", n, read, len(streams))
		}
	}
	received := 0
	for i, c := range streams {
		received += len(wallets[i].texts())
		c.close()
	}
	if received == 0 {
		t.Error("only blocks were sent")
	}
}

// A shared batch that is too large is dropped, and clients receive the same events.
func TestEventsWithoutSharedBatches(t *testing.T) {
	v := modeltest.Variants()[3]
	w := worldOf(t, v)
	blocks := v.NewGenerator(testseed.Of(t, 881)).Blocks(30)
	w.grow(blocks[:1]...)
	s := w.serve(events.Options{})
	of := func(size int) []string {
		defer events.SetSharedSize(size)()
		c := connect(t, s.URL, "follow=address&follow=tag&spends=true&from=origin", "")
		wallet := newWallet()
		go follow(wallet, c)
		wallet.arrives(t, w)
		for len(blocks) > 1 && w.now().Tip().Height < blocks[len(blocks)-1].Height {
			next := blocks[w.now().Tip().Height-blocks[0].Height+1]
			w.grow(next)
			wallet.arrives(t, w)
		}
		c.close()
		return wallet.texts()
	}
	without := of(0)
	with := of(8 << 20)
	if len(without) < 20 || fmt.Sprint(with) != fmt.Sprint(without) {
		t.Errorf("%d events with shared, %d without", len(with), len(without))
	}
}

// A value in another spelling, such as an address in upper case, selects the same outputs.
func TestSpellingOfAValueDoesNotMatter(t *testing.T) {
	v := modeltest.Variants()[3]
	w := worldOf(t, v)
	blocks := v.NewGenerator(testseed.Of(t, 882)).Blocks(30)
	w.grow(blocks[:10]...)
	s := w.serve(events.Options{})
	value := ""
	for _, b := range blocks[10:] {
		for _, tx := range b.Txs {
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					if x := w.model.Indexes()[k.Index]; x.Name == "address" {
						value = x.Format(k.Value)
					}
				}
			}
		}
	}
	var received [2][]string
	for i, text := range []string{value, "a" + strings.ToUpper(value[1:])} {
		c := connect(t, s.URL, url.Values{"follow": {"address=" + text}, "from": {"origin"}}.Encode(), "")
		wallet := newWallet()
		go follow(wallet, c)
		wallet.arrives(t, w)
		if i == 0 {
			w.grow(blocks[10:]...)
			wallet.arrives(t, w)
		}
		c.close()
		received[i] = wallet.texts()
	}
	if len(received[0]) == 0 || fmt.Sprint(received[0]) != fmt.Sprint(received[1]) {
		t.Errorf("%s: %d events and %d", value, len(received[0]), len(received[1]))
	}
}
