package query_test

import (
	"reflect"
	"slices"
	"testing"

	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The parties of a transaction are the values in its first inputs and outputs, for chains of every kind and any number.
func TestPartiesAreThoseOfTheTransaction(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 61)).Blocks(40)
		db := coretest.Open(t, memory.New(), v, 1<<20)
		coretest.AppendAll(t, db, blocks, 7)
		var hashes []string
		var txs []*query.TxAnswer
		for _, b := range blocks {
			for i := range b.Txs {
				hash := db.Chain().FormatHash(b.Txs[i].Hash)
				if slices.Contains(hashes, hash) {
					continue
				}
				tx, err := db.Tx(t.Context(), hash)
				if err != nil {
					t.Fatal(err)
				}
				hashes, txs = append(hashes, hash), append(txs, tx)
			}
		}
		hashes, txs = hashes[:min(len(hashes), query.MaxMany)], txs[:min(len(txs), query.MaxMany)]
		shared := 0
		for _, index := range db.Indexes() {
			for _, most := range []int{1, 2, 5, 1000} {
				got, err := db.Parties(t.Context(), index, hashes, most)
				if err != nil {
					t.Fatal(err)
				}
				for i, tx := range txs {
					var want query.Parties
					want.Spent, want.MoreSpent = valuesIn(index, most, len(tx.Inputs), func(n int) *query.OutputAnswer { return &tx.Inputs[n].Output })
					want.Created, want.MoreCreated = valuesIn(index, most, len(tx.Outputs), func(n int) *query.OutputAnswer { return &tx.Outputs[n] })
					if !reflect.DeepEqual(got[i], want) {
						t.Errorf("%s of %s, at most %d: %+v, expected %+v", index, tx.Hash, most, got[i], want)
					}
					if len(want.Spent) > 0 && len(want.Created) > 0 {
						shared++
					}
				}
			}
		}
		if len(db.Indexes()) > 0 && shared == 0 {
			t.Error("no transaction has parties on both sides")
		}
		if none, err := db.Parties(t.Context(), db.Indexes()[0], nil, 3); err != nil || len(none) > 0 {
			t.Errorf("of no transactions: %v, %v", none, err)
		}
		if _, err := db.Parties(t.Context(), "nothing", hashes[:1], 3); !isCode(err, model.Usage, "unknown_index") {
			t.Errorf("of an unknown index: %v", err)
		}
		unknown := db.Chain().FormatHash(model.Hash{1})
		if _, err := db.Parties(t.Context(), db.Indexes()[0], []string{unknown}, 3); !isCode(err, model.NotFound, "unknown_tx") {
			t.Errorf("of an unknown transaction: %v", err)
		}
	})
}

func isCode(err error, kind model.ErrorKind, code string) bool {
	k, c := model.KindOf(err)
	return k == kind && c == code
}

// valuesIn returns the different values of an index in the first most of n outputs, and whether there are more outputs.
func valuesIn(index string, most, n int, at func(int) *query.OutputAnswer) (values []string, more bool) {
	for i := range min(n, most) {
		list, _ := at(i).Keys[index].([]string)
		if one, ok := at(i).Keys[index].(string); ok {
			list = []string{one}
		}
		for _, value := range list {
			if !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	return values, n > most
}
