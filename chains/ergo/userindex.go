package ergo

import (
	"birthmark/chains/ergo/sigma"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// language has the fields of expressions over Ergo.
var language = indexexpr.NewLanguage(Name, (*environment)(nil), nil)

var makers = indexexpr.NewMakers(language, outputMakers, txMakers, blockMakers)

// userIndexes makes the values of custom indexes for one decoder.
type userIndexes struct {
	view
	run *indexexpr.Run
}

// newUserIndexes returns nil if none of the decoder's indexes is a custom index.
func newUserIndexes(d *decoder) *userIndexes {
	u := &userIndexes{view: view{d: d}}
	if u.run = d.chain.Custom().Bind(d.names, &u.environment, u.make); u.run == nil {
		return nil
	}
	return u
}

func (u *userIndexes) make(fields indexexpr.Set) { makers.Make(&u.view, fields, u.block != nil) }

// enter starts a block, or the genesis if b is nil.
func (u *userIndexes) enter(b *model.Block) {
	u.block, u.Block = b, blockFields{}
	u.run.Block()
}

// enterUnconfirmed starts a transaction that is in no block. Values that need the block, or the position in it, are left
// out.
func (u *userIndexes) enterUnconfirmed() {
	u.block, u.Block = nil, blockFields{}
	u.run.Unconfirmed(language.Bit("tx.index"))
}

// enterTx starts a transaction; tx has no outputs yet.
func (u *userIndexes) enterTx(index int, tx *model.Tx, t *transaction) {
	u.tx, u.source, u.Tx.Index = tx, t, index
	u.run.Tx()
}

// keys appends the keys of an output.
func (u *userIndexes) keys(to []model.Key, index int, b *sigma.Box, id *sigma.ID) []model.Key {
	u.box, u.id, u.Output.Index = b, id, index
	u.run.Output()
	return u.run.Keys(to)
}
