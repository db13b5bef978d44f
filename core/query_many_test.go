package core_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// Batch queries return the same answers as single queries, in the order of the request, with null for missing items.
func TestBatchQueriesEqualSingleQueries(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 810)
		rng := rand.New(rand.NewPCG(n, 0))
		blocks := v.NewGenerator(n).Blocks(25)
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 7)
		r := newReference(v, blocks)

		var outputs, spends, refs, txs, hashes []string
		for _, o := range r.outputs() {
			if r.byHash[o.tx.Hash] != o.tx {
				continue // a later transaction has the same hash
			}
			a := r.output(o, true)
			ref := fmt.Sprintf("%s:%d", a.Tx, a.Index)
			if box, ok := a.Keys["box"].(string); ok && r.traits.SpendIndex == "box" && rng.IntN(2) == 0 {
				ref = box
			}
			refs = append(refs, ref)
			outputs = append(outputs, text(a))
			spends = append(spends, text(query.SpendingAnswer{Tx: a.Tx, Index: a.Index, SpentBy: *a.SpentBy}))
		}
		for _, tx := range r.txs {
			if r.byHash[tx.Hash] == tx {
				hashes, txs = append(hashes, r.hash(tx)), append(txs, text(r.tx(tx)))
			}
		}
		none := hash(200).String()
		for range 20 {
			var ask, wantOutputs, wantSpends []string
			for range rng.IntN(40) {
				i := rng.IntN(len(refs) + 2)
				if i >= len(refs) {
					ask = append(ask, []string{none + ":0", r.hash(r.txs[3]) + ":99999"}[i-len(refs)])
					wantOutputs, wantSpends = append(wantOutputs, "null"), append(wantSpends, "null")
					continue
				}
				ask, wantOutputs, wantSpends = append(ask, refs[i]), append(wantOutputs, outputs[i]), append(wantSpends, spends[i])
			}
			gotOutputs, err := db.Outputs(t.Context(), ask)
			alike(t, "outputs", texts(gotOutputs), err, wantOutputs)
			gotSpends, err := db.Spends(t.Context(), ask)
			alike(t, "spends", texts(gotSpends), err, wantSpends)

			var askTxs, wantTxs []string
			for range rng.IntN(20) {
				if i := rng.IntN(len(hashes) + 1); i < len(hashes) {
					askTxs, wantTxs = append(askTxs, hashes[i]), append(wantTxs, txs[i])
				} else {
					askTxs, wantTxs = append(askTxs, none), append(wantTxs, "null")
				}
			}
			gotTxs, err := db.Txs(t.Context(), askTxs)
			alike(t, "txs", texts(gotTxs), err, wantTxs)
		}
		for i, x := range r.indexes {
			var ask, want []string
			for _, value := range r.values(i) {
				ask, want = append(ask, x.Format([]byte(value))), append(want, text(r.balance(i, value)))
			}
			if x.Name == "tag" {
				ask, want = append(ask, "tff"), append(want, text(r.balance(i, "\xff")))
			}
			if len(ask) > query.MaxMany {
				ask, want = ask[:query.MaxMany], want[:query.MaxMany]
			}
			got, err := db.Balances(t.Context(), x.Name, ask)
			alike(t, "balances of "+x.Name, texts(got), err, want)
		}
		consistent(t, db)
	})
}

func alike(t *testing.T, what string, got []string, err error, want []string) {
	t.Helper()
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%s: %v\n got %.3000s\nwant %.3000s", what, err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestErrorsInAListNameTheEntry(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 811)).Blocks(5)
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 5)
	tx := db.Chain().FormatHash(blocks[1].Txs[0].Hash)
	many := make([]string, query.MaxMany+1)
	for what, c := range map[string]struct {
		place, code string
		ask         func() error
	}{
		"outputs":          {"outputs[1]", "bad_value", func() error { _, err := db.Outputs(t.Context(), []string{tx + ":0", tx + ":x"}); return err }},
		"spends":           {"outputs[0]", "bad_value", func() error { _, err := db.Spends(t.Context(), []string{"zz:0"}); return err }},
		"txs":              {"txs[2]", "bad_value", func() error { _, err := db.Txs(t.Context(), []string{tx, tx, tx[1:]}); return err }},
		"values":           {"values[0]", "bad_value", func() error { _, err := db.Balances(t.Context(), "tag", []string{"x"}); return err }},
		"index":            {"colour", "unknown_index", func() error { _, err := db.Balances(t.Context(), "colour", nil); return err }},
		"too many outputs": {"1001", "too_many", func() error { _, err := db.Outputs(t.Context(), many); return err }},
		"too many txs":     {"1001", "too_many", func() error { _, err := db.Txs(t.Context(), many); return err }},
		"too many values":  {"1001", "too_many", func() error { _, err := db.Balances(t.Context(), "tag", many); return err }},
	} {
		err := c.ask()
		if kind(err) != model.Usage || code(err) != c.code || !strings.Contains(err.Error(), c.place) {
			t.Errorf("%s: %v, expected %s at %s", what, err, c.code, c.place)
		}
	}
}
