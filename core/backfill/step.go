package backfill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"birthmark/core/ingest"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Step is the rows that a run of blocks adds to an index that is being added. A step adds either the values of the
// index or only features of an index whose values exist.
type Step struct {
	layout   *schema.Layout
	x        *schema.Index
	from, to []byte // the first pointer of the blocks, and the first one after them
	newFrom  model.UtxoPk

	rows   []row                                // new rows of the index
	utxos  []row                                // rows of outputs, with the added values
	births map[model.UtxoPk][]schema.Occurrence // of the values in the outputs of the blocks, if the step adds values
	deltas ledger.Deltas

	rawChecksum uint64 // of the raw transactions in rows

	assets *ingest.AssetRows // if rules are added

	sums   []schema.BlockSums // of the blocks, for statistics
	parent model.Hash         // of the first of them
}

type row struct {
	family     storage.Family
	key, value []byte
}

// Prepare reads the data of the step that adds the blocks after from, up to and including to, to index x. blocks are
// these blocks if the step adds values of outputs or derives assets, otherwise nil; also nil if they have no assets. assets
// is kept between consecutive steps. Error: bad_block if a value violates the kind of the index.
func Prepare(
	ctx context.Context, l *schema.Layout, r storage.Reader, x *schema.Index, from, to model.Point, blocks []*model.Block,
	assets *ingest.AssetState,
) (*Step, error) {
	first := l.PkAfter(from)
	s := &Step{
		layout: l, x: x, from: first.AppendTo(nil), to: l.PkAfter(to).AppendTo(nil), newFrom: first,
		births: map[model.UtxoPk][]schema.Occurrence{}, deltas: ledger.Deltas{Index: x, Features: x.Building, Sign: 1},
	}
	if x.Kind == model.PerBlock {
		return s, s.blocks(r, schema.HeightAfter(from), to.Height)
	}
	if x.Kind == model.Sums || x.Building.Has(schema.FeatureStatistics) {
		if err := s.readSums(ctx, r, schema.HeightAfter(from), to.Height); err != nil || x.Kind == model.Sums {
			return s, err
		}
	}
	if x.IsRules() {
		if len(blocks) == 0 {
			return s, nil // they have no assets
		}
		with, err := l.WithRules()
		if err == nil {
			s.assets, err = ingest.DeriveAssets(with, r, from, blocks, assets)
		}
		return s, err
	}
	if x.IsRaw() {
		return s, s.raws(r, blocks)
	}
	var err error
	if x.Building.Has(schema.FeatureValues) {
		err = ingest.Derive(s.valuesOnly(), r, from, withoutAmounts(blocks), sink{s}, nil)
	} else if x.Building.Has(schema.FeaturePrefix) {
		err = s.texts(r)
	}
	if err == nil && x.Building&(schema.SpendFeatures|schema.FeatureValues) != 0 {
		err = s.txs(ctx, r)
	}
	return s, err
}

// valuesOnly returns a layout of which ingest writes only the values of the index.
func (s *Step) valuesOnly() *schema.Layout {
	l, x := s.layout.Copy(s.x)
	x.Active, x.Building = x.Building&(schema.FeatureValues|schema.FeaturePrefix), 0
	l.PerBlock = nil
	l.Indexes, l.SpendIndex, l.Raw, l.RawFiles = []*schema.Index{x}, nil, false, false // the rest is in the database
	l.Traits = model.Traits{OutputOffset: l.Traits.OutputOffset, Pointers: l.Traits.Pointers}
	return l
}

// withoutAmounts returns copies of blocks that contain only the keys of outputs: the database has the other rows.
func withoutAmounts(blocks []*model.Block) []*model.Block {
	txs := func(all []model.Tx) []model.Tx {
		bare := make([]model.Tx, len(all))
		for i := range all {
			bare[i] = model.Tx{Hash: all[i].Hash, FirstOutput: all[i].FirstOutput, Outputs: make([]model.Output, len(all[i].Outputs))}
			for j := range all[i].Outputs {
				bare[i].Outputs[j].Keys = all[i].Outputs[j].Keys
			}
		}
		return bare
	}
	copies := make([]*model.Block, len(blocks))
	for i, b := range blocks {
		c := *b
		c.Genesis, c.Txs = txs(b.Genesis), txs(b.Txs)
		copies[i] = &c
	}
	return copies
}

