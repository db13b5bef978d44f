package boxes

import (
	"encoding/binary"
	"sort"
	"sync"

	"birthmark/core/schema"
	"birthmark/model"
)

// firstHeight is the height of Ergo's first block.
const firstHeight = 1

// number has the counts before a block. The block at height i+1 is at position i.
type number struct {
	boxes, txs uint32 // after the block, without the genesis
	id         uint64 // the first bytes of the block's id
}

// numberTable counts the boxes and transactions before each block. The database has only the counts of transactions, so
// the boxes are counted once per start, by their keys: a family with their counts would be a new format for 16 bytes
// per block. Published entries are never changed.
type numberTable struct {
	mu      sync.Mutex
	entries []number
}

// countStep is the number of blocks that are counted at once. Their counts remain if a request ends early.
const countStep = 2048

// count makes the numbers of the view's snapshot.
func (v *View) count() error {
	if v.numbers != nil || v.Tip.IsOrigin() {
		return nil
	}
	t := &v.chain.numbers
	t.mu.Lock()
	defer t.mu.Unlock()
	tip := int(v.Tip.Height)
	common, err := v.common(t.entries[:min(len(t.entries), tip)])
	if err != nil {
		return err
	}
	if common == tip { // the table may be ahead of this snapshot
		v.numbers = t.entries[:tip:tip]
		return nil
	}
	entries := t.entries
	if common < len(entries) { // other views may still read the old entries
		entries = entries[:common:common]
	}
	for from := common; from < tip; from += countStep {
		if entries, err = v.countBlocks(entries, min(from+countStep, tip)); err != nil {
			return err
		}
		t.entries = entries
	}
	v.numbers = entries[:tip:tip]
	return nil
}

// common returns the number of entries that belong to blocks of the snapshot.
func (v *View) common(entries []number) (int, error) {
	if n := len(entries); n > 0 && n == int(v.Tip.Height) && entries[n-1].id == idPrefix(v.Tip.Hash) {
		return n, nil
	}
	for n := len(entries); n > 0; n-- {
		row, err := v.Q.BlockRow(model.HeightPk(n))
		if err != nil {
			return 0, err
		}
		if idPrefix(row.Hash) == entries[n-1].id {
			return n, nil
		}
	}
	return 0, nil
}

func idPrefix(id model.Hash) uint64 { return binary.BigEndian.Uint64(id[:]) }

// countedID returns the first bytes of the id of the block at a height; ok is false if the view has not read the
// numbers.
func (v *View) countedID(h model.HeightPk) (id uint64, ok bool) {
	i := int(h) - firstHeight
	if i < 0 || i >= len(v.numbers) {
		return 0, false
	}
	return v.numbers[i].id, true
}

// countBlocks appends the entries of the blocks up to a height.
func (v *View) countBlocks(entries []number, to int) ([]number, error) {
	if err := v.Q.Ctx.Err(); err != nil {
		return nil, err
	}
	var last number
	if n := len(entries); n > 0 {
		last = entries[n-1]
	}
	first := model.HeightPk(len(entries) + 1)
	boxes := make([]uint32, to-len(entries))
	from, end := v.Q.FirstPk(first).AppendTo(nil), v.Q.FirstPk(model.HeightPk(to)+1).AppendTo(nil)
	q := v.Q.Unlimited() // the table is read once per process
	for kv, err := range q.R.Scan(schema.FamilyUtxo, from, end, false) {
		if err != nil {
			return nil, err
		}
		boxes[model.UtxoPk(binary.BigEndian.Uint64(kv.Key)).Height()-first]++
	}
	err := q.EachBlock(first, model.HeightPk(to)+1, func(h model.HeightPk, row *schema.BlockRow) error {
		last.boxes += boxes[h-first]
		last.txs += uint32(row.TxCount)
		last.id = idPrefix(row.Hash)
		entries = append(entries, last)
		return nil
	})
	return entries, err
}

// before returns the boxes and the transactions before the block at h, without the genesis.
func (v *View) before(h model.HeightPk) (boxes, txs uint64, err error) {
	if err := v.count(); err != nil || h < firstHeight {
		return 0, 0, err
	}
	if i := int(h) - firstHeight; i > 0 {
		n := v.numbers[i-1]
		boxes, txs = uint64(n.boxes), uint64(n.txs)
	}
	return boxes, txs, nil
}

