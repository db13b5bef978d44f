package events_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"birthmark/api/events"
	"birthmark/chains/bitcoin"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// realBlocks returns the chain and the first n blocks of Bitcoin.
func realBlocks(t testing.TB, n int) (model.Chain, []*model.Block) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd").Output()
	path := filepath.Join(strings.TrimSpace(string(out)), "blockchain", "testdata", "blk_0_to_14131.dat")
	if _, absent := os.Stat(path); err != nil || absent != nil {
		t.Skip("real blocks are missing: run make blocks")
	}
	chain, err := bitcoin.New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	source, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + path, Indexes: indexesOf(chain)})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var blocks []*model.Block
	for e, err := range source.Follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Block != nil {
			blocks = append(blocks, e.Block)
		}
		if len(blocks) == n {
			break
		}
	}
	return chain, blocks
}

const (
	satoshi = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
	finney  = "1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3"
)

// Clients that follow real addresses, and are killed and reconnect during reorganizations, end up with the outputs that
// find returns.
func TestEventsOfRealAddressesMatchFind(t *testing.T) {
	const n = 600
	defer events.SetBatchSize(4000)()
	chain, blocks := realBlocks(t, n)
	rng := rand.New(rand.NewPCG(testseed.Of(t, 900), 0))
	w := newWorld(t, chain, nil)
	tip := 185
	w.grow(blocks[:tip]...)
	s := w.serve(events.Options{})
	type client struct {
		query  string
		what   changes.Filter
		wallet *wallet
		stream *stream
		left   sync.WaitGroup
	}
	one := changes.Filter{Term: query.Term{Index: "address", Value: satoshi}, Spends: true}
	two := changes.Filter{Term: one.Term, Or: []query.Term{{Index: "address", Value: finney}}}
	clients := []*client{
		{query: "follow=address=" + satoshi + "&spends=true&from=origin", what: one},
		{query: "follow=address=" + satoshi + "&follow=address=" + finney + "&from=0&sparse=true", what: two},
		{query: "follow=address&spends=true&from=origin&sparse=true", what: changes.Filter{Term: query.Term{Index: "address"}, Spends: true}},
	}
	start := func(c *client) {
		c.stream = connect(t, s.URL, c.query, c.wallet.lastID())
		stream := c.stream
		c.left.Go(func() { follow(c.wallet, stream) })
	}
	end := func(c *client) {
		c.stream.close()
		c.left.Wait()
		c.wallet.stop()
	}
	for _, c := range clients {
		c.wallet = newWallet()
		start(c)
	}
	for range 60 {
		switch rng.IntN(4) {
		case 0:
			tip = max(1, tip-1-rng.IntN(200))
			w.rollback(blocks[tip-1].Point())
		case 1:
			c := clients[rng.IntN(len(clients))]
			end(c)
			start(c)
		case 2:
			clients[rng.IntN(len(clients))].wallet.arrives(t, w)
		default:
			to := min(n, tip+1+rng.IntN(120))
			w.grow(blocks[tip:to]...)
			tip = to
		}
	}
	w.grow(blocks[tip:]...)
	for _, c := range clients {
		c.wallet.arrives(t, w)
		end(c)
		got, want := c.wallet.texts(), truth(t, w, c.what, blocks)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) || len(want) < 7 {
			t.Errorf("%s: received\n%s\nthe database has\n%s", c.query, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		t.Logf("%s: %d outputs and spends, %d blocks, %d rollbacks", c.query, len(want), c.wallet.blocks, c.wallet.back)
	}
}
