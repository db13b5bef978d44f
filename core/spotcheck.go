package core

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// A spot check reads at most spotBlocks blocks, of each block the first and the last transaction, of each transaction
// spotRows inputs and outputs, and of each output spotRows values.
const (
	spotBlocks = 16
	spotRows   = 3
)

// spotCheck makes sure that the store did not lose whole files, which it does not always notice itself: a deleted log,
// or a manifest that was cut. It reads a few transactions of sampled blocks, more of them near the tip, together with
// every row that they lead to. It does not replace [DB.Check], which reads every row.
//
// The error wraps [storage.ErrDamaged].
func (db *DB) spotCheck(ctx context.Context) error {
	tip := db.Tip()
	if tip.IsOrigin() {
		return nil
	}
	err := db.store.View(ctx, func(r storage.Reader) error {
		s := spotChecker{db.catalogue(), r, db.totals}
		err := errors.Join(s.nothingAbove(tip.Height), s.noneEmpty())
		for _, h := range spotHeights(tip.Height) {
			if err == nil {
				err = s.block(h)
			}
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", storage.ErrDamaged, err)
	}
	return err
}

// spotHeights returns the tip, blocks 1, 4, 16, … below it, and blocks at even distances from the tip to the first one.
func spotHeights(tip model.HeightPk) (hs []model.HeightPk) {
	hs = append(hs, tip)
	for back := model.HeightPk(1); back <= tip && len(hs) < spotBlocks/2; back *= 4 {
		hs = append(hs, tip-back)
	}
	for n := uint64(1); n < spotBlocks/2; n++ {
		hs = append(hs, model.HeightPk(n*uint64(tip)/(spotBlocks/2)))
	}
	slices.Sort(hs)
	return slices.Compact(hs)
}

type spotChecker struct {
	*catalogue
	r      storage.Reader
	totals totals
}

// must reads a row that has to be there.
func (s *spotChecker) must(f storage.Family, key []byte, because string, args ...any) ([]byte, error) {
	b, err := s.r.Get(f, key)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("%s has no row %x: %s", s.familyName(f), key, fmt.Sprintf(because, args...))
	}
	return b, err
}

// nothingAbove checks that no row of a block is above the tip.
func (s *spotChecker) nothingAbove(tip model.HeightPk) error {
	if tip == model.MaxHeight {
		return nil
	}
	after := (tip + 1).First().AppendTo(nil)
	for f, from := range map[storage.Family][]byte{
		familyBlock: (tip + 1).AppendTo(nil), familyTxHash: after, familyUtxo: after, familySpentUtxo: after,
	} {
		for kv, err := range s.r.Scan(f, from, nil, false) {
			if err != nil {
				return err
			}
			return fmt.Errorf("%s has row %x, above the tip at height %d", s.familyName(f), kv.Key, tip)
		}
	}
	return nil
}

// noneEmpty checks that a family has rows if the totals count some. It leaves out families whose rows are deleted
// as the chain grows: a scan may have to pass many deletions to find a row.
func (s *spotChecker) noneEmpty() error {
	for f, n := range s.totals.rows {
		if f == familyHoldings || f >= firstIndexFamily && shrinks(f-firstIndexFamily) {
			continue
		}
		found := false
		for _, err := range s.r.Scan(f, nil, nil, false) {
			if err != nil {
				return err
			}
			found = true
			break
		}
		if !found && n > 0 {
			return fmt.Errorf("%s has no rows, and the totals count %d", s.familyName(f), n)
		}
	}
	return nil
}

// shrinks reports whether the chain deletes rows of a family of an index.
func shrinks(of storage.Family) bool {
	of %= familiesPerIndex
	return of == indexHeld || of == indexUnspent
}

// block checks one block. There may be none at height 0.
func (s *spotChecker) block(h model.HeightPk) error {
	b, err := s.r.Get(familyBlock, h.AppendTo(nil))
	if errors.Is(err, storage.ErrNotFound) {
		if h == 0 {
			return nil
		}
		return fmt.Errorf("%s has no row for block %d, below the tip", s.familyName(familyBlock), h)
	}
	if err != nil {
		return err
	}
	row, err := parseBlockRow(b)
	if err != nil {
		return fmt.Errorf("block %d: %w", h, err)
	}
	back, err := s.must(familyHeight, row.hash[:], "it is the hash of block %d", h)
	if err != nil {
		return err
	}
	if at, _, err := parseHeightRow(back); err != nil || at != h {
		return fmt.Errorf("block %d: its hash leads to block %d: %w", h, at, err)
	}
	if row.txCount == 0 {
		return nil
	}
	for _, i := range slices.Compact([]int{0, row.txCount - 1}) {
		pk, err := model.NewTxPk(h, i)
		if err == nil {
			err = s.tx(pk)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tx checks one transaction, its first inputs and its first outputs.
func (s *spotChecker) tx(pk model.TxPk) error {
	b, err := s.must(familyTxHash, pk.AppendTo(nil), "block %d has that transaction", pk.Height())
	if err != nil {
		return err
	}
	hash, _, err := parseTxHashRow(b)
	if err != nil {
		return fmt.Errorf("transaction %v: %w", pk, err)
	}
	if s.raw && pk.Height() > 0 {
		if _, err := s.must(familyRaw, pk.AppendTo(nil), "transaction %v is there", pk); err != nil {
			return err
		}
	}
	pks, err := txPks(s.r, []model.Hash{hash})
	if err != nil {
		return err
	}
	if !slices.Contains(pks[0], pk) {
		return fmt.Errorf("%s has no row for transaction %v", s.familyName(familyTxPk), pk)
	}
	spends, err := s.rows(familySpentUtxo, pk)
	if err != nil {
		return err
	}
	for _, kv := range spends {
		utxo, err := model.ParseUtxoPk(kv.Value)
		if err != nil {
			return err
		}
		row, err := s.must(familyUtxo, kv.Value, "input %x spends it", kv.Key)
		if err == nil {
			err = s.output(utxo, row)
		}
		if err != nil {
			return err
		}
	}
	outputs, err := s.rows(familyUtxo, pk)
	if err != nil {
		return err
	}
	for _, kv := range outputs {
		utxo, err := model.ParseUtxoPk(kv.Key)
		if err == nil {
			err = s.output(utxo, kv.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rows returns the first rows of a transaction in a family.
func (s *spotChecker) rows(f storage.Family, tx model.TxPk) (rows []storage.KV, err error) {
	end := model.TxPk(uint64(tx) + model.MaxIndex + 1)
	for kv, err := range s.r.Scan(f, tx.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, storage.KV{Key: slices.Clone(kv.Key), Value: slices.Clone(kv.Value)})
		if len(rows) == spotRows {
			break
		}
	}
	return rows, nil
}

// output checks an output: its transaction, its spender and the values that occur in it.
func (s *spotChecker) output(pk model.UtxoPk, b []byte) error {
	if _, err := s.must(familyTxHash, pk.Tx().AppendTo(nil), "output %v is there", pk); err != nil {
		return err
	}
	spender, err := s.r.Get(familySpentInput, pk.AppendTo(nil))
	spent := err == nil
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if spent {
		if _, err := s.must(familySpentUtxo, spender, "it spends output %v", pk); err != nil {
			return err
		}
	}
	row, err := s.parseUtxoRow(pk, b)
	if err != nil {
		return fmt.Errorf("output %v: %w", pk, err)
	}
	for _, o := range row.occurrences[:min(spotRows, len(row.occurrences))] {
		if err := s.occurrence(pk, o, spent); err != nil {
			return err
		}
	}
	return nil
}

// occurrence checks a value that occurs in an output, in every family of its index.
func (s *spotChecker) occurrence(pk model.UtxoPk, o occurrence, spent bool) error {
	x := o.index
	if !x.live.has(partValues) {
		return nil // being added
	}
	birth := o.birth.AppendTo(nil, x.Kind.HasOrdinal())
	because := func() string { return fmt.Sprintf("a value of index %s occurs in output %v", x.Name, pk) }
	value, err := s.must(x.family(indexValue), birth, "%s", because())
	if err != nil {
		return err
	}
	found, err := s.birthsOf(s.r, x.number, [][]byte{value})
	if err != nil {
		return err
	}
	if found[0] == nil || *found[0] != o.birth {
		return fmt.Errorf("%s has no row for the value born at %v", s.familyName(x.family(indexBirth)), o.birth)
	}
	if x.Kind != model.OneToOne && !o.born(pk) {
		if _, err := s.must(x.family(indexRelations), appendRelationKey(nil, x, o.birth, pk), "%s", because()); err != nil {
			return err
		}
	}
	if x.live.has(partBalance) {
		if _, err := s.must(x.family(indexBalance), birth, "%s", because()); err != nil {
			return err
		}
	}
	if x.live.has(partUnspent) && !spent {
		if _, err := s.must(x.family(indexUnspent), appendRelationKey(nil, x, o.birth, pk), "%s", because()); err != nil {
			return err
		}
	}
	if x.live.has(partHistory) {
		if _, err := s.must(x.family(indexHistory), appendHistoryKey(nil, x, o.birth, pk.Tx()), "%s", because()); err != nil {
			return err
		}
	}
	return nil
}