// BoxNumber returns the number of a box of the chain: the number of boxes before it, without the genesis. The node and the
// explorer, which do not have the genesis boxes, count like that. For a genesis box it returns 0.
func (v *View) BoxNumber(pk model.UtxoPk) (uint64, error) {
	if v.Q.IsGenesis(pk.Tx()) {
		return 0, nil
	}
	boxes, _, err := v.before(pk.Height())
	if err != nil {
		return 0, err
	}
	b, err := v.Block(pk.Height())
	if err != nil {
		return 0, err
	}
	return boxes + uint64(b.before[pk.TxIndex()]) + uint64(pk.Index()), nil
}

// genesisNumber returns the position of a genesis box.
func (v *View) genesisNumber(pk model.UtxoPk) (n uint64, err error) {
	from, to := v.Q.FirstPk(0).AppendTo(nil), pk.AppendTo(nil)
	for _, err := range v.Q.R.Scan(schema.FamilyUtxo, from, to, false) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// TxNumber returns the number of transactions before a transaction, without the genesis.
func (v *View) TxNumber(pk model.TxPk) (uint64, error) {
	_, txs, err := v.before(pk.Height())
	return txs + uint64(v.Q.TxIndex(pk)), err
}

// Boxes returns the number of boxes of the chain, without the genesis.
func (v *View) Boxes() uint64 { return v.Q.Totals.Rows[schema.FamilyUtxo] - v.Q.Totals.GenesisOutputs }

// TxCount returns the number of transactions of the chain.
func (v *View) TxCount() uint64 { return v.Q.Totals.Rows[schema.FamilyTxHash] - v.Q.Totals.GenesisTxs }

// TxAt returns the transaction with a number, which must exist.
func (v *View) TxAt(n uint64) (model.TxPk, error) {
	if err := v.count(); err != nil {
		return 0, err
	}
	i := sort.Search(len(v.numbers), func(i int) bool { return uint64(v.numbers[i].txs) > n })
	first := uint64(0)
	if i > 0 {
		first = uint64(v.numbers[i-1].txs)
	}
	return v.Q.NewTxPk(model.HeightPk(i+firstHeight), int(n-first))
}

// BoxAt returns the box with a number, which must exist.
func (v *View) BoxAt(n uint64) (pk model.UtxoPk, err error) {
	if err := v.count(); err != nil {
		return 0, err
	}
	i := sort.Search(len(v.numbers), func(i int) bool { return uint64(v.numbers[i].boxes) > n })
	if i > 0 {
		n -= uint64(v.numbers[i-1].boxes)
	}
	b, err := v.Block(model.HeightPk(i + firstHeight))
	if err != nil {
		return 0, err
	}
	tx := sort.Search(b.TxCount, func(tx int) bool { return uint64(b.before[tx+1]) > n })
	at, err := v.Q.NewTxPk(b.Height, tx)
	if err != nil {
		return 0, err
	}
	return at.Utxo(int(n) - int(b.before[tx]))
}

// TxNumbers returns the transactions with the numbers first to first+n-1, which must exist.
func (v *View) TxNumbers(first, n uint64) ([]model.TxPk, error) {
	pks := make([]model.TxPk, 0, n)
	for i := range n {
		pk, err := v.TxAt(first + i)
		if err != nil {
			return nil, err
		}
		pks = append(pks, pk)
	}
	return pks, nil
}

// BoxNumbers returns the boxes with the numbers first to first+n-1, which must exist.
func (v *View) BoxNumbers(first, n uint64) (pks []model.UtxoPk, err error) {
	if n == 0 {
		return nil, nil
	}
	at, err := v.BoxAt(first)
	if err != nil {
		return nil, err
	}
	return v.boxesFrom(at.AppendTo(nil), nil, n)
}

// boxesFrom returns the first n boxes between two keys.
func (v *View) boxesFrom(from, to []byte, n uint64) (pks []model.UtxoPk, err error) {
	for kv, err := range v.Q.R.Scan(schema.FamilyUtxo, from, to, false) {
		if err != nil {
			return nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, err
		}
		if pks = append(pks, pk); uint64(len(pks)) == n {
			break
		}
	}
	return pks, nil
}
