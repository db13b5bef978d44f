package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/core/query/blocktime"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// pastWorld is a database with its blocks, whose times are out of order as Bitcoin allows.
type pastWorld struct {
	*core.DB
	variant modeltest.Variant
	blocks  []*model.Block
	values  map[string][]string // by index
	assets  bool
	most    int // maximum of transactions that are undone
}

func newPastWorld(t *testing.T, v modeltest.Variant, seed uint64, assets bool) *pastWorld {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &pastWorld{variant: v, blocks: v.NewGenerator(seed).Blocks(40), values: map[string][]string{}, assets: assets}
	for i, b := range w.blocks {
		b.Time = max(1_700_000_000+int64(i)*40_000+rng.Int64N(60_000)-30_000, medianBefore(w.blocks, i)+1)
		if assets {
			continue
		}
		for i := range b.Txs {
			b.Txs[i].Mints = nil
			for n := range b.Txs[i].Outputs {
				b.Txs[i].Outputs[n].Assets = nil
				b.Txs[i].Message = nil
			}
		}
	}
	w.DB = w.open(t, w.blocks)
	for _, index := range w.Indexes() {
		page, err := w.Values(t.Context(), index, query.Page{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range page.Values {
			w.values[index] = append(w.values[index], value.Value)
		}
	}
	return w
}

// medianBefore returns the median time of up to eleven blocks before block i, which its time must exceed (BIP 113).
func medianBefore(blocks []*model.Block, i int) int64 {
	var times []int64
	for _, b := range blocks[max(0, i-11):i] {
		times = append(times, b.Time)
	}
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[len(times)/2]
}

func (w *pastWorld) open(t *testing.T, blocks []*model.Block) *core.DB {
	db := coretest.Open(t, memory.New(), w.variant, 1<<20)
	coretest.AppendAll(t, db, blocks, 7)
	return db
}

// eachPastWorld runs a test for every variant, with and without assets, and with each way to compute an earlier balance.
func eachPastWorld(t *testing.T, test func(t *testing.T, w *pastWorld, rng *rand.Rand)) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		for _, assets := range []bool{true, false} {
			if !assets && !v.Coinbase {
				continue
			}
			for _, most := range []int{10_000, 1} {
				t.Run(fmt.Sprintf("assets %t, at most %d undone", assets, most), func(t *testing.T) {
					seed := testseed.Of(t, 880)
					old := query.SetMaxUndone(most)
					defer query.SetMaxUndone(old)
					w := newPastWorld(t, v, seed, assets)
					w.most = most
					test(t, w, rand.New(rand.NewPCG(seed, 2)))
				})
			}
		}
	})
}

// A balance at a height equals the balance in a database with the blocks up to that height.
func TestEarlierBalanceMatchesShorterChain(t *testing.T) {
	eachPastWorld(t, func(t *testing.T, w *pastWorld, rng *rand.Rand) {
		unknown, at := 0, 0
		for round := range 4 {
			n := rng.IntN(len(w.blocks)) + 1
			switch round {
			case 0: // no later block has an earlier time
				n = len(w.blocks)
			case 1: // many transactions to undo
				n = rng.IntN(len(w.blocks)/2) + 1
			}
			tip := w.blocks[n-1]
			past := w.open(t, w.blocks[:n])
			moment := query.Moment{Height: &tip.Height}
			if last := lastAt(w.blocks, tip.Time); (round == 0 || rng.IntN(2) == 0) && last == n-1 {
				moment = query.Moment{Time: &tip.Time}
				at++
			}
			for index, values := range w.values {
				for _, value := range values {
					want, err := past.Balance(t.Context(), index, value)
					if err != nil {
						t.Fatal(err)
					}
					got, err := w.BalanceAt(t.Context(), index, value, moment)
					if err != nil {
						t.Fatal(err)
					}
					want.At = &query.TipAnswer{Height: uint32(tip.Height), Hash: w.Chain().FormatHash(tip.Hash), Time: tip.Time}
					if got.UnspentCount == nil {
						want.UnspentCount = nil
						unknown++
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("%s %s at %v of %d blocks:\n%+v\nexpected\n%+v", index, value, moment, len(w.blocks), got, want)
					}
				}
			}
		}
		if at == 0 {
			t.Error("no balance at a time")
		}
		if may := w.variant.Kept && !w.assets && w.most == 1; may != (unknown > 0) {
			t.Errorf("%d unknown counts", unknown)
		}
	})
}

