package cardano

import (
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// language is what expressions over Cardano can name.
var language = indexexpr.NewLanguage(Name, (*environment)(nil), map[string]indexexpr.Choice{
	"output.script_language": {Names: languageNames[:]},
	"block.era":              {Names: eraNames[eraByron:]},
})

var makers = indexexpr.NewMakers(language, outputMakers, txMakers, blockMakers)

// own makes the values of the indexes that users defined, for one decoder.
type own struct {
	view
	indexes *indexexpr.Indexes
	names   []string // of all that are wanted
	run     *indexexpr.Run
	outputs []output // of the block, as the decoder's
}

// newOwn is nil where none of the names is of an index that was defined.
func newOwn(d *decoder, indexes *indexexpr.Indexes, names []string) *own {
	o := &own{view: view{d: d}, indexes: indexes, names: names}
	if o.run = indexes.Bind(names, &o.environment, o.make); o.run == nil {
		return nil
	}
	return o
}

// make makes fields.
func (o *own) make(fields indexexpr.Set) { makers.Make(&o.view, fields, o.block != nil) }

// evaluate puts the values of the outputs of a block with their other keys. Of the genesis there is no block and an
// empty header.
func (o *own) evaluate(b *model.Block, h fields) {
	d := o.d
	o.block, o.header, o.Block = b, h, blockFields{}
	o.run.Block()
	outputs := o.outputs
	for i := range d.txs {
		o.tx, o.parts = &d.txs[i], parts{}
		if i < len(d.parts) {
			o.parts = d.parts[i]
		}
		o.Tx.Index, o.Tx.Valid = i, i >= len(d.failed) || !d.failed[i]
		o.run.Tx()
		for j := range o.tx.Outputs {
			out := &o.tx.Outputs[j]
			o.output, outputs = &outputs[0], outputs[1:]
			o.Output.Index = o.tx.OutputIndex(j)
			o.run.Output()
			first := len(d.keys)
			d.keys = o.run.Keys(append(d.keys, out.Keys...))
			o.run.InOrder(d.keys[first:])
			out.Keys = d.keys[first:len(d.keys):len(d.keys)]
		}
	}
}
