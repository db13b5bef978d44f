package bitcoin

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// DescribeTx implements [model.TxDescriber]. A coinbase has no inputs, as in [model.Tx].
func (c *chain) DescribeTx(raw []byte, _, _ []map[string]any) (*model.TxDescription, error) {
	f := c.net.Coin.Format
	weight, vsize, err := f.TxWeight(raw)
	if err != nil {
		return nil, err
	}
	tx, err := f.Parts(raw)
	if err != nil {
		return nil, err
	}
	d := &model.TxDescription{Inputs: []model.InputDetails{}}
	d.Version, d.Locktime, d.Weight, d.VSize = &tx.Version, &tx.LockTime, weight, vsize
	if tx.Coinbase {
		d.CoinbaseText = readableText(tx.Inputs[0].Script)
	} else {
		for _, in := range tx.Inputs {
			script := hex.EncodeToString(in.Script)
			input := model.InputDetails{Sequence: &in.Sequence, ScriptSig: &script}
			for _, item := range in.Witness {
				input.Witness = append(input.Witness, hex.EncodeToString(item))
			}
			d.Inputs = append(d.Inputs, input)
		}
	}
	for _, out := range tx.Outputs {
		kind, _ := f.Classify(out)
		script := hex.EncodeToString(out)
		d.Outputs = append(d.Outputs, model.OutputDetails{Script: &script, Type: typeNames[kind]})
	}
	return d, nil
}

// typeNames are the types of output scripts in answers.
var typeNames = map[block.Kind]string{
	block.PubKey: "p2pk", block.PubKeyHash: "p2pkh", block.ScriptHash: "p2sh", block.Multisig: "multisig", block.NullData: "op_return",
	block.WitnessV0KeyHash: "p2wpkh", block.WitnessV0ScriptHash: "p2wsh", block.WitnessV1Taproot: "p2tr",
	block.Anchor: "nonstandard", block.WitnessUnknown: "nonstandard", block.Nonstandard: "nonstandard",
}

// minText is the number of printable characters in a row that count as text.
const minText = 4

// readableText returns the runs of at least minText printable characters in the pushes of a script, joined by spaces.
// The script of a coinbase is never executed: from the first invalid operation on it is one piece.
func readableText(script []byte) string {
	var texts []string
	for len(script) > 0 {
		_, data, rest, ok := block.NextOp(script)
		if !ok {
			data, rest = script, nil
		}
		script = rest
		var run []rune
		end := func() {
			if text := strings.TrimSpace(string(run)); utf8.RuneCountInString(text) >= minText {
				texts = append(texts, text)
			}
			run = run[:0]
		}
		for len(data) > 0 {
			r, size := utf8.DecodeRune(data)
			if data = data[size:]; unicode.IsPrint(r) && (r != utf8.RuneError || size > 1) {
				run = append(run, r)
			} else {
				end()
			}
		}
		end()
	}
	return strings.Join(texts, " ")
}
