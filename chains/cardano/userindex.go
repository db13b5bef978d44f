package cardano

import (
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// language has the fields of expressions over Cardano.
var language = indexexpr.NewLanguage(Name, (*environment)(nil), map[string]indexexpr.Choice{
	"output.script_language": {Names: ledger.ScriptLanguages[:]},
	"block.era":              {Names: ledger.EraNames[ledger.EraByron:]},
})

var makers = indexexpr.NewMakers(language, outputMakers, txMakers, blockMakers)

// userIndexes makes the values of custom indexes for one decoder.
type userIndexes struct {
	view
	run     *indexexpr.Run
	outputs []ledger.Output // of the block, in the order of the decoder
	keys    []model.Key
}

// newUserIndexes returns nil if none of the indexer's names is a custom index.
func newUserIndexes(x *outputIndexer) *userIndexes {
	u := &userIndexes{view: view{net: x.chain.net, index: x}}
	if u.run = x.chain.Custom().Bind(x.names, &u.environment, u.make); u.run == nil {
		return nil
	}
	return u
}

func (u *userIndexes) reset() { u.outputs, u.keys = u.outputs[:0], u.keys[:0] }

func (u *userIndexes) make(fields indexexpr.Set) { makers.Make(&u.view, fields, u.txs.Of != nil) }

// evaluate adds the values of a block's outputs to their keys.
func (u *userIndexes) evaluate(txs *ledger.Transactions) {
	u.txs, u.Block = txs, blockFields{}
	if txs.Unconfirmed {
		u.run.Unconfirmed(language.Bit("tx.index"))
	} else {
		u.run.Block()
	}
	outputs := u.outputs
	for i := range txs.Txs {
		u.tx, u.parts = &txs.Txs[i], ledger.Parts{}
		if i < len(txs.Parts) {
			u.parts = txs.Parts[i]
		}
		u.created = outputs[:len(u.tx.Outputs)]
		u.Tx.Index, u.Tx.Valid = i, i >= len(txs.Failed) || !txs.Failed[i]
		u.run.Tx()
		for j := range u.tx.Outputs {
			out := &u.tx.Outputs[j]
			u.output, outputs = &outputs[0], outputs[1:]
			u.Output.Index = u.tx.OutputIndex(j)
			u.run.Output()
			first := len(u.keys)
			u.keys = u.run.Keys(append(u.keys, out.Keys...))
			u.run.InOrder(u.keys[first:])
			out.Keys = u.keys[first:len(u.keys):len(u.keys)]
		}
	}
}
