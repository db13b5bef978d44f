package core_test

import (
	"fmt"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// A wallet that scans for its addresses queries values that were never used. The answers are empty and not errors.
// Invalid values, invalid cursors and empty ranges are still errors.
func TestAValueThatWasNeverUsedHoldsNothing(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		ctx := t.Context()
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, v.NewGenerator(testseed.Of(t, 225)).Blocks(20), 7)
		for _, name := range modeltest.IndexNames {
			unused := name[:1] + "ffffffffff"
			value := fmt.Sprintf(`{"index":%q,"value":%q`, name, unused)
			find, history := value+`,"first_seen":null,"outputs":[],"next":null}`, value+`,"first_seen":null,"txs":[],"next":null}`
			balance, err := db.Balance(ctx, name, unused)
			want := value + `,"balance":"0","received":"0","sent":"0","tx_count":0,"output_count":0,"unspent_count":0,"assets":[]}`
			if err != nil || text(balance) != want {
				t.Errorf("balance: %s, %v; expected %s", text(balance), err, want)
			}
			balances, err := db.Balances(ctx, name, []string{unused, unused})
			if err != nil || text(balances) != "["+want+","+want+"]" {
				t.Errorf("balances: %s, %v", text(balances), err)
			}
			height := model.HeightPk(3)
			for _, r := range []query.Range{{}, {FromHeight: &height}} {
				for _, p := range []query.Page{{}, {Descending: true, Limit: 1}} {
					for _, unspent := range []bool{false, true} {
						a, err := db.Find(ctx, name, unused, query.Terms{Range: r, Unspent: unspent}, p)
						if err != nil || text(a) != find {
							t.Errorf("find: %s, %v; expected %s", text(a), err, find)
						}
					}
					a, err := db.History(ctx, name, unused, r, p)
					if err != nil || text(a) != history {
						t.Errorf("history: %s, %v; expected %s", text(a), err, history)
					}
				}
			}
			above := model.HeightPk(99)
			for what, c := range map[string]struct {
				code string
				ask  func() error
			}{
				"no value": {"bad_value", func() error { _, err := db.Balance(ctx, name, name[:1]); return err }},
				"no value in a list": {"bad_value", func() error {
					_, err := db.Balances(ctx, name, []string{unused, "?"})
					return err
				}},
				"a cursor for find": {"bad_cursor", func() error {
					_, err := db.Find(ctx, name, unused, query.Terms{}, query.Page{After: "AA"})
					return err
				}},
				"a cursor": {"bad_cursor", func() error {
					_, err := db.History(ctx, name, unused, query.Range{}, query.Page{After: "AA"})
					return err
				}},
				"a limit": {"bad_value", func() error {
					_, err := db.History(ctx, name, unused, query.Range{}, query.Page{Limit: -1})
					return err
				}},
				"a range": {"empty_range", func() error {
					_, err := db.History(ctx, name, unused, query.Range{FromHeight: &above}, query.Page{})
					return err
				}},
			} {
				if err := c.ask(); kind(err) != model.Usage || code(err) != c.code {
					t.Errorf("%s of %s: %v, expected %s", what, name, err, c.code)
				}
			}
		}
		if db.Chain().Traits().SpendIndex == "box" {
			if _, err := db.Output(ctx, "bffffffffff"); kind(err) != model.NotFound || code(err) != "unknown_output" {
				t.Errorf("the output of an unused box: %v", err)
			}
		}
		consistent(t, db)
	})
}
