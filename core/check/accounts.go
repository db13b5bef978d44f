package check

import (
	"cmp"
	"errors"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// The sums of a value of an index. Each is one side minus the other.
const (
	sumBalance = iota
	sumHeld
	sumUnspentOutputs
	sumHistory
)

// accounts checks that balances, unspent outputs and histories follow from the transactions.
func (c *checker) accounts() error {
	a := accountCheck{}
	var spaces []int
	for _, x := range c.All {
		if (x.Active|x.Building)&schema.AccountFeatures != 0 && (c.only == nil || c.only == x) {
			a.kept, spaces = append(a.kept, x), append(spaces, x.Number)
		}
	}
	if len(a.kept) == 0 {
		return nil
	}
	texts := func(space int) []sumText {
		x := c.ByNumber(uint64(space))
		return []sumText{
			sumBalance:        {x.Family(schema.IndexBalance), "differs from the sums of the value's transactions"},
			sumHeld:           {x.Family(schema.IndexHeld), "differs from the assets in the value's unspent outputs"},
			sumUnspentOutputs: {x.Family(schema.IndexUnspent), "differs from the outputs of the value that no input spends"},
			sumHistory:        {x.Family(schema.IndexHistory), "differs from the transactions of the value"},
		}
	}
	return c.compareSums(spaces, texts, func(s *sumCheck) error {
		a.sumCheck = s
		return errors.Join(a.fromTxs(), a.stored())
	})
}

// accountCheck adds up the numbers of values.
type accountCheck struct {
	*sumCheck
	kept []*schema.Index     // the indexes that are checked
	met  []schema.Occurrence // values that occur in the transaction at hand
	key  []byte              // of a row
}

// The numbers that belong to one key, of a balance or of a row of the history. Each has its own coefficient.
const (
	numberRow = iota
	numberOutputs
	numberUnspent
	numberTxs
	numberReceived
	numberSent
)

// partsAt returns the parts of an index that are stored for the transactions of a block.
func (a *accountCheck) partsAt(x *schema.Index, h model.HeightPk) schema.Features {
	if !slices.Contains(a.kept, x) {
		return 0
	}
	if a.builtTo != nil && h <= *a.builtTo {
		return x.Active | x.Building
	}
	return x.Active
}

// fromTxs subtracts the sums computed from the transactions.
func (a *accountCheck) fromTxs() error {
	for batch, err := range a.ScanTxs(a.ctx, a.r, nil, nil, true) {
		if err != nil {
			return err
		}
		for i := range batch {
			a.tx(&batch[i])
		}
	}
	return nil
}

func (a *accountCheck) tx(t *schema.TxIO) {
	a.met = a.met[:0]
	for i := range t.Spent {
		a.output(t.Pk, &t.Spent[i], true)
	}
	for i := range t.Created {
		a.output(t.Pk, &t.Created[i], false)
	}
	slices.SortFunc(a.met, func(o, p schema.Occurrence) int {
		return cmp.Or(cmp.Compare(o.Index.Number, p.Index.Number), schema.CompareBirths(o.Birth, p.Birth))
	})
	for _, o := range slices.Compact(a.met) {
		p := a.partsAt(o.Index, t.Pk.Height())
		birth := o.Birth.AppendTo(nil, o.Index.Kind.HasOrdinal())
		s := a.of(o.Index.Number, birth)
		if p.Has(schema.FeatureBalance) {
			s[sumBalance] = s[sumBalance].minus(a.coefficient(numberTxs, birth))
		}
		if p.Has(schema.FeatureHistory) {
			a.key = schema.AppendHistoryKey(a.key[:0], o.Index, o.Birth, t.Pk)
			s[sumHistory] = s[sumHistory].minus(a.coefficient(numberRow, a.key))
		}
	}
}

// output subtracts the numbers of an output that a transaction makes or spends.
func (a *accountCheck) output(tx model.TxPk, o *schema.Output, spent bool) {
	amount, unspent := byte(numberReceived), mod61.minus
	if spent {
		amount, unspent = numberSent, mod61.plus
	}
	for _, c := range o.Occurrences {
		p := a.partsAt(c.Index, tx.Height())
		if p&schema.AccountFeatures == 0 {
			continue
		}
		birth := c.Birth.AppendTo(nil, c.Index.Kind.HasOrdinal())
		s := a.of(c.Index.Number, birth)
		if s == nil {
			continue
		}
		a.met = append(a.met, c)
		if p.Has(schema.FeatureBalance) {
			if !spent {
				s[sumBalance] = s[sumBalance].minus(a.coefficient(numberOutputs, birth))
			}
			s[sumBalance] = unspent(s[sumBalance], a.coefficient(numberUnspent, birth)).
				minus(a.coefficient(amount, birth).times(mod61Of(o.Value)))
			for _, e := range o.Assets {
				a.key = schema.AppendHeldKey(a.key[:0], c.Index, c.Birth, e.Birth)
				s[sumHeld] = unspent(s[sumHeld], a.coefficient(numberRow, a.key).times(mod61Of(e.Amount)))
			}
		}
		if p.Has(schema.FeatureUnspent) {
			a.key = schema.AppendRelationKey(a.key[:0], c.Index, c.Birth, o.Pk)
			s[sumUnspentOutputs] = unspent(s[sumUnspentOutputs], a.coefficient(numberRow, a.key))
		}
		if p.Has(schema.FeatureHistory) {
			a.key = schema.AppendHistoryKey(a.key[:0], c.Index, c.Birth, tx)
			s[sumHistory] = s[sumHistory].minus(a.coefficient(amount, a.key).times(mod61Of(o.Value)))
		}
	}
}

// stored adds the numbers of the families. The first pass counts the rows and checks their layout.
func (a *accountCheck) stored() error {
	for _, x := range a.kept {
		for _, f := range []struct {
			which storage.Family
			add   func(x *schema.Index, key, value []byte) error
		}{
			{schema.IndexBalance, a.balance}, {schema.IndexHeld, a.held},
			{schema.IndexUnspent, a.unspent}, {schema.IndexHistory, a.history},
		} {
			if !(x.Active | x.Building).Has(schema.FeatureOf(f.which)) {
				continue
			}
			var err error
			if a.first {
				err = a.scan(x.Family(f.which), func(k, v []byte) error { return f.add(x, k, v) })
			} else {
				err = a.each(x.Family(f.which), func(k, v []byte) error { _ = f.add(x, k, v); return nil })
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *accountCheck) balance(x *schema.Index, k, v []byte) error {
	_, err1 := model.ParseBirthPk(k, x.Kind.HasOrdinal())
	b, err2 := schema.ParseAccountRow(v)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if s := a.of(x.Number, k); s != nil {
		for _, n := range [...]struct {
			name   byte
			number mod61
		}{
			{numberOutputs, mod61Of(uint64(b.Outputs))}, {numberUnspent, mod61Of(uint64(b.Unspent))},
			{numberTxs, mod61Of(uint64(b.Txs))}, {numberReceived, mod61OfWide(b.Received)}, {numberSent, mod61OfWide(b.Sent)},
		} {
			s[sumBalance] = s[sumBalance].plus(a.coefficient(n.name, k).times(n.number))
		}
	}
	return nil
}

func (a *accountCheck) held(x *schema.Index, k, v []byte) error {
	birth, _, err1 := schema.ParseHeldKey(x, k)
	amount, err2 := schema.ParseHoldingRow(v)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if s := a.of(x.Number, birth.AppendTo(nil, x.Kind.HasOrdinal())); s != nil {
		s[sumHeld] = s[sumHeld].plus(a.coefficient(numberRow, k).times(mod61OfWide(amount)))
	}
	return nil
}

func (a *accountCheck) unspent(x *schema.Index, k, v []byte) error {
	birth, _, err := schema.ParseRelationKey(x, k)
	if err == nil && len(v) > 0 {
		err = schema.ErrRow
	}
	if err != nil {
		return err
	}
	if s := a.of(x.Number, birth.AppendTo(nil, x.Kind.HasOrdinal())); s != nil {
		s[sumUnspentOutputs] = s[sumUnspentOutputs].plus(a.coefficient(numberRow, k))
	}
	return nil
}

func (a *accountCheck) history(x *schema.Index, k, v []byte) error {
	birth, _, err1 := schema.ParseHistoryKey(x, k)
	m, err2 := schema.ParseHistoryRow(v)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if s := a.of(x.Number, birth.AppendTo(nil, x.Kind.HasOrdinal())); s != nil {
		s[sumHistory] = s[sumHistory].plus(a.coefficient(numberRow, k)).
			plus(a.coefficient(numberReceived, k).times(mod61Of(m.Received))).
			plus(a.coefficient(numberSent, k).times(mod61Of(m.Sent)))
	}
	return nil
}
