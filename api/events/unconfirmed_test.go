package events_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api/events"
	"birthmark/core/coretest"
	"birthmark/core/pending"
	"birthmark/core/pending/pendingtest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// client is a watcher and its connection.
type client struct {
	*watcher
	filter
	query   string
	stream  *stream
	reading sync.WaitGroup
}

func (c *client) connect(t *testing.T, url string) {
	c.stream = connect(t, url, c.query, c.lastID())
	s := c.stream
	t.Cleanup(s.close)
	c.reading.Go(func() {
		for {
			e, err := s.next()
			if err != nil {
				return
			}
			c.take(e)
		}
	})
}

func (c *client) close() {
	c.stream.close()
	c.reading.Wait()
	c.stop()
}

// After any history of a chain and a mempool, a client that follows both has exactly the confirmed and the unconfirmed
// outputs of its values. Its confirmed outputs equal those of a client that does not follow the mempool.
func TestUnconfirmedEventsOfRandomHistories(t *testing.T) {
	defer events.SetBatchSize(900)() // a series of events is sent in several batches
	reasons := map[string]int{}
	for i, v := range pendingtest.Variants() {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(v.Name, func(t *testing.T) {
			n := &pendingtest.Node{World: pendingtest.New(t, v, testseed.New(t))}
			w := n.World
			rng := rand.New(rand.NewPCG(w.Rand.Uint64(), 1))
			url, pool, later := mempool(t, n)
			var clients []*client
			for range 4 {
				c := &client{watcher: newWatcher(), filter: anyFilter(rng)}
				c.query = c.filter.query(w.DB.Chain()) + c.filter.watch(t, url, w.DB.Chain())
				plain := &client{watcher: newWatcher(), filter: c.filter, query: c.query}
				if c.query += "&mempool=include"; rng.IntN(3) == 0 {
					c.query += "&sparse=true"
				}
				clients = append(clients, c, plain)
			}
			for _, c := range clients {
				c.connect(t, url)
			}
			var reconnects, settled int
			for range 60 {
				n.Lock()
				for range 1 + w.Rand.IntN(3) {
					w.Step()
				}
				follows, quiet := w.Rand.IntN(3) > 0, w.Rand.IntN(3) == 0
				if w.Rand.IntN(30) == 0 {
					n.Away = true
					later(11 * time.Minute) // the mempool is emptied
				}
				if follows {
					w.Sync()
				}
				n.Unlock()
				if c := clients[rng.IntN(len(clients))]; rng.IntN(4) == 0 {
					reconnects++
					c.close()
					c.connect(t, url)
				}
				if !quiet {
					time.Sleep(time.Duration(rng.IntN(8)) * time.Millisecond)
					continue
				}
				n.Lock()
				n.Away = false
				w.Sync()
				n.Unlock()
				settle(t, n, pool)
				settled++
				for _, c := range clients {
					c.settle(t, n)
				}
				for i := 0; i < len(clients); i += 2 {
					if with, without := clients[i].texts(), clients[i+1].texts(); !slices.Equal(with, without) {
						t.Fatalf("%s: %d confirmed events with the mempool, %d without", clients[i].query, len(with), len(without))
					}
				}
			}
			resets := 0
			for _, c := range clients {
				c.close()
				resets += c.resets
				for reason, n := range c.reasons {
					reasons[reason] += n
				}
			}
			t.Logf("%d times settled, %d reconnects, %d resets", settled, reconnects, resets)
			coretest.Consistent(t, w.DB)
		})
	}
	for _, reason := range []string{"replaced", "conflict", "dropped"} {
		if reasons[reason] == 0 && !testing.Short() {
			t.Errorf("no transaction was %s: %v", reason, reasons)
		}
	}
}

// settle waits until the mempool has the transactions of the node.
func settle(t *testing.T, n *pendingtest.Node, pool *pending.Follower) {
	t.Helper()
	until(t, "the mempool to be that of the node", func() bool {
		n.Lock()
		defer n.Unlock()
		s := pool.Standing()
		lacks := func(id model.Hash) bool { return s.Tx(id) == nil }
		return s.Tip == n.World.Tip() && s.State() == pending.Live && s.Count() == len(n.World.Pool) && !slices.ContainsFunc(n.World.IDs(), lacks)
	})
}

// settle waits until the client has the expected outputs.
func (c *client) settle(t *testing.T, n *pendingtest.Node) {
	t.Helper()
	n.Lock()
	unconfirmed, confirmed := c.expected(t, n.World)
	tip := n.World.DB.Chain().FormatHash(n.World.Tip().Hash)
	n.Unlock()
	if !strings.Contains(c.query, "mempool=include") {
		unconfirmed = nil
		c.arrivesAt(t, tip)
		c.mu.Lock()
		c.complete, c.state = true, "live" // it receives no events of the mempool
		c.mu.Unlock()
	}
	var have, known []string
	for end := time.Now().Add(testrun.Patience); ; time.Sleep(time.Millisecond) {
		var ok bool
		have, known, ok = c.sets(t, tip)
		if ok && slices.Equal(have, unconfirmed) && slices.Equal(known, confirmed) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s\nunconfirmed\n%s\nexpected\n%s\nconfirmed\n%s\nexpected\n%s", c.query, strings.Join(have, "\n"),
				strings.Join(unconfirmed, "\n"), strings.Join(known, "\n"), strings.Join(confirmed, "\n"))
		}
	}
}

