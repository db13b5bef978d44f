package ord_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// get parses the answer to a request, which must have these members in this order.
func (w *world) get(path string, members ...string) map[string]any {
	w.Helper()
	status, body := w.ask(path, "")
	var a map[string]any
	if err := json.Unmarshal([]byte(body), &a); err != nil || status != http.StatusOK {
		w.Fatalf("%s: %d %.1000s, %v", path, status, body, err)
	}
	at := 0
	for _, name := range members {
		next := strings.Index(body[at:], `"`+name+`":`)
		if next < 0 {
			w.Fatalf("%s: no member %s after the one before it: %.1000s", path, name, body)
		}
		at += next
	}
	if len(a) != len(members) {
		w.Fatalf("%s: %d members, expected %d: %.1000s", path, len(a), len(members), body)
	}
	return a
}

// ord's get_block and get_blocks (tests/json_api.rs), on a chain with a block of runes.
func TestBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sync()
	w.expect("blocks", "", fmt.Sprintf(`{"last":0,"blocks":["%s"],"featured_blocks":{"%[1]s":[]}}`, w.chain.Blocks()[0].BlockHash()))
	w.chain.MineEmpty(95)
	w.etch(&runes.Runestone{Etching: &runes.Etching{Premine: model.Uint128Of(1)}})
	first := w.chain.Height()
	// A block with two etchings, in the order of its transactions.
	stone := runes.Runestone{Etching: &runes.Etching{}}
	coins := []*wire.MsgTx{w.coin(), w.coin()}
	etchings := []*wire.MsgTx{
		bitcointest.Spend(coins[0], 0, out(1000, payKeyHash), out(0, stone.Script())),
		bitcointest.Spend(coins[1], 0, out(0, stone.Script())),
	}
	w.chain.Mine(etchings...)
	w.sync()

	blocks := w.chain.Blocks()
	tip := len(blocks) - 1
	names := func(height int, positions ...int) []any {
		list := []any{}
		for _, at := range positions {
			list = append(list, runes.ReservedFor(runes.ID{Block: uint64(height), Tx: uint32(at)}).String())
		}
		return list
	}
	made := map[int][]any{first: names(first, 1), tip: names(tip, 1, 2)}
	for height, b := range blocks {
		byHeight := w.get(fmt.Sprintf("block/%d", height), blockMembers...)
		if byHash := w.get("block/"+b.BlockHash().String(), blockMembers...); !reflect.DeepEqual(byHeight, byHash) {
			t.Fatalf("block %d by its hash: %v", height, byHash)
		}
		txs := byHeight["transactions"].([]any)
		delete(byHeight, "transactions")
		want := map[string]any{
			"best_height": float64(tip), "hash": b.BlockHash().String(), "height": float64(height), "inscriptions": []any{}, "runes": []any{},
			"target": fmt.Sprintf("%064x", blockchain.CompactToBig(b.Header.Bits)),
		}
		if made[height] != nil {
			want["runes"] = made[height]
		}
		if !reflect.DeepEqual(byHeight, want) {
			t.Errorf("block %d: %v, expected %v", height, byHeight, want)
		}
		if len(txs) != len(b.Transactions) {
			t.Fatalf("block %d: %d transactions", height, len(txs))
		}
		for i, tx := range txs {
			if of := w.get("tx/"+b.Transactions[i].TxHash().String(), txMembers...)["transaction"]; !reflect.DeepEqual(tx, of) {
				t.Errorf("block %d, transaction %d: %v, expected %v", height, i, tx, of)
			}
		}
	}

	const listed, featured = 100, 5
	if tip <= listed {
		t.Fatalf("the chain has %d blocks", tip)
	}
	hashes, empty := []any{}, map[string]any{}
	for i := range listed {
		hash := blocks[tip-i].BlockHash().String()
		if hashes = append(hashes, hash); i < featured {
			empty[hash] = []any{}
		}
	}
	want := map[string]any{"last": float64(tip), "blocks": hashes, "featured_blocks": empty}
	if got := w.get("blocks", "last", "blocks", "featured_blocks"); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

var infoMembers = strings.Fields(`average_fee average_fee_rate bits chainwork confirmations difficulty hash feerate_percentiles height
	max_fee max_fee_rate max_tx_size median_fee median_time merkle_root min_fee min_fee_rate next_block nonce previous_block subsidy target
	timestamp total_fee total_size total_weight transaction_count version`)