// sink is the [storage.Batch] of the rows that ingest derives from the blocks.
type sink struct{ *Step }

func (s sink) Put(f storage.Family, key, value []byte) {
	switch {
	case f >= schema.FirstIndexFamily || s.x.IsRaw():
		s.rows = append(s.rows, row{f, bytes.Clone(key), bytes.Clone(value)})
	case f == schema.FamilyUtxo:
		pk, _ := model.ParseUtxoPk(key) // cannot fail: ingest has just encoded the row
		if parsed, _ := s.layout.ParseUtxoRow(pk, value); len(parsed.Occurrences) > 0 {
			s.births[pk] = parsed.Occurrences
		}
	}
}

// Delete is not called: blocks only add rows.
func (sink) Delete(storage.Family, []byte) {}

// blocks collects the rows of an index of blocks.
func (s *Step) blocks(r storage.Reader, from, to model.HeightPk) error {
	for kv, err := range r.Scan(schema.FamilyBlock, from.AppendTo(nil), (to + 1).AppendTo(nil), false) {
		if err != nil {
			return err
		}
		h, err := model.ParseHeightPk(kv.Key)
		if err != nil {
			return err
		}
		block, err := schema.ParseBlockRow(kv.Value)
		if err != nil {
			return err
		}
		key, err := s.x.BlocksKey(block.Header, h)
		if err != nil {
			return err
		}
		if key != nil {
			s.rows = append(s.rows, row{s.x.Family(schema.IndexBlocks), key, nil})
		}
	}
	return nil
}

// raws collects the raw transactions of blocks, or their places.
func (s *Step) raws(r storage.Reader, blocks []*model.Block) error {
	for _, b := range blocks {
		if s.x.IsPlaces() {
			if err := ingest.CheckPlace(s.layout.Chain, b); err != nil {
				return err
			}
			if b.Place != nil {
				ingest.PutPlace(sink{s}, b.Height, b.Place)
			}
			continue
		}
		if err := ingest.CheckRaw(s.layout.Chain, b); err != nil {
			return err
		}
		if err := s.rawTxs(r, b); err != nil {
			return err
		}
	}
	return nil
}

// rawTxs collects the raw transactions of a block, whose hashes must be those of the database.
func (s *Step) rawTxs(r storage.Reader, b *model.Block) error {
	differs := func(format string, args ...any) error {
		return ingest.BadBlock(fmt.Errorf("block %d %s: "+format, append([]any{b.Height, s.layout.Chain.FormatHash(b.Hash)}, args...)...))
	}
	next, stop := iter.Pull2(r.Scan(schema.FamilyTxHash, s.layout.FirstPk(b.Height).AppendTo(nil), s.layout.FirstPk(b.Height+1).AppendTo(nil), false))
	defer stop()
	err := s.layout.EachTx(b, func(pk model.TxPk, t *model.Tx, genesis bool) error {
		if genesis && b.Height > 0 {
			return nil // genesis transactions have height 0
		}
		kv, err, ok := next()
		switch {
		case err != nil:
			return err
		case !ok:
			return differs("the database has no transaction %s", s.layout.Chain.FormatHash(t.Hash))
		}
		hash, _, err := schema.ParseTxHashRow(kv.Value)
		switch {
		case err != nil:
			return err
		case hash != t.Hash:
			return differs("the database has transaction %s instead of %s", s.layout.Chain.FormatHash(hash), s.layout.Chain.FormatHash(t.Hash))
		case genesis:
			return nil
		}
		s.rawChecksum += schema.RawChecksum(pk, t.Raw)
		s.rows = append(s.rows, row{schema.FamilyRaw, pk.AppendTo(nil), bytes.Clone(t.Raw)})
		return nil
	})
	if err != nil {
		return err
	}
	if _, err, more := next(); more {
		return errors.Join(err, differs("the database has more transactions"))
	}
	return nil
}

