package btcdtest_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testrun"
)

// The node verifies every spend. If it accepts the blocks, the signatures are valid.
func TestEveryScriptKindIsSpent(t *testing.T) {
	testrun.Slow(t)
	n := btcdtest.Start(t)
	n.MineEveryScript(t, 150)
	scripts := map[wire.OutPoint]string{}
	made, spent, within := map[string]int{}, map[string]int{}, 0
	widest := 0
	for _, raw := range n.Blocks(t) {
		here := map[wire.OutPoint]bool{}
		for i, tx := range btcdtest.Decode(t, raw).Transactions {
			for _, in := range tx.TxIn {
				if i > 0 {
					spent[scripts[in.PreviousOutPoint]]++
				}
				if here[in.PreviousOutPoint] {
					within++
				}
			}
			id := tx.TxHash()
			for j, out := range tx.TxOut {
				at := wire.OutPoint{Hash: id, Index: uint32(j)}
				scripts[at] = string(out.PkScript)
				made[string(out.PkScript)]++
				here[at] = true
			}
			widest = max(widest, len(tx.TxOut))
		}
	}
	for _, k := range btcdtest.Kinds() {
		if s := string(k.Script); spent[s] == 0 || spent[s] >= made[s] {
			t.Errorf("%s: %d created, %d spent", k.Name, made[s], spent[s])
		}
	}
	if within == 0 || widest < 1000 {
		t.Errorf("%d spends of outputs of the same block, %d outputs in one transaction at most", within, widest)
	}
}