func (c *client) arrivesAt(t *testing.T, tip string) {
	t.Helper()
	until(t, "a client to be at the tip", func() bool {
		there, wrong := c.isAt(tip)
		if wrong != nil {
			t.Fatal(wrong)
		}
		return there
	})
}

// The events of a series of transactions, as docs/events.md shows them.
func TestEventsOfUnconfirmedTransactions(t *testing.T) {
	n := &pendingtest.Node{World: pendingtest.New(t, pendingtest.Variants()[0], testseed.New(t))}
	w := n.World
	url, pool, _ := mempool(t, n)
	output := func(value uint64) model.Output {
		return model.Output{Value: value, Keys: []model.Key{{Index: 0, Value: []byte{0xaa}}}}
	}
	coins := w.Coins(nil)
	pay := func(coin pendingtest.Coin, value uint64) *model.Unconfirmed {
		u := pendingtest.Unconfirmed(model.Tx{
			Hash: w.Name(), Inputs: []model.Input{{Tx: coin.Tx, Index: coin.Index}}, Outputs: []model.Output{output(value)},
		})
		n.Lock()
		w.Arrive(u)
		n.Unlock()
		settle(t, n, pool)
		return u
	}
	mine := func(txs ...*model.Unconfirmed) {
		n.Lock()
		w.Mine(txs)
		w.Sync()
		n.Unlock()
		settle(t, n, pool)
	}
	first := pay(coins[0], 30)
	c := connect(t, url, "follow=address=aaa&spends=true&sparse=true&mempool=include", "")
	defer c.close()
	expect := func(want ...string) {
		t.Helper()
		for _, line := range want {
			e, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			if got := e.name + " " + e.data; got != line && (line != "tip" || e.name != "tip") {
				t.Fatalf("got %s\nexpected %s", got, line)
			}
		}
	}
	tip := func() string {
		return fmt.Sprintf(`"tip":{"height":%d,"hash":"%v"}`, w.Tip().Height, w.Tip().Hash)
	}
	arrived := func(u *model.Unconfirmed, value int, more string) string {
		return fmt.Sprintf(`pending {"tx":"%v","first_seen":%d,"outputs":[{"tx":"%[1]v","index":0,"value":"%[3]d","keys":{"address":"aaa"}}]%s}`,
			u.Hash, u.Seen.Unix(), value, more)
	}
	mark := func(count int) string { return fmt.Sprintf(`mempool {"state":"live",%s,"count":%d}`, tip(), count) }
	expect("tip", fmt.Sprintf(`mempool {"state":"live",%s,"count":0,"reset":true}`, tip()), arrived(first, 30, ""), mark(1))
	second := pay(pendingtest.Coin{Tx: first.Hash}, 20)
	expect(arrived(second, 20, fmt.Sprintf(`,"spends":[{"tx":"%v","index":0,"value":"30","spent_by":{"tx":"%v","input":0}}]`, first.Hash, second.Hash)), mark(2))
	third := pay(coins[0], 10)
	expect(fmt.Sprintf(`gone {"tx":"%v","reason":"replaced","by":"%v"}`, second.Hash, third.Hash),
		fmt.Sprintf(`gone {"tx":"%v","reason":"replaced","by":"%v"}`, first.Hash, third.Hash), arrived(third, 10, ""), mark(1))
	mine(third)
	height := w.Tip().Height
	expect(fmt.Sprintf(`output {"tx":"%v","index":0,"height":%d,"tx_index":1,"value":"10","keys":{"address":"aaa"}}`, third.Hash, height), "tip", mark(0))
	fourth := pay(coins[1], 9)
	expect(arrived(fourth, 9, ""), mark(1))
	other := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: fourth.Inputs, Outputs: []model.Output{{Value: 5}}})
	mine(other)
	expect("tip", fmt.Sprintf(`gone {"tx":"%v","reason":"conflict","block":{"height":%d,"hash":"%v"}}`, fourth.Hash, height+1, w.Tip().Hash), mark(0))
	coretest.Consistent(t, w.DB)
}

// A stream without terms has the number of unconfirmed transactions after each change, but no transactions.
func TestEventsOfTheMempoolAsAWhole(t *testing.T) {
	n := &pendingtest.Node{World: pendingtest.New(t, pendingtest.Variants()[0], testseed.New(t))}
	w := n.World
	url, pool, _ := mempool(t, n)
	settle(t, n, pool)
	c := connect(t, url, "mempool=include", "")
	defer c.close()
	// reaches reads up to the event with the given count and tip. The server may skip or send the states in between.
	reaches := func(count int) {
		t.Helper()
		want := fmt.Sprintf(`{"state":"live","tip":{"height":%d,"hash":"%v"},"count":%d}`, w.Tip().Height, w.Tip().Hash, count)
		for {
			e, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			if e.name == "mempool" && e.data == want {
				return
			}
			if e.name != "tip" && e.name != "mempool" {
				t.Fatalf("got %s %s", e.name, e.data)
			}
		}
	}
	reaches(0)
	for i, coin := range w.Coins(nil)[:3] {
		n.Lock()
		w.Arrive(pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: []model.Input{{Tx: coin.Tx, Index: coin.Index}}, Outputs: []model.Output{{Value: 5}}}))
		n.Unlock()
		settle(t, n, pool)
		reaches(i + 1)
	}
	n.Lock()
	w.Mine(w.Pool)
	w.Sync()
	n.Unlock()
	settle(t, n, pool)
	reaches(0)
	coretest.Consistent(t, w.DB)
}
