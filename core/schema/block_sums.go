package schema

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// BlockSums are the sums of a block that is added.
type BlockSums struct {
	model.Point
	Day Day
	Statistics
}

// TxSums are the sums of a transaction.
type TxSums struct {
	Inputs, Outputs int
	Spent, Created  model.Uint128 // values of inputs and outputs
	Stated          model.Fee
	Genesis         bool
}

// AddInput adds the value of an input.
func (t *TxSums) AddInput(value uint64) {
	t.Inputs++
	t.Spent, _ = t.Spent.Add(model.Uint128Of(value)) // 2^64 values fit
}

// AddOutput adds the value of an output.
func (t *TxSums) AddOutput(value uint64) {
	t.Outputs++
	t.Created, _ = t.Created.Add(model.Uint128Of(value))
}

// AddTx adds a transaction. Its fee is the stated one or, unless fees are outputs, inputs minus outputs. Genesis
// transactions have no fee and are not counted.
func (b *BlockSums) AddTx(t *TxSums, feeOutputs bool) {
	b.Inputs, b.Outputs = b.Inputs+uint64(t.Inputs), b.Outputs+uint64(t.Outputs)
	b.Spent, _ = b.Spent.Add(t.Spent)
	b.Created, _ = b.Created.Add(t.Created)
	if t.Genesis {
		return
	}
	b.Txs++
	left, positive := t.Spent.Sub(t.Created)
	switch {
	case t.Stated.Stated:
		b.Fees, _ = b.Fees.Add(model.Uint128Of(t.Stated.Amount))
	case t.Inputs == 0:
	case feeOutputs || !positive:
		b.FeesUnknown++
	default:
		b.Fees, _ = b.Fees.Add(left)
	}
}

// SumsOfRows yields the sums of the blocks with from <= height < to, computed from their rows.
func SumsOfRows(ctx context.Context, l *Layout, r storage.Reader, from, to model.HeightPk) iter.Seq2[BlockSums, error] {
	return func(yield func(BlockSums, error) bool) {
		for kv, err := range r.Scan(FamilyBlock, from.AppendTo(nil), to.AppendTo(nil), false) {
			var b BlockSums
			if err == nil {
				b, err = sumsOfBlock(ctx, l, r, kv)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// DaysOfRows yields the blocks with from <= height < to and their days, without other sums.
func DaysOfRows(r storage.Reader, from, to model.HeightPk) iter.Seq2[BlockSums, error] {
	return func(yield func(BlockSums, error) bool) {
		for kv, err := range r.Scan(FamilyBlock, from.AppendTo(nil), to.AppendTo(nil), false) {
			var b BlockSums
			if err == nil {
				b, err = dayOfBlock(kv)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func dayOfBlock(kv storage.KV) (BlockSums, error) {
	h, err := model.ParseHeightPk(kv.Key)
	if err != nil {
		return BlockSums{}, err
	}
	row, err := ParseBlockRow(kv.Value)
	point := model.Point{Height: h, Hash: row.Hash, Slot: row.Slot}
	return BlockSums{Point: point, Day: DayOf(row.Time)}, err
}

func sumsOfBlock(ctx context.Context, l *Layout, r storage.Reader, kv storage.KV) (b BlockSums, err error) {
	h, err := model.ParseHeightPk(kv.Key)
	if err != nil {
		return b, err
	}
	row, err := ParseBlockRow(kv.Value)
	if err != nil {
		return b, err
	}
	b = BlockSums{Point: model.Point{Height: h, Hash: row.Hash, Slot: row.Slot}, Day: DayOf(row.Time)}
	b.Bytes = uint64(row.Size)
	from, to, err := l.BlockRange(r, h)
	if err != nil {
		return b, err
	}
	for range keysBetween(r, FamilyAssetID, from, to, &err) {
		b.Assets++
	}
	if err != nil {
		return b, err
	}
	fees, stop := iter.Pull2(r.Scan(FamilyTxHash, from, to, false))
	defer stop()
	genesis := row.TxCount // transactions of the block that are left, to tell those of the genesis
	var pks []model.TxPk
	var stated []model.Fee
	for kv, err, more := fees(); more; kv, err, more = fees() {
		if err != nil {
			return b, err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return b, err
		}
		_, fee, err := ParseTxHashRow(kv.Value)
		if err != nil {
			return b, err
		}
		pks, stated = append(pks, pk), append(stated, fee)
	}
	genesis = len(pks) - genesis
	touched := map[model.TxPk][]model.AssetBirthPk{}
	next := 0
	// add adds the next transactions up to pk; those before it have neither inputs nor outputs.
	add := func(pk model.TxPk, t *TxSums) {
		for ; next < len(pks) && pks[next] <= pk; next++ {
			sums := &TxSums{}
			if pks[next] == pk {
				sums = t
			}
			sums.Stated, sums.Genesis = stated[next], next < genesis
			b.AddTx(sums, l.Traits.FeeOutputs)
		}
	}
	for txs, err := range l.ScanTxs(ctx, r, from, to, false) {
		if err != nil {
			return b, err
		}
		for i := range txs {
			t, sums := &txs[i], TxSums{}
			for j := range t.Spent {
				sums.AddInput(t.Spent[j].Value)
				for _, e := range t.Spent[j].Assets {
					touched[t.Pk] = append(touched[t.Pk], e.Birth)
				}
			}
			for j := range t.Created {
				sums.AddOutput(t.Created[j].Value)
			}
			add(t.Pk, &sums)
		}
	}
	add(model.TxPk(math.MaxUint64), &TxSums{})
	return b, b.addSupply(r, from, to, touched)
}

// keysBetween yields the keys of a family with from <= key < to. It sets err and ends if they cannot be read.
func keysBetween(r storage.Reader, f storage.Family, from, to []byte, err *error) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for kv, e := range r.Scan(f, from, to, false) {
			if e != nil {
				*err = e
				return
			}
			if !yield(kv.Key) {
				return
			}
		}
	}
}

// sumsRead is the number of rows of supplies that are read at once.
const sumsRead = 16 << 10

// addSupply counts the mints and burns of a block. touched is the assets of the outputs that its transactions spend.
func (b *BlockSums) addSupply(r storage.Reader, from, to []byte, touched map[model.TxPk][]model.AssetBirthPk) error {
	for kv, err := range r.Scan(FamilyAssets, from, to, false) {
		if err != nil {
			return err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		entries, err := ParseAssetsRow(pk, kv.Value)
		if err != nil {
			return fmt.Errorf("assets of output %v: %w", pk, err)
		}
		for _, e := range entries { // also those of amount 0
			touched[pk.Tx()] = append(touched[pk.Tx()], e.Birth)
		}
	}
	var keys [][]byte
	for tx, births := range touched {
		slices.SortFunc(births, CompareAssetBirths)
		for _, birth := range slices.Compact(births) {
			keys = append(keys, AppendSupplyKey(nil, birth, tx))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	for part := range slices.Chunk(keys, sumsRead) {
		rows, err := r.GetMany(FamilyAssetSupply, part)
		if err != nil {
			return err
		}
		for i, value := range rows {
			if value == nil {
				continue
			}
			row, err := ParseSupplyRow(part[i], value)
			if err != nil {
				return err
			}
			if row.Mints {
				b.Mints++
			}
			if row.Burns {
				b.Burns++
			}
		}
	}
	return nil
}
