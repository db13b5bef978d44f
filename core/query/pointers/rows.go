package pointers

import (
	"errors"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
)

// Birth returns the birth of a stored value of an index, or nil if no output has the value.
func (q *Reader) Birth(x *schema.Index, value []byte) (*model.BirthPk, error) {
	return q.birth(x.Number, value)
}

// StoredValues returns the values of an index with these births, which must exist.
func (q *Reader) StoredValues(x *schema.Index, births []model.BirthPk) ([][]byte, error) {
	keys := make([][]byte, len(births))
	for i, b := range births {
		keys[i] = b.AppendTo(nil, x.Kind.HasOrdinal())
	}
	return q.Many(x.Family(schema.IndexValue), keys)
}

// TxPks returns for each hash the pointers of the transactions with it, newest first.
func (q *Reader) TxPks(hashes []model.Hash) ([][]model.TxPk, error) { return schema.TxPks(q.R, hashes) }

// BlockTxIDs returns the hashes of n transactions of the block at h from a position on, fewer at its end.
func (q *Reader) BlockTxIDs(h model.HeightPk, position, n int) ([]model.Hash, error) {
	from, err := q.NewTxPk(h, position)
	if err != nil || n <= 0 {
		return nil, err
	}
	var ids []model.Hash
	for kv, err := range q.R.Scan(schema.FamilyTxHash, from.AppendTo(nil), q.FirstPk(h+1).AppendTo(nil), false) {
		if err != nil {
			return nil, err
		}
		id, _, err := schema.ParseTxHashRow(kv.Value)
		if err != nil {
			return nil, err
		}
		if ids = append(ids, id); len(ids) == n {
			break
		}
	}
	return ids, nil
}

// BlockRow returns the row of the block at h, or a NotFound error (unknown_block).
func (q *Reader) BlockRow(h model.HeightPk) (schema.BlockRow, error) { return schema.BlockAt(q.R, h) }

// FirstBlock returns the height of the first block. The chain must have a tip.
func (q *Reader) FirstBlock() (model.HeightPk, error) {
	for kv, err := range q.R.Scan(schema.FamilyBlock, nil, nil, false) {
		if err != nil {
			return 0, err
		}
		return model.ParseHeightPk(kv.Key)
	}
	return 0, errors.New("the chain has a tip and no blocks: run check")
}

// BlockRows returns the rows of blocks that exist.
func (q *Reader) BlockRows(hs []model.HeightPk) ([]schema.BlockRow, error) {
	raw, err := q.Many(schema.FamilyBlock, schema.Keys(hs))
	if err != nil {
		return nil, err
	}
	rows := make([]schema.BlockRow, len(hs))
	for i := range raw {
		if rows[i], err = schema.ParseBlockRow(raw[i]); err != nil {
			return nil, fmt.Errorf("block at height %d: %w", hs[i], err)
		}
	}
	return rows, nil
}

// InHistory reports for each transaction whether it pays to a value or spends from it, for an index that stores
// histories.
func (q *Reader) InHistory(x *schema.Index, birth model.BirthPk, txs []model.TxPk) ([]bool, error) {
	keys := make([][]byte, len(txs))
	for i, tx := range txs {
		keys[i] = schema.AppendHistoryKey(nil, x, birth, tx)
	}
	rows, err := q.R.GetMany(x.Family(schema.IndexHistory), keys)
	if err != nil {
		return nil, err
	}
	in := make([]bool, len(txs))
	for i := range rows {
		in[i] = rows[i] != nil
	}
	return in, nil
}

// HeightOf returns the height of the block with a hash; ok is false if the chain has none.
func (q *Reader) HeightOf(hash model.Hash) (h model.HeightPk, ok bool, err error) {
	rows, err := q.R.GetMany(schema.FamilyHeight, [][]byte{hash[:]})
	if err != nil || rows[0] == nil {
		return 0, false, err
	}
	h, _, err = schema.ParseHeightRow(rows[0])
	return h, err == nil, err
}

// EachBlock calls visit with the blocks from <= height < to, ascending. It ends at the tip, or after an error.
func (q *Reader) EachBlock(from, to model.HeightPk, visit func(model.HeightPk, *schema.BlockRow) error) error {
	for kv, err := range q.R.Scan(schema.FamilyBlock, from.AppendTo(nil), to.AppendTo(nil), false) {
		if err != nil {
			return err
		}
		h, err := model.ParseHeightPk(kv.Key)
		if err != nil {
			return err
		}
		row, err := schema.ParseBlockRow(kv.Value)
		if err != nil {
			return fmt.Errorf("block at height %d: %w", h, err)
		}
		if err := visit(h, &row); err != nil {
			return err
		}
	}
	return nil
}

// UtxoRows returns the rows of outputs that exist.
func (q *Reader) UtxoRows(pks []model.UtxoPk) ([]schema.UtxoRow, error) {
	raw, err := q.Many(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	rows := make([]schema.UtxoRow, len(pks))
	for i := range raw {
		if rows[i], err = q.ParseUtxoRow(pks[i], raw[i]); err != nil {
			return nil, fmt.Errorf("output %v: %w", pks[i], err)
		}
	}
	return rows, nil
}

// Amounts returns the values of outputs, which must exist, in the smallest unit.
func (q *Reader) Amounts(pks []model.UtxoPk) ([]uint64, error) {
	rows, err := q.Many(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	amounts := make([]uint64, len(rows))
	for i, row := range rows {
		if amounts[i], err = schema.ParseUtxoValue(row); err != nil {
			return nil, err
		}
	}
	return amounts, nil
}

// SpendersOf returns the inputs that spend outputs; nil for an unspent output.
func (q *Reader) SpendersOf(pks []model.UtxoPk) ([]*model.InputPk, error) {
	l := q.NewLoad()
	spenders := l.Spenders(pks)
	return spenders, l.Read()
}

// AmountsAndSpenders returns the values of outputs, which must exist, and the inputs that spend them; nil for an unspent
// output.
func (q *Reader) AmountsAndSpenders(pks []model.UtxoPk) ([]uint64, []*model.InputPk, error) {
	l := q.NewLoad()
	rows, spenders := make([][]byte, len(pks)), l.Spenders(pks)
	l.UtxoRows(pks, rows)
	if err := l.Read(); err != nil {
		return nil, nil, err
	}
	amounts := make([]uint64, len(rows))
	for i, row := range rows {
		var err error
		if amounts[i], err = schema.ParseUtxoValue(row); err != nil {
			return nil, nil, err
		}
	}
	return amounts, spenders, nil
}

// AssetEntries returns the asset entries of outputs.
func (q *Reader) AssetEntries(pks []model.UtxoPk) ([][]schema.AssetEntry, error) {
	l := q.NewLoad()
	entries := l.Assets(pks)
	return entries, l.Read()
}

// AssetsIn returns the births of the assets in entries, in order and without duplicates.
func AssetsIn(entries [][]schema.AssetEntry) (births []model.AssetBirthPk) {
	for _, es := range entries {
		for _, e := range es {
			births = append(births, e.Birth)
		}
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	return slices.Compact(births)
}

// BlocksOf returns the blocks of transactions by height. Genesis transactions may have none.
func (q *Reader) BlocksOf(pks []model.TxPk) (map[model.HeightPk]schema.BlockRow, error) {
	l := q.NewLoad()
	blocks := l.Blocks(pks)
	return blocks, l.Read()
}