// lastAt returns the position of the last block whose time is not after t, or -1.
func lastAt(blocks []*model.Block, t int64) int {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].Time <= t {
			return i
		}
	}
	return -1
}

func TestABalanceAboveTheTipIsAnError(t *testing.T) {
	w := newPastWorld(t, modeltest.Variants()[0], testseed.Of(t, 881), true)
	above := w.blocks[len(w.blocks)-1].Height + 1
	before := int64(1)
	for _, m := range []query.Moment{{Height: &above}, {Time: &before}} {
		_, err := w.BalanceAt(t.Context(), "address", w.values["address"][0], m)
		if kind, code := model.KindOf(err); kind != model.Usage || code != "empty_range" {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// beginning returns the first second of a period, computed with package time.
func beginning(unit string, t int64) int64 {
	at := time.Unix(t, 0).UTC()
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	switch unit {
	case "hour":
		return at.Truncate(time.Hour).Unix()
	case "day":
		return day.Unix()
	case "week":
		for day.Weekday() != time.Monday {
			day = day.AddDate(0, 0, -1)
		}
		return day.Unix()
	}
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC).Unix()
}

// The periods of a history equal the sums of its entries. Each has the balance at its end.
func TestPeriodsAreTheSumsOfTheHistory(t *testing.T) {
	eachPastWorld(t, func(t *testing.T, w *pastWorld, rng *rand.Rand) {
		// The period of a block is that of the earliest time of this block and of all later blocks.
		earliest, times := map[uint32]int64{}, int64(1<<62)
		for _, b := range slices.Backward(w.blocks) {
			times = min(times, b.Time)
			earliest[uint32(b.Height)] = times
		}
		earliest[0] = times
		ctx, several := t.Context(), 0
		for index, values := range w.values {
			for _, value := range values {
				unit := blocktime.Units[rng.IntN(len(blocktime.Units))]
				p := query.Page{Limit: rng.IntN(4) + 1, Descending: rng.IntN(2) == 0}
				var r query.Range
				if rng.IntN(3) == 0 {
					r.FromHeight = &w.blocks[rng.IntN(len(w.blocks))].Height
				}
				entries := history(t, ctx, w, index, value, r)
				want := []query.PeriodAnswer{}
				for _, e := range entries {
					from := beginning(unit, earliest[e.Height])
					if len(want) == 0 || want[len(want)-1].From != from {
						want = append(want, query.PeriodAnswer{From: from, Received: "0", Sent: "0"})
					}
					last := &want[len(want)-1]
					last.Received, last.Sent = added(last.Received, e.Received), added(last.Sent, e.Sent)
					last.TxCount++
					last.Balance = e.Balance
				}
				if p.Descending {
					slices.Reverse(want)
				}
				got := []query.PeriodAnswer{}
				for {
					page, err := w.GroupedHistory(ctx, index, value, unit, r, p)
					if err != nil {
						t.Fatal(err)
					}
					if got = append(got, page.Periods...); page.Next == nil {
						break
					}
					p.After = *page.Next
				}
				for i, g := range got {
					if g.To <= g.From || beginning(unit, g.To) != g.From || beginning(unit, g.To+1) != g.To+1 {
						t.Fatalf("%s from %d to %d", unit, g.From, g.To)
					}
					at, err := w.BalanceAt(ctx, index, value, query.Moment{Time: &g.To})
					if err != nil || at.Balance != g.Balance {
						t.Fatalf("%s %s at %d: %v, %v; the period has %s", index, value, g.To, at, err, g.Balance)
					}
					got[i].To = 0
				}
				if several += len(got); !slices.Equal(got, want) {
					t.Fatalf("%s %s by %s, %v, %+v:\n%+v\nexpected\n%+v", index, value, unit, r, p, got, want)
				}
			}
		}
		if several == 0 {
			t.Error("no periods")
		}
	})
}

func history(t *testing.T, ctx context.Context, w *pastWorld, index, value string, r query.Range) []query.HistoryTxAnswer {
	a, err := w.History(ctx, index, value, r, query.Page{Limit: query.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return a.Txs
}

func added(a, b string) string {
	x, _ := strconv.ParseUint(a, 10, 64)
	y, _ := strconv.ParseUint(b, 10, 64)
	return strconv.FormatUint(x+y, 10)
}
