package bitcoin

import (
	"reflect"
	"slices"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Outside of its block a transaction has the same values, also of custom indexes, except for values that depend on the
// block.
func TestUnconfirmedTransactionsHaveTheValuesOfConfirmedOnes(t *testing.T) {
	c := define(t, "mainnet",
		model.Definition{Name: "pushes", Kind: model.ManyValued, Value: "output.pushes"},
		model.Definition{Name: "weight", Value: "tx.weight"},
		model.Definition{Name: "keys", Kind: model.ManyValued, When: "not tx.coinbase", Value: "tx.inputs[0].keys"},
		model.Definition{Name: "day", Value: "block.time / 86400"},
		model.Definition{Name: "position", When: "tx.index > 0", Value: "tx.index"},
	)
	names := append(slices.Clone(allIndexes), "pushes", "day", "weight", "position", "keys")
	needBlock := []int{slices.Index(names, "day"), slices.Index(names, "position")}
	decoders, err := c.decoders(names, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	inBlock, alone := decoders(), decoders()
	input := readData(t, "bitcoin-core", "block413567.raw")
	b, err := inBlock.Block(input, 413567)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for i := range b.Txs[1:] {
		want := &b.Txs[i+1]
		for o := range want.Outputs {
			keys := want.Outputs[o].Keys
			all := len(keys)
			keys = slices.DeleteFunc(keys, func(k model.Key) bool { return slices.Contains(needBlock, k.Index) })
			want.Outputs[o].Keys = keys
			left += all - len(keys)
		}
		got, err := alone.Tx(slices.Clone(want.Raw))
		if err != nil {
			t.Fatalf("transaction %d: %v", i+1, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("transaction %d %s:\n%+v\nin its block:\n%+v", i+1, block.FormatHash(want.Hash), got, want)
		}
		// The decoder can be used for a block again.
		if i == 0 {
			if _, err := alone.Block(input, 413567); err != nil {
				t.Fatal(err)
			}
		}
	}
	if left < 2*len(b.Txs) {
		t.Errorf("only %d values depend on the block", left)
	}
}

func TestMalformedUnconfirmedTransactionsAreErrors(t *testing.T) {
	d, err := newDecoder(define(t, "mainnet").net, allIndexes)
	if err != nil {
		t.Fatal(err)
	}
	input := readData(t, "bitcoin-core", "block413567.raw")
	decoders, err := define(t, "mainnet").decoders(nil, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := decoders().Block(input, 413567)
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range b.Txs[1:50] {
		for size := range tx.Raw {
			if _, err := d.Tx(tx.Raw[:size]); err == nil {
				t.Fatalf("%d of %d bytes are accepted as a transaction", size, len(tx.Raw))
			}
		}
		if _, err := d.Tx(append(slices.Clone(tx.Raw), 0)); err == nil {
			t.Fatal("an extra byte after the transaction is accepted")
		}
		size, err := block.Bitcoin.TxSize(append(slices.Clone(tx.Raw), 1, 2, 3))
		if err != nil || size != len(tx.Raw) {
			t.Fatalf("a transaction of %d bytes has a size of %d, %v", len(tx.Raw), size, err)
		}
	}
	if _, err := d.Tx(b.Txs[0].Raw); err == nil {
		t.Error("a coinbase is accepted as an unconfirmed transaction")
	}
}
