package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// The times of real blocks are out of order: hundreds of the first 14,132 blocks are older than their parent. A time
// range has the blocks from the first one that is not before its start to the last one that is not after its end.
func TestTimesOfRealBlocksAreFoundExactly(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(testseed.Of(t, 800), 0))
	ctx := context.Background()
	chain, err := bitcoin.New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(ctx, memory.New(), core.Options{Chain: chain, Indexes: []string{"script_type"}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(ctx, model.SourceOptions{URI: "file://" + realBlocks(t), Indexes: db.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var times []int64
	back := 0
	for e, err := range src.Follow(ctx, nil) {
		if err == nil {
			err = db.Append(ctx, []*model.Block{e.Block})
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := len(times); n > 0 && e.Block.Time < times[n-1] {
			back++
		}
		times = append(times, e.Block.Time)
	}
	if len(times) != 14_132 || back < 100 {
		t.Fatalf("%d blocks, %d of them older than their parent", len(times), back)
	}
	for range 300 {
		at := rng.IntN(len(times))
		from := times[at] + rng.Int64N(3) - 1
		to := times[min(len(times)-1, at+rng.IntN(30))] + rng.Int64N(3) - 1
		first, last := -1, -1
		for h, time := range times {
			if time >= from && first < 0 {
				first = h
			}
			if time <= to {
				last = h
			}
		}
		r := query.Range{FromTime: &from, ToTime: &to}
		if first < 0 || last < first || to < from {
			if _, err := db.Find(ctx, "script_type", "pubkey", query.Terms{Range: r}, query.Page{}); err == nil {
				t.Errorf("%v has no block, but causes no error", r)
			}
			continue
		}
		for _, descending := range []bool{false, true} {
			// Every block pays its miner's key.
			a, err := db.Find(ctx, "script_type", "pubkey", query.Terms{Range: r}, query.Page{Limit: 1, Descending: descending})
			want := first
			if descending {
				want = last
			}
			if err != nil || len(a.Outputs) != 1 || int(a.Outputs[0].Height) != want {
				t.Fatalf("%v, descending %t: %s, %v; expected block %d", r, descending, fmt.Sprint(a), err, want)
			}
		}
	}
}
