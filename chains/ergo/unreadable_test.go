package ergo

import (
	"bytes"
	"testing"

	"birthmark/chains/ergo/sigma"
)

// A transaction whose variables have no clear ends has an answer without details.
func TestUnreadableTransactionsHaveAnEmptyDescription(t *testing.T) {
	tx := aTx()
	for range 300 {
		tx.Inputs = append(tx.Inputs, sigma.Input{Extension: []sigma.Variable{{ID: 1, Value: bytes.Repeat([]byte{0xff}, 20)}}})
	}
	var e sigma.Encoder
	raw := e.AppendTx(nil, &tx, true)
	d, err := newChain(networks[0]).DescribeTx(raw, nil)
	if err != nil || d.Inputs != nil || d.Outputs != nil {
		t.Errorf("the description is %+v, its error %v", d, err)
	}
}
