package check

import (
	"cmp"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// The numbers that belong to one key, of a balance or of a row of the history. Each has its own coefficient.
const (
	numberRow = iota
	numberOutputs
	numberUnspent
	numberTxs
	numberReceived
	numberSent
)

// accountsOfTxs subtracts the numbers that follow from the transactions.
func (s *sumCheck) accountsOfTxs() error {
	for batch, err := range s.ScanTxs(s.ctx, s.r, nil, nil, true) {
		if err != nil {
			return err
		}
		for i := range batch {
			s.tx(&batch[i])
		}
	}
	return nil
}

// accounts adds the stored numbers of the indexes.
func (s *sumCheck) accounts() error {
	for _, x := range s.indexes {
		for _, f := range []struct {
			which storage.Family
			row   func(x *schema.Index, key, value []byte) error
		}{
			{schema.IndexBalance, s.balance}, {schema.IndexHeld, s.held},
			{schema.IndexUnspent, s.unspentOutput}, {schema.IndexHistory, s.history},
		} {
			if !(x.Active | x.Building).Has(schema.FeatureOf(f.which)) {
				continue
			}
			if f.which == schema.IndexBalance && s.bad == nil {
				if err := s.balances(x); err != nil {
					return err
				}
				continue
			}
			if err := s.scan(x.Family(f.which), func(k, v []byte) error { return f.row(x, k, v) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// balances is the first pass over the balances of an index, which also checks the list of the largest ones.
func (s *sumCheck) balances(x *schema.Index) error {
	list, err := s.richest(x)
	if err != nil {
		return err
	}
	err = s.scan(x.Family(schema.IndexBalance), func(k, v []byte) error {
		birth, account, err := parseBalance(x, k, v)
		if err != nil {
			return err
		}
		list.balance(birth, &account, k)
		s.account(x, birth, &account, k)
		return nil
	})
	if err != nil {
		return err
	}
	return list.count()
}

func parseBalance(x *schema.Index, k, v []byte) (model.BirthPk, schema.Account, error) {
	birth, err1 := model.ParseBirthPk(k, x.Kind.HasOrdinal())
	b, err2 := schema.ParseAccountRow(v)
	return birth, b, cmp.Or(err1, err2)
}

// ofValue returns the sums of a value of an index.
func (s *sumCheck) ofValue(x *schema.Index, birth model.BirthPk) *sums {
	s.key = birth.AppendTo(s.key[:0], x.Kind.HasOrdinal())
	return s.of(x.Number, s.key)
}

func (s *sumCheck) tx(t *schema.TxIO) {
	s.met = s.met[:0]
	for i := range t.Spent {
		s.output(t.Pk, &t.Spent[i], true)
	}
	for i := range t.Created {
		s.output(t.Pk, &t.Created[i], false)
	}
	slices.SortFunc(s.met, func(o, p schema.Occurrence) int {
		return cmp.Or(cmp.Compare(o.Index.Number, p.Index.Number), schema.CompareBirths(o.Birth, p.Birth))
	})
	for _, o := range slices.Compact(s.met) {
		features, of := s.featuresAt(o.Index, t.Pk.Height()), s.ofValue(o.Index, o.Birth)
		if features.Has(schema.FeatureBalance) {
			of.subtract(sumBalance, s.coefficient(numberTxs, s.key))
		}
		if features.Has(schema.FeatureHistory) {
			s.key = schema.AppendHistoryKey(s.key[:0], o.Index, o.Birth, t.Pk)
			of.subtract(sumHistory, s.coefficient(numberRow, s.key))
		}
	}
}

// output subtracts the numbers of an output that a transaction creates, and those of one that it spends, which are
// negative if they count unspent outputs.
func (s *sumCheck) output(tx model.TxPk, o *schema.Output, spent bool) {
	amount, unspent := byte(numberReceived), (*sums).subtract
	if spent {
		amount, unspent = numberSent, (*sums).add
	}
	for _, c := range o.Occurrences {
		features := s.featuresAt(c.Index, tx.Height())
		if features&schema.AccountFeatures == 0 || !slices.Contains(s.indexes, c.Index) {
			continue
		}
		s.met = append(s.met, c)
		of := s.ofValue(c.Index, c.Birth)
		if features.Has(schema.FeatureBalance) {
			if !spent {
				of.subtract(sumBalance, s.coefficient(numberOutputs, s.key))
			}
			unspent(of, sumBalance, s.coefficient(numberUnspent, s.key))
			of.subtract(sumBalance, s.coefficient(amount, s.key).times(mod61Of(o.Value)))
			for _, e := range o.Assets {
				s.key = schema.AppendHeldKey(s.key[:0], c.Index, c.Birth, e.Birth)
				unspent(of, sumHeld, s.coefficient(numberRow, s.key).times(mod61OfWide(e.Amount)))
			}
		}
		if features.Has(schema.FeatureUnspent) {
			s.key = schema.AppendRelationKey(s.key[:0], c.Index, c.Birth, o.Pk)
			unspent(of, sumUnspentOutputs, s.coefficient(numberRow, s.key))
		}
		if features.Has(schema.FeatureHistory) {
			s.key = schema.AppendHistoryKey(s.key[:0], c.Index, c.Birth, tx)
			of.subtract(sumHistory, s.coefficient(amount, s.key).times(mod61Of(o.Value)))
		}
	}
}

func (s *sumCheck) balance(x *schema.Index, k, v []byte) error {
	birth, account, err := parseBalance(x, k, v)
	if err == nil {
		s.account(x, birth, &account, k)
	}
	return err
}

// account adds the numbers of a balance. key is the encoded birth.
func (s *sumCheck) account(x *schema.Index, birth model.BirthPk, b *schema.Account, key []byte) {
	of := s.ofValue(x, birth)
	for number, n := range [...]mod61{
		numberOutputs: mod61Of(uint64(b.Outputs)), numberUnspent: mod61Of(uint64(b.Unspent)),
		numberTxs: mod61Of(uint64(b.Txs)), numberReceived: mod61OfWide(b.Received.Unsigned()), numberSent: mod61OfWide(b.Sent.Unsigned()),
	} {
		of.add(sumBalance, s.coefficient(byte(number), key).times(n))
	}
}

func (s *sumCheck) held(x *schema.Index, k, v []byte) error {
	row, err := x.ParseHeldRow(k, v)
	if err != nil {
		return err
	}
	s.ofValue(x, row.Birth).add(sumHeld, s.coefficient(numberRow, k).times(mod61OfWide(row.Amount)))
	return nil
}

func (s *sumCheck) unspentOutput(x *schema.Index, k, v []byte) error {
	row, err := x.ParseRelationRow(k, v)
	if err != nil {
		return err
	}
	s.ofValue(x, row.Birth).add(sumUnspentOutputs, s.coefficient(numberRow, k))
	return nil
}

func (s *sumCheck) history(x *schema.Index, k, v []byte) error {
	row, err := x.ParseHistoryRow(k, v)
	if err != nil {
		return err
	}
	of := s.ofValue(x, row.Birth)
	of.add(sumHistory, s.coefficient(numberRow, k))
	of.add(sumHistory, s.coefficient(numberReceived, k).times(mod61Of(row.Received)))
	of.add(sumHistory, s.coefficient(numberSent, k).times(mod61Of(row.Sent)))
	return nil
}
