package core

import (
	"cmp"
	"errors"
	"slices"

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
	for _, x := range c.db.catalogue().all {
		if (x.live|x.coming)&partAccounts != 0 && (c.only == nil || c.only == x) {
			a.kept, spaces = append(a.kept, x), append(spaces, x.number)
		}
	}
	if len(a.kept) == 0 {
		return nil
	}
	texts := func(space int) []sumText {
		x := c.db.catalogue().indexByNumber(uint64(space))
		return []sumText{
			sumBalance:        {x.family(indexBalance), "differs from what transactions paid to the value and spent from it"},
			sumHeld:           {x.family(indexHeld), "the assets held differ from those of the value's unspent outputs"},
			sumUnspentOutputs: {x.family(indexUnspent), "the unspent outputs of the value differ from those that no input spends"},
			sumHistory:        {x.family(indexHistory), "differs from the transactions that paid to the value and spent from it"},
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
	kept []*index     // the indexes that are checked
	met  []occurrence // values that occur in the transaction at hand
	key  []byte       // of a row
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
func (a *accountCheck) partsAt(x *index, h model.HeightPk) parts {
	if !slices.Contains(a.kept, x) {
		return 0
	}
	if a.builtTo != nil && h <= *a.builtTo {
		return x.live | x.coming
	}
	return x.live
}

// fromTxs subtracts the numbers that follow from transactions.
func (a *accountCheck) fromTxs() error {
	for batch, err := range a.db.catalogue().transactions(a.ctx, a.r, nil, nil, true) {
		if err != nil {
			return err
		}
		for i := range batch {
			a.tx(&batch[i])
		}
	}
	return nil
}

func (a *accountCheck) tx(t *txMovement) {
	a.met = a.met[:0]
	for i := range t.spends {
		a.output(t.pk, &t.spends[i], true)
	}
	for i := range t.makes {
		a.output(t.pk, &t.makes[i], false)
	}
	slices.SortFunc(a.met, func(o, p occurrence) int {
		return cmp.Or(cmp.Compare(o.index.number, p.index.number), compareBirths(o.birth, p.birth))
	})
	for _, o := range slices.Compact(a.met) {
		p := a.partsAt(o.index, t.pk.Height())
		birth := o.birth.AppendTo(nil, o.index.Kind.HasOrdinal())
		s := a.of(o.index.number, birth)
		if p.has(partBalance) {
			s[sumBalance] = s[sumBalance].minus(a.coefficient(numberTxs, birth))
		}
		if p.has(partHistory) {
			a.key = appendHistoryKey(a.key[:0], o.index, o.birth, t.pk)
			s[sumHistory] = s[sumHistory].minus(a.coefficient(numberRow, a.key))
		}
	}
}

// output subtracts the numbers of an output that a transaction makes or spends.
func (a *accountCheck) output(tx model.TxPk, o *output, spent bool) {
	amount, unspent := byte(numberReceived), mod61.minus
	if spent {
		amount, unspent = numberSent, mod61.plus
	}
	for _, c := range o.occurrences {
		p := a.partsAt(c.index, tx.Height())
		if p&partAccounts == 0 {
			continue
		}
		birth := c.birth.AppendTo(nil, c.index.Kind.HasOrdinal())
		s := a.of(c.index.number, birth)
		if s == nil {
			continue
		}
		a.met = append(a.met, c)
		if p.has(partBalance) {
			if !spent {
				s[sumBalance] = s[sumBalance].minus(a.coefficient(numberOutputs, birth))
			}
			s[sumBalance] = unspent(s[sumBalance], a.coefficient(numberUnspent, birth)).
				minus(a.coefficient(amount, birth).times(mod61Of(o.value)))
			for _, e := range o.assets {
				a.key = appendHeldKey(a.key[:0], c.index, c.birth, e.birth)
				s[sumHeld] = unspent(s[sumHeld], a.coefficient(numberRow, a.key).times(mod61Of(e.amount)))
			}
		}
		if p.has(partUnspent) {
			a.key = appendRelationKey(a.key[:0], c.index, c.birth, o.pk)
			s[sumUnspentOutputs] = unspent(s[sumUnspentOutputs], a.coefficient(numberRow, a.key))
		}
		if p.has(partHistory) {
			a.key = appendHistoryKey(a.key[:0], c.index, c.birth, tx)
			s[sumHistory] = s[sumHistory].minus(a.coefficient(amount, a.key).times(mod61Of(o.value)))
		}
	}
}

// stored adds the numbers of the families. The first pass counts the rows and checks their layout.
func (a *accountCheck) stored() error {
	for _, x := range a.kept {
		for _, f := range []struct {
			which storage.Family
			add   func(x *index, key, value []byte) error
		}{{indexBalance, a.balance}, {indexHeld, a.held}, {indexUnspent, a.unspent}, {indexHistory, a.history}} {
			if !(x.live | x.coming).has(partOf(f.which)) {
				continue
			}
			var err error
			if a.first {
				err = a.scan(x.family(f.which), func(k, v []byte) error { return f.add(x, k, v) })
			} else {
				err = a.each(x.family(f.which), func(k, v []byte) error { _ = f.add(x, k, v); return nil })
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *accountCheck) balance(x *index, k, v []byte) error {
	_, err1 := model.ParseBirthPk(k, x.Kind.HasOrdinal())
	b, err2 := parseAccountRow(v)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if s := a.of(x.number, k); s != nil {
		for _, n := range [...]struct {
			name   byte
			number mod61
		}{
			{numberOutputs, mod61Of(uint64(b.outputs))}, {numberUnspent, mod61Of(uint64(b.unspent))},
			{numberTxs, mod61Of(uint64(b.txs))}, {numberReceived, mod61OfWide(b.received)}, {numberSent, mod61OfWide(b.sent)},
		} {
			s[sumBalance] = s[sumBalance].plus(a.coefficient(n.name, k).times(n.number))
		}
	}
	return nil
}

func (a *accountCheck) held(x *index, k, v []byte) error {
	birth, _, err1 := parseHeldKey(x, k)
	amount, err2 := parseHoldingRow(v)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if s := a.of(x.number, birth.AppendTo(nil, x.Kind.HasOrdinal())); s != nil {
		s[sumHeld] = s[sumHeld].plus(a.coefficient(numberRow, k).times(mod61OfWide(amount)))
	}
	return nil
}

func (a *accountCheck) unspent(x *index, k, v []byte) error {
	birth, _, err := parseRelationKey(x, k)
	if err == nil && len(v) > 0 {
		err = errRow
	}
	if err != nil {
		return err
	}
	if s := a.of(x.number, birth.AppendTo(nil, x.Kind.HasOrdinal())); s != nil {
		s[sumUnspentOutputs] = s[sumUnspentOutputs].plus(a.coefficient(numberRow, k))
	}
	return nil
}

func (a *accountCheck) history(x *index, k, v []byte) error {
	birth, _, err1 := parseHistoryKey(x, k)
	m, err2 := parseHistoryRow(v)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if s := a.of(x.number, birth.AppendTo(nil, x.Kind.HasOrdinal())); s != nil {
		s[sumHistory] = s[sumHistory].plus(a.coefficient(numberRow, k)).
			plus(a.coefficient(numberReceived, k).times(mod61Of(m.received))).
			plus(a.coefficient(numberSent, k).times(mod61Of(m.sent)))
	}
	return nil
}
