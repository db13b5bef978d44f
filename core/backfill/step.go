package backfill

import (
	"context"
	"fmt"

	"birthmark/core/ingest"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Step adds a run of blocks to an index that is being added. A step adds either the values of the index or only
// features of an index whose values exist.
type Step struct {
	layout   *schema.Layout
	ctx      context.Context
	x        *schema.Index
	from, to model.Point

	outputs []outputValues // outputs with values of the index, if the step adds values
	births  map[model.UtxoPk][]model.BirthPk
	places  map[model.UtxoPk][]*occurringValue
	named   map[string]*occurringValue
	order   []*occurringValue // the values in the blocks, in the order of their first occurrence in the step
	born    []occurringValue  // values whose texts to add, if the values exist already
	tally   *ledger.Deltas
}

// outputValues is an output whose row receives values.
type outputValues struct {
	row    schema.UtxoRow
	pk     model.UtxoPk
	values []*occurringValue
}

// occurringValue is a value and its birth.
type occurringValue struct {
	value []byte
	birth model.BirthPk
	known bool // born before the blocks of the step
}

// Prepare reads the data of the step from r. blocks are the blocks of the step if it adds values, otherwise nil. Error:
// bad_block if a value violates the kind of the index.
func (s *Step) Prepare(r storage.Reader, blocks []*model.Block) error {
	s.births, s.named = map[model.UtxoPk][]model.BirthPk{}, map[string]*occurringValue{}
	s.tally = &ledger.Deltas{Index: s.x, Features: s.x.Building, Sign: 1}
	if s.x.Building.Has(schema.FeatureValues) {
		if err := s.values(r, blocks); err != nil {
			return err
		}
	} else if s.x.Building.Has(schema.FeaturePrefix) {
		if err := s.texts(r); err != nil {
			return err
		}
	}
	if s.x.Building&(schema.AccountFeatures|schema.FeatureValues) == 0 {
		return nil
	}
	from, to := schema.PkAfter(s.from).AppendTo(nil), schema.PkAfter(s.to).AppendTo(nil)
	for txs, err := range s.layout.ScanTxs(s.ctx, r, from, to, false) {
		if err != nil {
			return err
		}
		for i := range txs {
			s.tx(&txs[i])
		}
	}
	s.tally.Sort()
	return nil
}

// values finds the births of the values in the blocks.
func (s *Step) values(r storage.Reader, blocks []*model.Block) error {
	at := map[model.UtxoPk][]*occurringValue{}
	for _, b := range blocks {
		err := schema.EachTx(b, func(pk model.TxPk, t *model.Tx, _ bool) error {
			for oi := range t.Outputs {
				utxo, err := pk.Utxo(t.OutputIndex(oi))
				if err != nil {
					return err
				}
				if err := s.output(at, utxo, t.Outputs[oi].Keys); err != nil {
					return fmt.Errorf("block %d %s: output %d of %s: %w", b.Height, s.layout.Chain.FormatHash(b.Hash), t.OutputIndex(oi), s.layout.Chain.FormatHash(t.Hash), ingest.BadBlock(err))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	values := make([][]byte, len(s.order))
	for i, v := range s.order {
		values[i] = v.value
	}
	births, err := s.layout.Births(r, s.x.Number, values)
	if err != nil {
		return err
	}
	for i, v := range s.order {
		if births[i] == nil {
			continue
		}
		if s.x.Kind == model.OneToOne {
			return ingest.BadBlock(fmt.Errorf("value %s of %s occurs at %v and again at %v: an index of this kind has each value once", s.x.Format(v.value), s.x.Name, *births[i], v.birth.Utxo))
		}
		v.birth, v.known = *births[i], true
	}
	for utxo, vs := range at {
		for _, v := range vs {
			s.births[utxo] = append(s.births[utxo], v.birth)
		}
	}
	s.places = at
	return nil
}

// output adds the values of an output.
func (s *Step) output(at map[model.UtxoPk][]*occurringValue, utxo model.UtxoPk, keys []model.Key) error {
	if len(keys) > 1 && !s.x.Kind.HasOrdinal() {
		return fmt.Errorf("%d values of %s, which is %v", len(keys), s.x.Name, s.x.Kind)
	}
	for i, k := range keys {
		if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize {
			return fmt.Errorf("value of %s has %d bytes, expected 1 to %d", s.x.Name, len(k.Value), model.MaxValueSize)
		}
		ordinal, err := model.NewOrdinal(i)
		if err != nil {
			return err
		}
		v := s.named[string(k.Value)]
		if v == nil {
			v = &occurringValue{value: k.Value, birth: model.BirthPk{Utxo: utxo, Ordinal: ordinal}}
			s.named[string(k.Value)] = v
			s.order = append(s.order, v)
		} else if s.x.Kind == model.OneToOne {
			return fmt.Errorf("value %s of %s occurs at %v already", s.x.Format(k.Value), s.x.Name, v.birth)
		}
		for _, before := range at[utxo] {
			if before == v {
				return fmt.Errorf("value %s of %s is named twice", s.x.Format(k.Value), s.x.Name)
			}
		}
		at[utxo] = append(at[utxo], v)
	}
	return nil
}

// texts finds the values whose births are in the step, for an index whose values exist already.
func (s *Step) texts(r storage.Reader) error {
	from, to := schema.PkAfter(s.from).AppendTo(nil), schema.PkAfter(s.to).AppendTo(nil)
	for kv, err := range r.Scan(s.x.Family(schema.IndexValue), from, to, false) {
		if err != nil {
			return err
		}
		birth, err := model.ParseBirthPk(kv.Key, s.x.Kind.HasOrdinal())
		if err != nil {
			return err
		}
		s.born = append(s.born, occurringValue{value: append([]byte(nil), kv.Value...), birth: birth})
	}
	return nil
}

// tx adds the deltas of a transaction.
func (s *Step) tx(t *schema.TxIO) {
	wanted := s.x.Building&schema.AccountFeatures != 0
	for i := range t.Spent {
		if o := &t.Spent[i]; wanted {
			for _, birth := range s.birthsAt(o) {
				s.tally.AddSpend(birth, t.Pk, o.Pk, o.Value)
				s.tally.AddAssets(birth, o.Assets, -1)
			}
		}
	}
	for i := range t.Created {
		o := &t.Created[i]
		if values := s.places[o.Pk]; len(values) > 0 {
			s.outputs = append(s.outputs, outputValues{o.UtxoRow, o.Pk, values})
		}
		if wanted {
			for _, birth := range s.birthsAt(o) {
				s.tally.AddOutput(birth, o.Pk, o.Value)
				s.tally.AddAssets(birth, o.Assets, 1)
			}
		}
	}
}

// birthsAt returns the births of the index's values in an output: from the step's blocks, or from the output's row.
func (s *Step) birthsAt(o *schema.Output) []model.BirthPk {
	if births, here := s.births[o.Pk]; here {
		return births
	}
	var births []model.BirthPk
	for _, c := range o.Occurrences {
		if c.Index == s.x {
			births = append(births, c.Birth)
		}
	}
	return births
}

// Emit writes the rows of the step to b and counts them in t.
func (s *Step) Emit(r storage.Reader, b storage.Batch, t *schema.Totals) error {
	x := s.x
	put := func(which storage.Family, key, value []byte) {
		b.Put(x.Family(which), key, value)
		t.Rows[x.Family(which)]++
	}
	var key, value []byte
	for i := range s.outputs {
		o := &s.outputs[i]
		value = schema.AppendUtxoRow(value[:0], o.pk, &o.row)
		for _, v := range o.values {
			value = schema.AppendOccurrence(value, o.pk, x, v.birth)
			if v.birth.Utxo != o.pk {
				key = schema.AppendRelationKey(key[:0], x, v.birth, o.pk)
				put(schema.IndexRelations, key, nil)
			}
		}
		key = o.pk.AppendTo(key[:0])
		b.Put(schema.FamilyUtxo, key, value)
	}
	for _, v := range s.order {
		if v.known {
			continue
		}
		key = v.birth.AppendTo(key[:0], x.Kind.HasOrdinal())
		put(schema.IndexValue, key, v.value)
		put(schema.IndexBirth, schema.AppendBirthKey(nil, v.value, key), nil)
		if x.Building.Has(schema.FeaturePrefix) {
			put(schema.IndexText, schema.AppendTextKey(nil, &x.Index, v.value, key), nil)
		}
	}
	for _, v := range s.born {
		key = v.birth.AppendTo(key[:0], x.Kind.HasOrdinal())
		put(schema.IndexText, schema.AppendTextKey(nil, &x.Index, v.value, key), nil)
	}
	return (&ledger.Applier{Reader: r, Batch: b, Totals: t, NewFrom: schema.PkAfter(s.from)}).ApplyDeltas(s.tally)
}

// NewStep returns the step that adds the blocks after from, up to and including to, to index x, which is being added.
func NewStep(ctx context.Context, l *schema.Layout, x *schema.Index, from, to model.Point) *Step {
	return &Step{layout: l, ctx: ctx, x: x, from: from, to: to}
}
