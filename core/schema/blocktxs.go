package schema

import "birthmark/model"

// EachTx calls visit with every transaction of a block and its pointer, in chain order. Genesis transactions come
// first: they have height 0 and precede the transactions of a block at height 0.
func (l *Layout) EachTx(b *model.Block, visit func(pk model.TxPk, t *model.Tx, genesis bool) error) error {
	for i := range b.Genesis {
		pk, err := l.NewTxPk(0, i)
		if err != nil {
			return err
		}
		if err := visit(pk, &b.Genesis[i], true); err != nil {
			return err
		}
	}
	first := 0
	if b.Height == 0 {
		first = len(b.Genesis)
	}
	for i := range b.Txs {
		pk, err := l.NewTxPk(b.Height, first+i)
		if err != nil {
			return err
		}
		if err := visit(pk, &b.Txs[i], false); err != nil {
			return err
		}
	}
	return nil
}
