package cardano

import (
	"testing"

	"birthmark/model"
)

// Redeemers count sorted inputs. The transaction of preview has its inputs in another order, and one redeemer.
func TestRedeemersNameTheOutputThatTheyAreFor(t *testing.T) {
	const id = "9c265166d52fc42595aaf6c560512cc5fb1d7cc6b51dd6d1dc1d322030a35d8c"
	c, err := New("preview")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	chunks(t, func(_, network string, blocks [][]byte) {
		if network != "preview" || found {
			return
		}
		for _, raw := range blocks {
			b := whole(t, network, raw)
			for i := range b.Txs {
				tx := &b.Txs[i]
				if tx.Hash.String() != id {
					continue
				}
				found = true
				d, err := c.(model.TxDescriber).DescribeTx(tx.Raw, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(d.Redeemers) != 1 || d.Redeemers[0].Index != 1 || d.Redeemers[0].Output == nil {
					t.Fatalf("%+v", d.Redeemers)
				}
				o := d.Redeemers[0].Output
				if o.Tx != tx.Inputs[0].Tx.String() || o.Index != int(tx.Inputs[0].Index) {
					t.Errorf("redeemer of %+v, expected input 0, %+v", o, tx.Inputs[0])
				}
			}
		}
	})
	if !found {
		t.Errorf("no transaction %s", id)
	}
}
