package cardano

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage/memory"
)

// A stake address as a value of address has the sums and lists of all addresses with its credential, on each branch of a
// reorganization.
func TestStakeAddressesAcrossReorganizations(t *testing.T) {
	for _, depth := range []int{1, testrun.Amount(8, 3)} {
		network, ours, theirs := branches(t, depth)
		c, err := New(network)
		if err != nil {
			t.Fatal(err)
		}
		for _, keep := range []model.IndexOptions{{}, {Balance: true, Unspent: true, History: true}} {
			db, err := core.Open(t.Context(), memory.New(), core.Options{
				Chain: c, Indexes: []string{"address", "stake_credential"}, Keep: map[string]model.IndexOptions{"stake_credential": keep},
			})
			if err != nil {
				t.Fatal(err)
			}
			var answers []string
			for _, uri := range []string{ours, theirs, ours} {
				src, err := c.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: db.Indexes()})
				if err != nil {
					t.Fatal(err)
				}
				err = core.Sync(t.Context(), db, src, core.SyncOptions{})
				src.Close()
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, stakeAnswers(t, db))
			}
			if answers[0] != answers[2] || answers[0] == answers[1] {
				t.Errorf("the answers before the reorganizations\n%s, on the other branch\n%s, and again\n%s", answers[0], answers[1], answers[2])
			}
			coretest.Consistent(t, db)
		}
	}
}

// stakeAnswers compares the answers about every stake address with the outputs of all addresses, and returns the balances.
func stakeAnswers(t *testing.T, db *core.DB) (all string) {
	t.Helper()
	type sums struct{ received, balance, outputs uint64 }
	want := map[string]*sums{}
	addresses, err := db.Values(t.Context(), "address", query.Page{Limit: query.MaxLimit})
	if err != nil || addresses.Next != nil {
		t.Fatal("too many addresses: ", err)
	}
	for _, a := range addresses.Values {
		found, err := db.Find(t.Context(), "address", a.Value, query.Terms{}, query.Page{Limit: query.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found.Outputs {
			stake, ok := o.Keys["stake_credential"].(string)
			if !ok {
				continue
			}
			if want[stake] == nil {
				want[stake] = &sums{}
			}
			value, err := strconv.ParseUint(o.Value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			want[stake].received += value
			want[stake].outputs++
			if o.SpentBy.Value == nil {
				want[stake].balance += value
			}
		}
	}
	if len(want) == 0 {
		t.Fatal("no output has a stake credential")
	}
	for _, stake := range slices.Sorted(maps.Keys(want)) {
		w := want[stake]
		b, err := db.Balance(t.Context(), "address", stake)
		if err != nil {
			t.Fatal(err)
		}
		f, err := db.Find(t.Context(), "address", stake, query.Terms{}, query.Page{Limit: query.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		h, err := db.History(t.Context(), "address", stake, query.Range{}, query.Page{Limit: query.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		balance, received := strconv.FormatUint(w.balance, 10), strconv.FormatUint(w.received, 10)
		if b.Index != "stake_credential" || b.Balance != balance || b.Received != received || b.OutputCount != w.outputs ||
			uint64(len(f.Outputs)) != w.outputs || uint64(len(h.Txs)) != b.TxCount || h.Txs[len(h.Txs)-1].Balance != balance {
			t.Errorf("%s: %+v, %d outputs, %d transactions, expected %+v", stake, b, len(f.Outputs), len(h.Txs), w)
		}
		all += stake + " " + balance + "\n"
	}
	return all
}