// The statistics of blocks are those of a slow model of Bitcoin Core's getblockstats and getblockheader. The percentiles of
// the model compare fractions, as Core does.
func TestBlockInfoIsThatOfCore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(testseed.Of(t, 11), 1))
	fees := map[string]int64{}
	for range 150 { // beyond a halving
		w.coin()
	}
	for range 12 {
		var txs []*wire.MsgTx
		for range rng.IntN(7) {
			coin := w.coin()
			fee := []int64{0, 1, 200, int64(rng.IntN(100_000))}[rng.IntN(4)]
			outputs := []*wire.TxOut{}
			for range rng.IntN(5) {
				outputs = append(outputs, out(700, payTaproot))
			}
			outputs = append(outputs, out(coin.TxOut[0].Value-fee-700*int64(len(outputs)), payKeyHash))
			tx := bitcointest.Spend(coin, 0, outputs...)
			if rng.IntN(2) == 0 {
				tx.TxIn[0].Witness = wire.TxWitness{make([]byte, rng.IntN(300))}
			}
			fees[tx.TxHash().String()] = fee
			txs = append(txs, tx)
		}
		w.chain.Mine(txs...)
	}
	w.sync()
	work := new(big.Int)
	blocks := w.chain.Blocks()
	with := 0
	for height, b := range blocks {
		work.Add(work, blockchain.CalcWork(b.Header.Bits))
		if height < len(blocks)-120 && height > 2 && height%50 != 0 {
			continue
		}
		got := w.get(fmt.Sprintf("r/blockinfo/%d", height), infoMembers...)
		want := infoOf(blocks, height, fees, new(big.Int).Set(work))
		if len(b.Transactions) > 2 {
			with++
		}
		if !reflect.DeepEqual(got, want) {
			for _, name := range infoMembers {
				if !reflect.DeepEqual(got[name], want[name]) {
					t.Errorf("block %d: %s is %v, expected %v", height, name, got[name], want[name])
				}
			}
		}
		if byHash := w.get("r/blockinfo/"+b.BlockHash().String(), infoMembers...); !reflect.DeepEqual(byHash, got) {
			t.Errorf("block %d by its hash: %v", height, byHash)
		}
	}
	if with == 0 {
		t.Error("no block has several transactions")
	}
	// ord's block_info_recursive_endpoint (src/subcommand/server.rs), with the values of regtest.
	_, body := w.ask("r/blockinfo/0", "")
	for _, part := range []string{`"difficulty":4.656542373906925e-10,`, `"previous_block":null,`, `"bits":545259519,`, `"version":1}`,
		`"chainwork":"0000000000000000000000000000000000000000000000000000000000000002",`, `"feerate_percentiles":[0,0,0,0,0],`} {
		if !strings.Contains(body, part) {
			t.Errorf("%s: expected %s", body, part)
		}
	}
}

// infoOf is the slow model.
func infoOf(blocks []*wire.MsgBlock, height int, fees map[string]int64, work *big.Int) map[string]any {
	h := &blocks[height].Header
	var times, all, rates []int64
	for _, b := range blocks[max(0, height-10) : height+1] {
		times = append(times, b.Header.Timestamp.Unix())
	}
	slices.Sort(times)
	type weighed struct{ rate, weight int64 }
	var list []weighed
	total, size, weight, largest := int64(0), 0, int64(0), 0
	for _, tx := range blocks[height].Transactions[1:] {
		fee, bytes := fees[tx.TxHash().String()], tx.SerializeSize()
		of := int64(3*tx.SerializeSizeStripped() + bytes)
		list = append(list, weighed{fee * 4 / of, of})
		all, rates = append(all, fee), append(rates, fee*4/of)
		total, size, weight, largest = total+fee, size+bytes, weight+of, max(largest, bytes)
	}
	slices.Sort(all)
	slices.SortFunc(list, func(a, b weighed) int {
		return bytes.Compare([]byte(fmt.Sprintf("%20d%20d", a.rate, a.weight)), []byte(fmt.Sprintf("%20d%20d", b.rate, b.weight)))
	})
	number := func(n int64) any { return float64(n) }
	average, averageRate, median, least, most, leastRate, mostRate := int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0)
	percentiles := []any{0.0, 0.0, 0.0, 0.0, 0.0}
	if n := len(all); n > 0 {
		average, averageRate, least, most = total/int64(n), total*4/weight, all[0], all[n-1]
		leastRate, mostRate = slices.Min(rates), slices.Max(rates)
		if median = all[n/2]; n%2 == 0 {
			median = (all[n/2-1] + all[n/2]) / 2
		}
		for i, part := range []float64{float64(weight) / 10, float64(weight) / 4, float64(weight) / 2, float64(weight) * 3 / 4, float64(weight) * 9 / 10} {
			passed := int64(0)
			for _, l := range list {
				if passed += l.weight; float64(passed) >= part {
					percentiles[i] = number(l.rate)
					break
				}
			}
		}
	}
	var next, previous any
	if height+1 < len(blocks) {
		next = blocks[height+1].BlockHash().String()
	}
	if height > 0 {
		previous = h.PrevBlock.String()
	}
	return map[string]any{
		"average_fee": number(average), "average_fee_rate": number(averageRate), "bits": float64(h.Bits),
		"chainwork":     hex.EncodeToString(work.FillBytes(make([]byte, 32))),
		"confirmations": float64(len(blocks) - height), "difficulty": 4.656542373906925e-10, "hash": h.BlockHash().String(),
		"feerate_percentiles": percentiles, "height": float64(height), "max_fee": number(most), "max_fee_rate": number(mostRate),
		"max_tx_size": float64(largest), "median_fee": number(median), "median_time": number(times[len(times)/2]),
		"merkle_root": h.MerkleRoot.String(), "min_fee": number(least), "min_fee_rate": number(leastRate), "next_block": next,
		"nonce": float64(h.Nonce), "previous_block": previous, "subsidy": float64(int64(50_0000_0000) >> (height / 150)),
		"target":    fmt.Sprintf("%064x", blockchain.CompactToBig(h.Bits)),
		"timestamp": number(h.Timestamp.Unix()), "total_fee": number(total), "total_size": float64(size), "total_weight": number(weight),
		"transaction_count": float64(len(blocks[height].Transactions)), "version": float64(uint32(h.Version)),
	}
}

var (
	blockMembers = []string{"best_height", "hash", "height", "inscriptions", "runes", "target", "transactions"}
	txMembers    = []string{"chain", "etching", "inscription_count", "transaction", "txid"}
)
