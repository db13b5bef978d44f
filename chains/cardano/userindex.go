package cardano

import (
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// language is what expressions over Cardano can name.
var language = indexexpr.NewLanguage(Name, (*environment)(nil), map[string]indexexpr.Choice{
	"output.script_language": {Names: ledger.ScriptLanguages[:]},
	"block.era":              {Names: ledger.EraNames[ledger.EraByron:]},
})

var makers = indexexpr.NewMakers(language, outputMakers, txMakers, blockMakers)

// own makes the values of the indexes that users defined, for one decoder.
type own struct {
	view
	indexes *indexexpr.Indexes
	names   []string // of all that are wanted
	run     *indexexpr.Run
	outputs []ledger.Output // of the block, as the decoder's
	keys    []model.Key
}

// newOwn is nil where none of the names is of an index that was defined.
func newOwn(n *genesis.Network, x *outputIndexer, indexes *indexexpr.Indexes, names []string) *own {
	o := &own{view: view{net: n, index: x}, indexes: indexes, names: names}
	if o.run = indexes.Bind(names, &o.environment, o.make); o.run == nil {
		return nil
	}
	return o
}

// make makes fields.
func (o *own) make(fields indexexpr.Set) { makers.Make(&o.view, fields, o.txs.Of != nil) }

// evaluate puts the values of the outputs of a block with their other keys.
func (o *own) evaluate(txs *ledger.Transactions) {
	o.txs, o.Block = txs, blockFields{}
	o.run.Block()
	outputs := o.outputs
	for i := range txs.Txs {
		o.tx, o.parts = &txs.Txs[i], ledger.Parts{}
		if i < len(txs.Parts) {
			o.parts = txs.Parts[i]
		}
		o.Tx.Index, o.Tx.Valid = i, i >= len(txs.Failed) || !txs.Failed[i]
		o.run.Tx()
		for j := range o.tx.Outputs {
			out := &o.tx.Outputs[j]
			o.output, outputs = &outputs[0], outputs[1:]
			o.Output.Index = o.tx.OutputIndex(j)
			o.run.Output()
			first := len(o.keys)
			o.keys = o.run.Keys(append(o.keys, out.Keys...))
			o.run.InOrder(o.keys[first:])
			out.Keys = o.keys[first:len(o.keys):len(o.keys)]
		}
	}
}
