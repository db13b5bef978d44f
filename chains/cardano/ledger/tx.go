package ledger

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// Keys of a transaction body (rule transaction_body of the ledger's CDDL) that the decoder reads.
const (
	bodyInputs           = 0
	bodyOutputs          = 1
	bodyFee              = 2
	bodyMint             = 9
	bodyCollateral       = 13
	bodyCollateralReturn = 16
	bodyTotalCollateral  = 17

	bodyRequired = 1<<bodyInputs | 1<<bodyOutputs | 1<<bodyFee
)

// bodies reads the transaction bodies of a block since Shelley.
func (d *Decoder) bodies() {
	w := &d.w
	for n := w.Array("transaction bodies"); w.More(&n); {
		start, i := w.Offset, len(d.Txs)
		tx := d.tx(i < len(d.Failed) && d.Failed[i])
		if w.Err != nil {
			w.Err = fmt.Errorf("transaction %d: %w", i, w.Err)
			return
		}
		tx.Hash = blake2b.Sum256(w.Data[start:w.Offset])
		d.Txs = append(d.Txs, tx)
		if d.needsParts() && i == len(d.Parts) { // bodies are read again if a transaction failed
			d.Parts = append(d.Parts, Parts{Body: w.Data[start:w.Offset]})
		}
	}
}

// tx reads a transaction body. If the scripts of the transaction failed, it spends its collateral and makes the
// collateral return, whose index is the number of its regular outputs; it mints nothing.
func (d *Decoder) tx(failed bool) (tx model.Tx) {
	w := &d.w
	seen := uint64(0)
	regular := uint32(0)
	for n := w.Map("transaction body"); w.More(&n); {
		at := w.Offset
		key := w.Uint("key of the transaction body")
		if key < 64 {
			if seen>>key&1 != 0 {
				w.FailAt(at, "duplicate key %d in the transaction body", key)
			}
			seen |= 1 << key
		}
		switch {
		case key == bodyInputs && !failed, key == bodyCollateral && failed:
			tx.Inputs = d.inputSet()
		case key == bodyOutputs && !failed:
			first := len(d.outputs)
			for n := w.Array("outputs"); w.More(&n); {
				d.output()
			}
			tx.Outputs = d.outputs[first:len(d.outputs):len(d.outputs)]
		case key == bodyOutputs:
			for n := w.Array("outputs"); w.More(&n); regular++ {
				w.Skip("output")
			}
		case key == bodyFee && !failed, key == bodyTotalCollateral && failed:
			tx.Fee = model.Fee{Stated: true, Amount: w.Uint("fee")}
		case key == bodyMint && !failed:
			tx.Mints = d.minted()
		case key == bodyCollateralReturn && failed:
			first := len(d.outputs)
			d.output()
			tx.Outputs = d.outputs[first:len(d.outputs):len(d.outputs)]
		case key == bodyNested:
			w.FailAt(at, "%w", model.Newer(unknownEra, "a transaction with nested transactions"))
		default:
			w.Skip("transaction body")
		}
	}
	if seen&bodyRequired != bodyRequired {
		w.Fail("expected inputs, outputs and a fee in the transaction body")
	}
	if len(tx.Outputs) > 0 {
		tx.FirstOutput = regular
	}
	return tx
}

// inputSet reads inputs. They are a set, which could contain duplicates before Conway.
func (d *Decoder) inputSet() []model.Input {
	w := &d.w
	first := len(d.inputs)
	ascending := true
	for n := w.Set("inputs"); w.More(&n); {
		in := ReadOutpoint(w)
		if w.Err != nil {
			return nil
		}
		if ascending && len(d.inputs) > first && CompareInputs(d.inputs[len(d.inputs)-1], in) >= 0 {
			ascending = false
		}
		if !ascending && slices.ContainsFunc(d.inputs[first:], func(i model.Input) bool { return CompareInputs(i, in) == 0 }) {
			continue
		}
		d.inputs = append(d.inputs, in)
	}
	return d.inputs[first:len(d.inputs):len(d.inputs)]
}

// CompareInputs orders inputs as the ledger does.
func CompareInputs(a, b model.Input) int {
	if c := bytes.Compare(a.Tx[:], b.Tx[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.Index, b.Index)
}

// ReadOutpoint reads [transaction, index].
func ReadOutpoint(w *cbor.Walker) (in model.Input) {
	pair := w.Array("outpoint")
	w.Field(&pair, "transaction of the outpoint")
	in.Tx = w.Hash("transaction of the outpoint")
	w.Field(&pair, "index of the outpoint")
	at := w.Offset
	index := w.Uint("index of the outpoint")
	if index>>32 != 0 {
		w.FailAt(at, "index %d of an outpoint, above 2^32-1", index)
	}
	in.Index = uint32(index)
	w.End(&pair, "outpoint")
	return in
}

// minted reads the mint field, whose amounts are signed.
func (d *Decoder) minted() []model.Mint {
	firstAsset, first := len(d.assets), len(d.mints)
	d.multiAsset(true)
	for _, a := range d.assets[firstAsset:] {
		d.mints = append(d.mints, model.Mint{Asset: a.ID, Amount: big.NewInt(int64(a.Amount))})
	}
	d.assets = d.assets[:firstAsset]
	return d.mints[first:len(d.mints):len(d.mints)]
}
