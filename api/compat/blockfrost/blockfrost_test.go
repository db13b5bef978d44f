package blockfrost_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// same fails the test if an answer differs from that of the model.
func (w *world) same(t *testing.T, endpoint string, want any) {
	t.Helper()
	got, expected := w.get(t, endpoint), generic(t, want)
	if !reflect.DeepEqual(got, expected) {
		t.Fatalf("%s: %s", endpoint, difference("answer", got, expected))
	}
}

// sameFields compares only the fields of want.
func (w *world) sameFields(t *testing.T, endpoint string, want object) {
	t.Helper()
	got := w.get(t, endpoint).(object)
	for name, v := range generic(t, want).(object) {
		if !reflect.DeepEqual(got[name], v) {
			t.Fatalf("%s: %s is %s, expected %s", endpoint, name, text(got[name]), text(v))
		}
	}
}

// difference describes the first difference of two values of JSON.
func difference(at string, got, want any) string {
	switch w := want.(type) {
	case object:
		g, _ := got.(object)
		for name := range w {
			if _, ok := g[name]; !ok || !reflect.DeepEqual(g[name], w[name]) {
				return difference(at+"."+name, g[name], w[name])
			}
		}
		if len(g) > len(w) {
			return fmt.Sprintf("%s has other fields: %s", at, text(g))
		}
	case []any:
		g, _ := got.([]any)
		for i := range min(len(g), len(w)) {
			if !reflect.DeepEqual(g[i], w[i]) {
				return difference(fmt.Sprintf("%s[%d]", at, i), g[i], w[i])
			}
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s has %d entries, expected %d: %s", at, len(g), len(w), text(g))
		}
	}
	return fmt.Sprintf("%s is %s, expected %s", at, text(got), text(want))
}

func text(v any) string { return fmt.Sprintf("%.3000v", v) }

// Answers equal those of the model, on real blocks: blocks and transactions, their parts, and the lists of random
// addresses, credentials, accounts, assets and policies.
func TestRealBlocks(t *testing.T) {
	w := preview(t, model.HeightPk(testrun.Amount(50_939, 4_000)))
	if !testing.Short() { // the answers need all blocks
		t.Run("real answers", w.realAnswers)
	}
	t.Run("blocks and transactions", w.blocksAndTransactions)
	t.Run("parts of transactions", w.partsOfTransactions)
	t.Run("labels of metadata", w.labels)
	t.Run("eras", w.eras)
	t.Run("epochs", w.epochs)
	t.Run("accounts, pools and scripts", w.subjects)
	t.Run("blocks of pools", w.blocksOfPools)
	t.Run("addresses", w.everyAddress)
	t.Run("lists", func(t *testing.T) { w.verify(t, testseed.Rand(t), testrun.Rounds(t, testrun.Amount(25, 10))) })
}

// everyAddress: each address of the chain is accepted by this API, by Kupo's, and by the server's own.
func (w *world) everyAddress(t *testing.T) {
	all := w.apis(t)
	seen := map[string]bool{}
	for _, o := range w.naive.outputs {
		text := o.text()
		if seen[text] {
			continue
		}
		seen[text] = true
		if code, body := all.ask(t, path+"/addresses/"+text); code != http.StatusOK {
			t.Errorf("%s: %d %.200s", text, code, body)
		}
		if code, body := all.ask(t, "/v1/test/find/address/"+text+"?limit=1"); code != http.StatusOK || strings.Contains(body, `"entries":[]`) {
			t.Errorf("v1: %s: %d %.200s", text, code, body)
		}
		code, body := all.ask(t, "/kupo/matches/"+text)
		if code != http.StatusOK || o.tx.block != nil && body == "[]" { // Kupo lists no outputs of the genesis
			t.Errorf("kupo: %s: %d %.200s", text, code, body)
		}
		if raw, err := address.Parse(address.Preview, text); err != nil || address.Format(address.Preview, raw) != text {
			t.Errorf("%s: %x, %v", text, raw, err)
		}
	}
	t.Logf("%d addresses", len(seen))
}

