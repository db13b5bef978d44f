package core

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"birthmark/core/schema"
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
		s := spotChecker{db.layout(), ctx, r, db.totals}
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
	*schema.Layout
	ctx    context.Context
	r      storage.Reader
	totals schema.Totals
}

// must reads a row that has to exist for a reason, which the format describes.
func (s *spotChecker) must(f storage.Family, key []byte, reason string, args ...any) ([]byte, error) {
	b, err := s.r.Get(f, key)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("%s has no row %x: %s", s.FamilyName(f), key, fmt.Sprintf(reason, args...))
	}
	return b, err
}

// nothingAbove checks that no row of a block is above the tip.
func (s *spotChecker) nothingAbove(tip model.HeightPk) error {
	if tip == model.MaxHeight {
		return nil
	}
	after := s.FirstPk(tip + 1).AppendTo(nil)
	for f, from := range map[storage.Family][]byte{
		schema.FamilyBlock: (tip + 1).AppendTo(nil), schema.FamilyTxHash: after, schema.FamilyUtxo: after, schema.FamilySpentUtxo: after,
	} {
		for kv, err := range s.r.Scan(f, from, nil, false) {
			if err != nil {
				return err
			}
			return fmt.Errorf("%s has row %x, above the tip at height %d", s.FamilyName(f), kv.Key, tip)
		}
	}
	return nil
}

// noneEmpty checks that a family has rows if the totals count some. It leaves out families whose rows are deleted
// as the chain grows, because a scan may skip many deletions to find a row.
func (s *spotChecker) noneEmpty() error {
	for f, n := range s.totals.Rows {
		if f == schema.FamilyHoldings || f >= schema.FirstIndexFamily && shrinks(f-schema.FirstIndexFamily) {
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
			return fmt.Errorf("%s has no rows, and the totals count %d", s.FamilyName(f), n)
		}
	}
	return nil
}

// shrinks reports whether the chain deletes rows of a family of an index.
func shrinks(of storage.Family) bool {
	of %= schema.FamiliesPerIndex
	return of == schema.IndexHeld || of == schema.IndexUnspent
}

// block checks one block. There may be none at height 0.
func (s *spotChecker) block(h model.HeightPk) error {
	b, err := s.r.Get(schema.FamilyBlock, h.AppendTo(nil))
	if errors.Is(err, storage.ErrNotFound) {
		if h == 0 {
			return nil
		}
		return fmt.Errorf("%s has no row for block %d, below the tip", s.FamilyName(schema.FamilyBlock), h)
	}
	if err != nil {
		return err
	}
	row, err := schema.ParseBlockRow(b)
	if err != nil {
		return fmt.Errorf("block %d: %w", h, err)
	}
	back, err := s.must(schema.FamilyHeight, row.Hash[:], "it is the hash of block %d", h)
	if err != nil {
		return err
	}
	if at, _, err := schema.ParseHeightRow(back); err != nil || at != h {
		return fmt.Errorf("block %d: its hash leads to block %d: %w", h, at, err)
	}
	if row.TxCount == 0 {
		return nil
	}
	for _, i := range slices.Compact([]int{0, row.TxCount - 1}) {
		pk, err := s.NewTxPk(h, i)
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
	b, err := s.must(schema.FamilyTxHash, pk.AppendTo(nil), "block %d has that transaction", pk.Height())
	if err != nil {
		return err
	}
	hash, _, err := schema.ParseTxHashRow(b)
	if err != nil {
		return fmt.Errorf("transaction %v: %w", pk, err)
	}
	if s.Raw && pk.Height() > 0 {
		if _, err := s.must(schema.FamilyRaw, pk.AppendTo(nil), "transaction %v exists", pk); err != nil {
			return err
		}
	}
	pks, err := schema.TxPks(s.r, []model.Hash{hash})
	if err != nil {
		return err
	}
	if !slices.Contains(pks[0], pk) {
		return fmt.Errorf("%s has no row for transaction %v", s.FamilyName(schema.FamilyTxPk), pk)
	}
	// The scan reads the rows of the outputs that the transaction spends and creates.
	end := pk.Next()
	for txs, err := range s.ScanTxs(s.ctx, s.r, pk.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return err
		}
		for _, outputs := range [][]schema.Output{txs[0].Spent, txs[0].Created} {
			for i := range outputs[:min(spotRows, len(outputs))] {
				if err := s.output(&outputs[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// output checks an output: its transaction, its spender and the values that occur in it.
func (s *spotChecker) output(o *schema.Output) error {
	if _, err := s.must(schema.FamilyTxHash, o.Pk.Tx().AppendTo(nil), "output %v exists", o.Pk); err != nil {
		return err
	}
	spender, err := s.r.Get(schema.FamilySpentInput, o.Pk.AppendTo(nil))
	spent := err == nil
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if spent {
		if _, err := s.must(schema.FamilySpentUtxo, spender, "it spends output %v", o.Pk); err != nil {
			return err
		}
	}
	for _, value := range o.Occurrences[:min(spotRows, len(o.Occurrences))] {
		if err := s.occurrence(o.Pk, value, spent); err != nil {
			return err
		}
	}
	return nil
}

// occurrence checks a value that occurs in an output, in every family of its index.
func (s *spotChecker) occurrence(pk model.UtxoPk, o schema.Occurrence, spent bool) error {
	x := o.Index
	if !x.Active.Has(schema.FeatureValues) {
		return nil // being added
	}
	birth, relation := o.Birth.AppendTo(nil, x.Kind.HasOrdinal()), schema.AppendRelationKey(nil, x, o.Birth, pk)
	reason := fmt.Sprintf("a value of index %s occurs in output %v", x.Name, pk)
	value, err := s.must(x.Family(schema.IndexValue), birth, "%s", reason)
	if err != nil {
		return err
	}
	found, err := s.Births(s.r, x.Number, [][]byte{value})
	if err != nil {
		return err
	}
	if found[0] == nil || *found[0] != o.Birth {
		return fmt.Errorf("%s has no row for the value born at %v", s.FamilyName(x.Family(schema.IndexBirth)), o.Birth)
	}
	for _, row := range []struct {
		expected bool
		of       storage.Family
		key      []byte
	}{
		{x.Kind != model.OneToOne && !o.BornAt(pk), schema.IndexRelations, relation},
		{x.Active.Has(schema.FeatureBalance), schema.IndexBalance, birth},
		{x.Active.Has(schema.FeatureUnspent) && !spent, schema.IndexUnspent, relation},
		{x.Active.Has(schema.FeatureHistory), schema.IndexHistory, schema.AppendHistoryKey(nil, x, o.Birth, pk.Tx())},
	} {
		if row.expected {
			if _, err := s.must(x.Family(row.of), row.key, "%s", reason); err != nil {
				return err
			}
		}
	}
	return nil
}