// texts collects the text rows of values whose births are in the step, for an index whose values exist already.
func (s *Step) texts(r storage.Reader) error {
	for kv, err := range r.Scan(s.x.Family(schema.IndexValue), s.from, s.to, false) {
		if err != nil {
			return err
		}
		s.rows = append(s.rows, row{s.x.Family(schema.IndexText), schema.AppendTextKey(nil, &s.x.Index, kv.Value, kv.Key), nil})
	}
	return nil
}

// txs collects the rows of the outputs that have values, and the deltas of accounts.
func (s *Step) txs(ctx context.Context, r storage.Reader) error {
	accounts := s.x.Building&schema.SpendFeatures != 0
	for txs, err := range s.layout.ScanTxs(ctx, r, s.from, s.to, false) {
		if err != nil {
			return err
		}
		for i := range txs {
			t := &txs[i]
			for j := range t.Created {
				s.rewrite(&t.Created[j])
			}
			if accounts {
				s.accounts(t)
			}
		}
	}
	s.deltas.Sort()
	return nil
}

// rewrite adds the values of an output to its row.
func (s *Step) rewrite(o *schema.Output) {
	if added := s.births[o.Pk]; len(added) > 0 {
		o.Occurrences = append(o.Occurrences, added...)
		s.utxos = append(s.utxos, row{schema.FamilyUtxo, o.Pk.AppendTo(nil), schema.AppendUtxoRow(nil, o.Pk, &o.UtxoRow)})
	}
}

// accounts adds the deltas of a transaction.
func (s *Step) accounts(t *schema.TxIO) {
	for i := range t.Spent {
		o := &t.Spent[i]
		occurrences := o.Occurrences
		if here := s.births[o.Pk]; len(here) > 0 {
			occurrences = here // its row is not rewritten yet
		}
		for _, c := range occurrences {
			if c.Index.Number == s.x.Number {
				s.deltas.AddSpend(c.Birth, t.Pk, o.Pk, o.Value)
				s.deltas.AddAssets(c.Birth, o.Assets, -1)
			}
		}
	}
	for i := range t.Created {
		o := &t.Created[i]
		for _, c := range o.Occurrences {
			if c.Index.Number == s.x.Number {
				s.deltas.AddOutput(c.Birth, o.Pk, o.Value)
				s.deltas.AddAssets(c.Birth, o.Assets, 1)
			}
		}
	}
}

// readSums reads what statistics need of the blocks.
func (s *Step) readSums(ctx context.Context, r storage.Reader, from, to model.HeightPk) error {
	block, err := schema.BlockAt(r, from)
	kind, _ := model.KindOf(err)
	if kind == model.NotFound && from == 0 { // the chain begins at height 1
		from = 1
		block, err = schema.BlockAt(r, from)
	}
	if err != nil {
		return err
	}
	s.parent = block.Parent
	sums := schema.SumsOfRows(ctx, s.layout, r, from, to+1)
	if s.x.Kind != model.Sums {
		sums = schema.DaysOfRows(r, from, to+1)
	}
	for b, err := range sums {
		if err != nil {
			return err
		}
		s.sums = append(s.sums, b)
	}
	return nil
}

// Emit writes the rows of the step to b and counts them in t. active has the values of the newest days of the blocks
// before the step, if they are known.
func (s *Step) Emit(r storage.Reader, b storage.Batch, t *schema.Totals, active *ledger.Active) error {
	if s.assets != nil {
		return s.assets.Emit(r, b, t)
	}
	for _, row := range s.utxos {
		b.Put(row.family, row.key, row.value)
	}
	for _, row := range s.rows {
		b.Put(row.family, row.key, row.value)
		if schema.Determined(row.family) {
			t.Rows[row.family]++
		}
	}
	t.RawChecksum += s.rawChecksum
	a := &ledger.Applier{
		Reader: r, Batch: b, Totals: t, NewFrom: s.newFrom, Layout: s.layout, Blocks: s.sums, Parent: s.parent, Active: active,
	}
	if s.x.Kind == model.Sums {
		if err := a.Statistics(s.x, s.sums); err != nil {
			return err
		}
	}
	return a.ApplyDeltas(&s.deltas)
}
