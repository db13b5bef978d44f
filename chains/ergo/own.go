package ergo

import (
	"birthmark/chains/ergo/sigma"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// language is what expressions over Ergo can name.
var language = indexexpr.NewLanguage(Name, (*environment)(nil), nil)

var makers = indexexpr.NewMakers(language, outputMakers, txMakers, blockMakers)

// own makes the values of the indexes that users defined, for one decoder.
type own struct {
	view
	indexes *indexexpr.Indexes
	names   []string // of all that are wanted
	run     *indexexpr.Run
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

// enter goes to a block, or where that is nil to the genesis.
func (o *own) enter(b *model.Block) {
	o.block, o.Block = b, blockFields{}
	o.run.Block()
}

// enterTx goes to the next transaction of the block: as it was read, and what was made of it but for its outputs.
func (o *own) enterTx(index int, tx *model.Tx, t *transaction) {
	o.tx, o.source, o.Tx.Index = tx, t, index
	o.run.Tx()
}

// keys appends those of an output of the transaction.
func (o *own) keys(to []model.Key, index int, b *sigma.Box, id *sigma.ID) []model.Key {
	o.box, o.id, o.Output.Index = b, id, index
	o.run.Output()
	return o.run.Keys(to)
}
