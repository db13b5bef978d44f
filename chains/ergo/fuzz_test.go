package ergo

import (
	"reflect"
	"strings"
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// FuzzBlock: the decoder returns a block or an error, and never panics.
func FuzzBlock(f *testing.F) {
	for version := byte(1); version <= 2; version++ {
		f.Add(jsonOf(f, handmade(f, version, aTx())))
	}
	f.Add([]byte(`{"header":null,"blockTransactions":{"transactions":[]},"x":"\u00e9"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := decoderOf(t, valueNames...).block(raw)
		if err != nil {
			if kind, code := model.KindOf(err); b != nil || kind != model.BadSource || code != "bad_block" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("block %v with error %q", b, err)
			}
			return
		}
		if hash := model.Hash(sigma.HeaderID(b.Header)); hash != b.Hash {
			t.Errorf("the header of %s has the hash %s", b.Hash, hash)
		}
		if _, err := parseHeader(networks[0], b.Header); err != nil {
			t.Error(err)
		}
	})
}

// FuzzTransaction puts inputs and outputs into a valid block, because the fuzzer cannot find matching ids. The decoded
// block has the same inputs and outputs.
func FuzzTransaction(f *testing.F) {
	tx := aTx()
	o := txObject(&tx, sigma.ID{})
	f.Add(jsonOf(f, o["inputs"]), jsonOf(f, o["outputs"]), byte(1))
	f.Add([]byte(`[{"boxId":"`+digits(32)+`"}]`), []byte(`[{"boxId":"`+digits(32)+`","value":"7","ergoTree":"00","creationHeight":1,"additionalRegisters":{"R4":{"serializedValue":"0402"}}}]`), byte(4))
	f.Fuzz(func(t *testing.T, inputs, outputs []byte, version byte) {
		version = max(version, 1)
		d := decoderOf(t, valueNames...)
		d.reset(outputs)
		var tx sigma.Tx
		tx.Outputs, _ = d.readOutputs()
		outputsErr := d.s.err
		d.s = scanner{b: inputs}
		tx.Inputs = d.readInputs()
		if d.s.err != nil || outputsErr != nil || len(tx.Inputs) == 0 {
			return
		}
		for i := range tx.Inputs {
			for j, v := range tx.Inputs[i].Extension {
				for _, before := range tx.Inputs[i].Extension[:j] {
					if before.ID >= v.ID {
						return // encoding/json removes duplicates and sorts the members
					}
				}
				if j > 8 {
					return
				}
			}
			if v := tx.Inputs[i].Extension; len(v) > 0 && v[len(v)-1].ID > 9 {
				return
			}
		}
		raw := jsonOf(t, handmade(t, version, tx))
		again := decoderOf(t, valueNames...)
		b, err := again.block(raw)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Txs) != 1 || len(b.Txs[0].Outputs) != len(tx.Outputs) || len(b.Txs[0].Inputs) != len(tx.Inputs) {
			t.Fatalf("%+v", b.Txs)
		}
		for i := range tx.Outputs {
			if got, want := again.txs[0].Outputs[i], tx.Outputs[i]; got.Value != want.Value || string(got.Tree) != string(want.Tree) ||
				len(got.Tokens) != len(want.Tokens) || len(got.Registers) != len(want.Registers) ||
				len(want.Registers) > 0 && !reflect.DeepEqual(got.Registers, want.Registers) {
				t.Errorf("output %d is %+v, expected %+v", i, got, want)
			}
			for _, k := range b.Txs[0].Outputs[i].Keys {
				if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize {
					t.Errorf("output %d has a value of %d bytes", i, len(k.Value))
				}
			}
		}
	})
}

// FuzzTokenInfo: registers can have any content.
func FuzzTokenInfo(f *testing.F) {
	f.Add([]byte("\x03\x0e\x01x\x02\x04\x02\x03\x0e\x012"))
	f.Fuzz(func(t *testing.T, info []byte) {
		if a := describeToken(info); a.Decimals != nil && (*a.Decimals < 0 || *a.Decimals > maxDecimals) {
			t.Errorf("%q has %d decimals", info, *a.Decimals)
		}
	})
}