// eras compares the eras with those of preview: Alonzo from the first block, and Babbage from epoch 3.
func (w *world) eras(t *testing.T) {
	bound := func(epoch int) object { return object{"time": epoch * 86_400, "slot": epoch * 86_400, "epoch": epoch} }
	era := func(from, to int) object {
		return object{"start": bound(from), "end": bound(to), "parameters": object{"epoch_length": 86_400, "slot_length": 1, "safe_zone": 25_920}}
	}
	byron := object{"start": bound(0), "end": bound(0), "parameters": object{"epoch_length": 4_320, "slot_length": 20, "safe_zone": 864}}
	tip := w.naive.tip().header
	last := int(*tip.Epoch) + 1
	if tip.Slot+1+25_920 > uint64(last)*86_400 {
		last++
	}
	want := []any{byron, era(0, 0), era(0, 0), era(0, 0), era(0, 3), era(3, last)}
	if *tip.Epoch < 3 {
		want = append(want[:4], era(0, last))
	}
	w.same(t, "/network/eras", want)
}

func (w *world) blocksAndTransactions(t *testing.T) {
	rng := testseed.Rand(t)
	var txs []*naiveTx
	for _, b := range w.naive.blocks {
		txs = append(txs, b.txs...)
	}
	for i := range testrun.Rounds(t, testrun.Amount(80, 40)) {
		b := w.naive.blocks[rng.IntN(len(w.naive.blocks))]
		if i == 0 {
			b = w.naive.blocks[rng.IntN(3)] // near the genesis
		}
		ref := b.Hash.String()
		if rng.IntN(2) == 0 {
			ref = fmt.Sprint(b.Height)
		}
		want := w.naive.block(b)
		if got := w.get(t, "/blocks/"+ref).(object); strings.HasPrefix(got["slot_leader"].(string), "ShelleyGenesis-") {
			delete(want, "slot_leader")
		}
		w.sameFields(t, "/blocks/"+ref, want)
		w.sameFields(t, fmt.Sprintf("/blocks/slot/%d", b.header.Slot), want)
		w.sameFields(t, fmt.Sprintf("/blocks/epoch/%d/slot/%d", *b.header.Epoch, want["epoch_slot"]), want)
		w.neighbours(t, b, 1+rng.IntN(5), 1+rng.IntN(3))
		w.transactionsOf(t, b)

		tx := txs[rng.IntN(len(txs))]
		id := tx.Hash.String()
		w.sameFields(t, "/txs/"+id, tx.answer())
		w.same(t, "/txs/"+id+"/utxos", w.naive.utxos(tx))
		w.same(t, "/txs/"+id+"/cbor", object{"cbor": hex.EncodeToString(tx.Raw)})
	}
}

// neighbours compares pages of the blocks before and after b.
func (w *world) neighbours(t *testing.T, b *naiveBlock, count, page int) {
	t.Helper()
	at := slices.Index(w.naive.blocks, b)
	hashes := func(from, to int) any {
		all := []any{}
		for i := max(from, -1); i < min(to, len(w.naive.blocks)); i++ {
			if i < 0 {
				all = append(all, previewGenesis)
			} else {
				all = append(all, w.naive.blocks[i].Hash.String())
			}
		}
		return all
	}
	for _, c := range []struct {
		name string
		want any
	}{
		{"next", hashes(at+1+(page-1)*count, at+1+page*count)},
		{"previous", hashes(at-page*count, at-(page-1)*count)},
	} {
		endpoint := fmt.Sprintf("/blocks/%s/%s?count=%d&page=%d", b.Hash, c.name, count, page)
		got := []any{}
		for _, e := range w.get(t, endpoint).([]any) {
			got = append(got, e.(object)["hash"])
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Fatalf("%s: %v, expected %v", endpoint, got, c.want)
		}
	}
}

