package blockfrost_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// epochs compares the sums of epochs with those of the model's blocks, in a random order.
func (w *world) epochs(t *testing.T) {
	all := map[uint64]object{}
	last := *w.naive.tip().header.Epoch
	for _, b := range w.naive.blocks {
		n := *b.header.Epoch
		e := all[n]
		if e == nil {
			start, end := w.naive.slotTime(n), w.naive.slotTime(n+1)
			e = object{
				"epoch": n, "start_time": start, "end_time": end, "first_block_time": b.Time, "block_count": 0, "tx_count": 0,
				"output": new(big.Int), "fees": new(big.Int), "active_stake": nil,
			}
			all[n] = e
		}
		e["last_block_time"], e["block_count"], e["tx_count"] = b.Time, e["block_count"].(int)+1, e["tx_count"].(int)+len(b.txs)
		for _, tx := range b.txs {
			e["output"].(*big.Int).Add(e["output"].(*big.Int), lovelaceOf(tx.created))
			e["fees"].(*big.Int).Add(e["fees"].(*big.Int), tx.fee())
		}
	}
	for _, e := range all {
		e["output"], e["fees"] = fmt.Sprint(e["output"]), fmt.Sprint(e["fees"])
	}
	between := func(from, to int) []any {
		list := []any{}
		for n := max(from, 0); n < to; n++ {
			if e := all[uint64(n)]; e != nil {
				list = append(list, e)
			}
		}
		return list
	}
	w.same(t, "/epochs/latest", all[last])
	for _, i := range testseed.Rand(t).Perm(len(all)) {
		path := fmt.Sprintf("/epochs/%d", i)
		w.same(t, path, all[uint64(i)])
		w.same(t, path+"/next", between(i+1, int(last)+1))
		w.same(t, path+"/previous", between(0, i))
		w.same(t, path+"/next?count=2&page=2", between(i+3, i+5))
		w.same(t, path+"/previous?count=2&page=2", between(i-4, i-2))
	}
	if status, body := w.ask(t, http.MethodGet, fmt.Sprintf("/epochs/%d", last+1)); status != http.StatusNotFound {
		t.Errorf("the epoch after the tip: %d %s", status, body)
	}
	t.Logf("%d epochs", len(all))
}

// slotTime returns the time at which an epoch begins.
func (n *naive) slotTime(epoch uint64) int64 {
	unix, _ := n.chain.(interface{ SlotTime(uint64) (int64, bool) }).SlotTime(uint64(n.firstSlot(epoch)))
	return unix
}

// The sums of a growing epoch match the chain after each reorganization, although requests in between cache sums.
func TestSumsOfEpochsThroughForks(t *testing.T) {
	rng := testseed.Rand(t)
	c := cardanogen.New(cardanogen.Options{Seed: rng.Uint64(), TxsPerBlock: 10, AllParts: true})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 60))
	verify := func() {
		w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
		w.epochs(t)
	}
	verify()
	for range testrun.Amount(5, 2) {
		fork, depth, common := c.Fork(rng.Uint64()), 1+rng.IntN(20), len(w.naive.blocks)
		n.Extend(branch(t, c, depth)...)
		verify()
		n.Switch(common, branch(t, fork, depth+1)...)
		verify()
		c = fork
	}
}

// extendedAmounts adds to amounts whether the assets have metadata, which /assets answers, and the decimal places of those
// with a reference token.
func (w *world) extendedAmounts(t testing.TB, amounts []any) []any {
	all := make([]any, len(amounts))
	for i, a := range amounts {
		unit := a.(object)["unit"].(string)
		e := object{"unit": unit, "quantity": a.(object)["quantity"], "decimals": nil, "has_nft_onchain_metadata": false}
		if unit == "lovelace" {
			e["decimals"] = 6
		} else {
			about := w.get(t, "/assets/"+unit).(object)
			m, has := about["onchain_metadata"].(object)
			e["has_nft_onchain_metadata"] = has
			if standard, _ := about["onchain_metadata_standard"].(string); len(standard) > 5 && standard[:5] == "CIP68" {
				if n, ok := m["decimals"].(json.Number); ok {
					e["decimals"] = n
				}
			}
		}
		all[i] = e
	}
	return all
}
