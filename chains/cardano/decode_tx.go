package cardano

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// Keys of a transaction body (rule transaction_body of the ledger's CDDL) that are looked at.
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

// bodies takes the transaction bodies of a block since Shelley.
func (d *decoder) bodies() {
	w := &d.w
	for n := w.array("transaction bodies"); w.more(&n); {
		start, i := w.at, len(d.txs)
		tx := d.tx(i < len(d.failed) && d.failed[i])
		if w.err != nil {
			w.err = fmt.Errorf("transaction %d: %w", i, w.err)
			return
		}
		tx.Hash = blake2b.Sum256(w.b[start:w.at])
		d.txs = append(d.txs, tx)
		if d.needsParts() && i == len(d.parts) { // bodies are walked over again where one of them failed
			d.parts = append(d.parts, parts{body: w.b[start:w.at]})
		}
	}
}

// tx takes a transaction body. One whose scripts failed spends its collateral and makes the collateral's return,
// whose index is the number of the outputs it would have made; it mints nothing.
func (d *decoder) tx(failed bool) (tx model.Tx) {
	w := &d.w
	seen := uint64(0)
	regular := uint32(0)
	for n := w.pairs("transaction body"); w.more(&n); {
		at := w.at
		key := w.uint("key of the transaction body")
		if key < 64 {
			if seen>>key&1 != 0 {
				w.failAt(at, "key %d stands twice in the transaction body", key)
			}
			seen |= 1 << key
		}
		switch {
		case key == bodyInputs && !failed, key == bodyCollateral && failed:
			tx.Inputs = d.inputSet()
		case key == bodyOutputs && !failed:
			first := len(d.outputs)
			for n := w.array("outputs"); w.more(&n); {
				d.output()
			}
			tx.Outputs = d.outputs[first:len(d.outputs):len(d.outputs)]
		case key == bodyOutputs:
			for n := w.array("outputs"); w.more(&n); regular++ {
				w.skip("output")
			}
		case key == bodyFee && !failed, key == bodyTotalCollateral && failed:
			tx.Fee = model.Fee{Stated: true, Amount: w.uint("fee")}
		case key == bodyMint && !failed:
			tx.Mints = d.minted()
		case key == bodyCollateralReturn && failed:
			first := len(d.outputs)
			d.output()
			tx.Outputs = d.outputs[first:len(d.outputs):len(d.outputs)]
		default:
			w.skip("transaction body")
		}
	}
	if seen&bodyRequired != bodyRequired {
		w.fail("expected inputs, outputs and a fee in the transaction body")
	}
	if len(tx.Outputs) > 0 {
		tx.FirstOutput = regular
	}
	return tx
}

// inputSet takes inputs. They are a set, which before Conway might name a member again.
func (d *decoder) inputSet() []model.Input {
	w := &d.w
	first := len(d.inputs)
	ascending := true
	for n := w.set("inputs"); w.more(&n); {
		in := readOutpoint(w)
		if w.err != nil {
			return nil
		}
		if ascending && len(d.inputs) > first && compareInputs(d.inputs[len(d.inputs)-1], in) >= 0 {
			ascending = false
		}
		if !ascending && slices.ContainsFunc(d.inputs[first:], func(i model.Input) bool { return compareInputs(i, in) == 0 }) {
			continue
		}
		d.inputs = append(d.inputs, in)
	}
	return d.inputs[first:len(d.inputs):len(d.inputs)]
}

func compareInputs(a, b model.Input) int {
	if c := bytes.Compare(a.Tx[:], b.Tx[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.Index, b.Index)
}

// outpoint takes [transaction, index].
func readOutpoint(w *walker) (in model.Input) {
	pair := w.array("outpoint")
	w.field(&pair, "transaction of the outpoint")
	in.Tx = w.hash("transaction of the outpoint")
	w.field(&pair, "index of the outpoint")
	at := w.at
	index := w.uint("index of the outpoint")
	if index>>32 != 0 {
		w.failAt(at, "index %d of an outpoint, above 2^32-1", index)
	}
	in.Index = uint32(index)
	w.end(&pair, "outpoint")
	return in
}

// minted takes the mint field, whose amounts have signs.
func (d *decoder) minted() []model.Mint {
	firstAsset, first := len(d.assets), len(d.mints)
	d.multiAsset(true)
	for _, a := range d.assets[firstAsset:] {
		d.mints = append(d.mints, model.Mint{Asset: a.ID, Amount: big.NewInt(int64(a.Amount))})
	}
	d.assets = d.assets[:firstAsset]
	return d.mints[first:len(d.mints):len(d.mints)]
}