// transactionsOf compares the lists of a block.
func (w *world) transactionsOf(t *testing.T, b *naiveBlock) {
	t.Helper()
	ids, raws := []any{}, []any{}
	addresses := map[string][]any{}
	for _, tx := range b.txs {
		ids = append(ids, tx.Hash.String())
		raws = append(raws, object{"tx_hash": tx.Hash.String(), "cbor": hex.EncodeToString(tx.Raw)})
		seen := map[string]bool{}
		for _, o := range slices.Concat(tx.spent, tx.created) {
			if a := o.text(); !seen[a] {
				seen[a] = true
				addresses[a] = append(addresses[a], object{"tx_hash": tx.Hash.String()})
			}
		}
	}
	var order []string
	for a := range addresses {
		order = append(order, a)
	}
	slices.Sort(order)
	list := []any{}
	for _, a := range order {
		list = append(list, object{"address": a, "transactions": addresses[a]})
	}
	w.same(t, "/blocks/"+b.Hash.String()+"/txs", ids[:min(len(ids), 100)])
	w.same(t, "/blocks/"+b.Hash.String()+"/txs/cbor", raws[:min(len(raws), 100)])
	w.same(t, "/blocks/"+b.Hash.String()+"/addresses", list[:min(len(list), 100)])
	slices.Reverse(ids)
	w.same(t, "/blocks/"+b.Hash.String()+"/txs?order=desc&count=2", ids[:min(len(ids), 2)])
}

// Errors have the status and the text of Blockfrost.
func TestErrors(t *testing.T) {
	w := preview(t, 100)
	zeros := strings.Repeat("0", 64)
	for _, c := range []struct {
		endpoint string
		status   int
		says     string
	}{
		{"/nothing", 400, "Invalid path. Please check https://docs.blockfrost.io/"},
		{"/blocks", 400, "Invalid path. Please check https://docs.blockfrost.io/"},
		{"/blocks/xyz", 400, "Missing or malformed block hash."},
		{"/blocks/", 400, "Invalid path. Please check https://docs.blockfrost.io/"},
		{"/blocks/-1", 400, "Missing, out of range or malformed block number."},
		{"/blocks/2147483648", 400, "Missing, out of range or malformed block number."},
		{"/blocks/99999999999999999999", 400, "Missing, out of range or malformed block number."},
		{"/blocks/101", 404, "The requested component has not been found."},
		{"/blocks/" + zeros, 404, "The requested component has not been found."},
		{"/blocks/1/txs?count=0", 400, "querystring/count must be >= 1"},
		{"/blocks/1/txs?count=101", 400, "querystring/count must be <= 100"},
		{"/blocks/1/txs?count=x", 400, "querystring/count must be integer"},
		{"/blocks/1/txs?page=21474837", 400, "querystring/page must be <= 21474836"},
		{"/blocks/1/txs?page=0", 400, "querystring/page must be >= 1"},
		{"/blocks/1/txs?order=up", 400, "querystring/order must be equal to one of the allowed values"},
		{"/txs/" + zeros, 404, "The requested component has not been found."},
		{"/metadata/txs/labels/4294967295", 404, "The requested component has not been found."},
		{"/metadata/txs/labels/9223372036854775807/cbor", 404, "The requested component has not been found."},
		{"/epochs/1/stakes", 501, "needs the stake distribution"},
		{"/network", 501, "needs the state of all accounts"},
	} {
		status, body := w.ask(t, "GET", c.endpoint)
		e, _ := parsed(t, c.endpoint, body).(object)
		message, _ := e["message"].(string)
		if status != c.status || fmt.Sprint(e["status_code"]) != fmt.Sprint(c.status) || !strings.HasPrefix(message, c.says) || e["error"] == "" {
			t.Errorf("%s: %d %s, expected %d with %q", c.endpoint, status, body, c.status, c.says)
		}
	}
	if status, body := w.ask(t, "POST", "/blocks/latest"); status != 400 {
		t.Errorf("POST: %d %s", status, body)
	}
}
