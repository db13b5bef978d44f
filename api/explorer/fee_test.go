package explorer

import (
	"net/http"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
)

var bitcoinUnit = model.Traits{Unit: model.Unit{Symbol: "BTC", Decimals: 8, Smallest: "sat"}}

// weighing is a chain whose transactions have a weight of 573.
type weighing struct{ model.Chain }

func (weighing) Traits() model.Traits { return bitcoinUnit }

// DescribeTx returns the details of a transaction with one input and one output.
func (weighing) DescribeTx([]byte, []map[string]any, []map[string]any) (*model.TxDescription, error) {
	return &model.TxDescription{
		TxDetails: model.TxDetails{Version: new(uint32(2)), Locktime: new(uint32(500)), Weight: 573, VSize: 144},
		Inputs:    []model.InputDetails{{Sequence: new(uint32(0xfffffffd)), ScriptSig: new("0102"), Witness: []string{"0304"}}},
		Outputs:   []model.OutputDetails{{Script: new("51"), Type: "nonstandard"}},
	}, nil
}

// plain is a chain without weights.
type plain struct{ model.Chain }

func (plain) Traits() model.Traits { return bitcoinUnit }

// The fee rate is per virtual byte if the chain has weights, otherwise per byte.
func TestTheFeeRateIsPerVirtualByte(t *testing.T) {
	v := byHand
	v.Raw = true
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(500), Raw: make([]byte, 100)})
	second := blockOfTxs(first, model.Tx{Outputs: outputs(50), Raw: make([]byte, 100)},
		model.Tx{Inputs: []model.Input{{Tx: first.Txs[0].Hash}}, Outputs: outputs(400), Raw: make([]byte, 250)})
	path := "/made-up/tx/" + second.Txs[1].Hash.String()
	for _, c := range []struct {
		chain model.Chain
		has   []string
		not   string
	}{
		{weighing{v.Chain("one")},
			[]string{"Fee0.00000100 BTC, 0.694 sat/vB", "Size250 bytes", "144 vB", "weight 573, 107 bytes without witnesses", "QR code", "Version2", "Lock time500",
				"sequence0xfffffffd", "script in hex0102", "witness 00304", "typenonstandard", "script in hex51"}, "sat/B"},
		{plain{v.Chain("one")}, []string{"Fee0.00000100 BTC, 0.400 sat/B", "Size250 bytes"}, "irtual"},
	} {
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: c.chain, Raw: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Append(t.Context(), []*model.Block{first, second}); err != nil {
			t.Fatal(err)
		}
		served := chainOf("made-up", db, nil)
		served.Model = c.chain
		d := read(t, explorerOf(t, served), path, http.StatusOK)
		d.has(t, c.has...)
		if strings.Contains(d.main(), c.not) {
			t.Errorf("the page contains %q: %s", c.not, d.main())
		}
	}
}
