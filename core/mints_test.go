package core_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The row of a mint or burn is found through the inputs and outputs of its transaction. Therefore a transaction whose
// mints do not balance is rejected, wherever its spent assets are stored, and an accepted one can be rolled back
// completely.
func TestMintsAddUp(t *testing.T) {
	ctx := context.Background()
	x := func(n int64) model.Mint { return model.Mint{Asset: []byte("x"), Amount: big.NewInt(n)} }
	held := func(amounts ...uint64) (outputs []model.Output) {
		for _, n := range amounts {
			outputs = append(outputs, model.Output{Assets: []model.Asset{{ID: []byte("x"), Amount: n}}})
		}
		return outputs
	}
	first := after(nil, 1, model.Tx{Hash: hash(7), Outputs: held(5), Mints: []model.Mint{x(5)}})
	five, nothing := model.Input{Tx: hash(7)}, model.Input{Tx: hash(1)}
	for what, c := range map[string]struct {
		tx      model.Tx
		implied bool
		says    string // empty: accepted
		net     string
	}{
		"a mint":                         {model.Tx{Inputs: []model.Input{nothing}, Outputs: held(2, 1), Mints: []model.Mint{x(3)}}, false, "", "3"},
		"a mint beside a move":           {model.Tx{Inputs: []model.Input{five}, Outputs: held(8), Mints: []model.Mint{x(3)}}, false, "", "3"},
		"a burn":                         {model.Tx{Inputs: []model.Input{five}, Outputs: held(0, 2), Mints: []model.Mint{x(-3)}}, false, "", "-3"},
		"a burn of all":                  {model.Tx{Inputs: []model.Input{five}, Outputs: held(0), Mints: []model.Mint{x(-5)}}, false, "", "-5"},
		"a mint that does not come out":  {model.Tx{Inputs: []model.Input{nothing}, Outputs: held(0), Mints: []model.Mint{x(3)}}, false, "loses 3", ""},
		"a mint half of which comes out": {model.Tx{Inputs: []model.Input{nothing}, Outputs: held(2), Mints: []model.Mint{x(3)}}, false, "loses 1", ""},
		"a mint more than which does":    {model.Tx{Inputs: []model.Input{nothing}, Outputs: held(4), Mints: []model.Mint{x(3)}}, false, "1 of the asset", ""},
		"a burn that does not go in":     {model.Tx{Inputs: []model.Input{nothing}, Outputs: held(0), Mints: []model.Mint{x(-3)}}, false, "without a mint", ""},
		"a burn of what comes out":       {model.Tx{Inputs: []model.Input{five}, Outputs: held(5), Mints: []model.Mint{x(-5)}}, false, "without a mint", ""},
		"two mints":                      {model.Tx{Inputs: []model.Input{nothing}, Outputs: held(7), Mints: []model.Mint{x(3), x(4)}}, false, "twice", ""},
		"implied, a burn":                {model.Tx{Inputs: []model.Input{five}, Outputs: held(1)}, true, "", "-4"},
		"implied, a burn of all":         {model.Tx{Inputs: []model.Input{five}, Outputs: held(0)}, true, "", "-5"},
		"implied, a mint partly burned":  {model.Tx{Inputs: []model.Input{five}, Outputs: held(6), Mints: []model.Mint{x(3)}}, true, "", "1"},
		"implied, a mint all burned":     {model.Tx{Inputs: []model.Input{five}, Outputs: held(5), Mints: []model.Mint{x(3)}}, true, "", ""},
		"implied, more burned":           {model.Tx{Inputs: []model.Input{five}, Outputs: held(4), Mints: []model.Mint{x(3)}}, true, "", "-1"},
		"implied, out of nothing":        {model.Tx{Inputs: []model.Input{five}, Outputs: held(6)}, true, "without a mint", ""},
	} {
		t.Run(what, func(t *testing.T) {
			v := modeltest.Variant{Coinbase: true, ByHand: true, Implied: c.implied}
			c.tx.Hash = hash(9)
			second := after(first, 2, c.tx)
			for _, together := range []bool{false, true} {
				db := open(t, memory.New(), v, 0)
				origin := dump(t, db)
				blocks := []*model.Block{first, second}
				if !together {
					appendAll(t, db, blocks[:1], 1)
					blocks = blocks[1:]
				}
				before := dump(t, db)
				err := db.Append(ctx, blocks)
				if c.says != "" {
					if code(err) != "bad_block" || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), hash(9).String()) {
						t.Errorf("%v, expected that %q", err, c.says)
					}
					same(t, "refused", dump(t, db), before)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				a, err := db.Tx(ctx, hash(9).String())
				got := ""
				for _, m := range a.Mints {
					got += m.Amount
				}
				if err != nil || got != c.net {
					t.Errorf("minted %q, expected %q, %v", got, c.net, err)
				}
				consistent(t, db)
				rollback(t, db, first.Point())
				same(t, "rolled back", dump(t, db), fresh(t, v, []*model.Block{first}))
				rollback(t, db, model.Point{})
				same(t, "rolled back to the origin", dump(t, db), origin)
			}
		})
	}
}

func code(err error) string {
	if err == nil {
		return "(no error)"
	}
	_, c := model.KindOf(err)
	return c
}
