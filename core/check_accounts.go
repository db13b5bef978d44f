package core

import (
	"errors"
	"hash/maphash"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// How values stand is said twice, as how assets stand is (check_standing.go): by the transactions, and by the families
// that options keep. Both are summed up over all values of an index at once, each number times random factors.

// The sums of a group of values: each is one side less the other.
const (
	sumBalance = iota
	sumHeld
	sumUnspentOf
	sumHistory
	accountSumCount
)

var accountFaults = [accountSumCount]struct {
	family storage.Family
	fault  string
}{
	sumBalance:   {indexBalance, "differs from what transactions paid to the value and spent from it"},
	sumHeld:      {indexHeld, "the assets held differ from those of the value's unspent outputs"},
	sumUnspentOf: {indexUnspent, "the unspent outputs of the value differ from those that no input spends"},
	sumHistory:   {indexHistory, "differs from the transactions that paid to the value and spent from it"},
}

type accountSums [accountSumCount]residue

// accounts: balances, unspent outputs and histories are what transactions say.
func (c *checker) accounts() error {
	var kept []*index
	for _, x := range c.db.catalogue().all {
		if (x.live|x.coming)&partAccounts != 0 && (c.only == nil || c.only == x) {
			kept = append(kept, x)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	w := &accountWeighing{checker: c, seed: maphash.MakeSeed(), kept: kept}
	groups := map[*index]*[assetGroups]accountSums{}
	for _, x := range kept {
		groups[x] = &[assetGroups]accountSums{}
	}
	if err := w.run(func(x *index, birth []byte) *accountSums { return &groups[x][w.hash(birth)%assetGroups] }, true); err != nil {
		return err
	}
	type group struct {
		x *index
		g uint64
	}
	bad, more := map[group]bool{}, 0
	for x, gs := range groups {
		for g := range gs {
			switch {
			case gs[g] == accountSums{}:
			case len(bad) < mostGroups:
				bad[group{x, uint64(g)}] = true
			default:
				more++
			}
		}
	}
	if len(bad) == 0 {
		return nil
	}
	type value struct {
		x     *index
		birth string
	}
	values := map[value]*accountSums{}
	err := w.run(func(x *index, birth []byte) *accountSums {
		if !bad[group{x, w.hash(birth) % assetGroups}] {
			return nil
		}
		at := value{x, string(birth)}
		if values[at] == nil {
			values[at] = &accountSums{}
		}
		return values[at]
	}, false)
	for v, sums := range values {
		for i, n := range sums {
			if n != 0 {
				c.fault(v.x.family(accountFaults[i].family), []byte(v.birth), "%s", accountFaults[i].fault)
			}
		}
	}
	if more > 0 {
		c.fault(familyMeta, nil, "values of %d more groups of %d do not stand as transactions say", more, assetGroups)
	}
	return err
}

// accountWeighing is one check of how values stand.
type accountWeighing struct {
	*checker
	seed maphash.Seed
	kept []*index // the indexes that are looked at
	of   func(x *index, birth []byte) *accountSums
}

func (w *accountWeighing) hash(b []byte) uint64 { return maphash.Bytes(w.seed, b) }

// factor is the random factor of a key, one for each number of it.
func (w *accountWeighing) factor(number byte, key []byte) residue {
	return residueOf(w.hash(append(append(make([]byte, 0, 48), number), key...)))
}

// run adds up both sides; of gives the sums a value belongs to, nil where they are not wanted.
func (w *accountWeighing) run(of func(x *index, birth []byte) *accountSums, first bool) error {
	w.of = of
	return errors.Join(w.moved(), w.stated(first))
}

// The numbers of an account and of a history's row, which have a factor each.
const (
	numberOutputs = iota
	numberUnspent
	numberTxs
	numberReceived
	numberSent
	numberRow
)

// partsAt is what of an index is kept of the transactions of a block.
func (w *accountWeighing) partsAt(x *index, h model.HeightPk) parts {
	if !slices.Contains(w.kept, x) {
		return 0
	}
	if w.builtTo != nil && h <= *w.builtTo {
		return x.live | x.coming
	}
	return x.live
}

// moved takes off what transactions say.
func (w *accountWeighing) moved() error {
	for batch, err := range w.db.transactions(w.ctx, w.r, nil, nil, true) {
		if err != nil {
			return err
		}
		for i := range batch {
			w.tx(&batch[i])
		}
	}
	return nil
}

func (w *accountWeighing) tx(t *txMovement) {
	type pair struct {
		x     *index
		birth model.BirthPk
	}
	met := map[pair]*movement{}
	each := func(os []output, sign int64) {
		for _, o := range os {
			for _, c := range o.occurrences {
				p := w.partsAt(c.index, t.pk.Height())
				if p&partAccounts == 0 {
					continue
				}
				birth := c.birth.AppendTo(nil, c.index.Kind.Wide())
				s := w.of(c.index, birth)
				if s == nil {
					continue
				}
				at := pair{c.index, c.birth}
				if met[at] == nil {
					met[at] = &movement{}
				}
				if sign > 0 {
					met[at].received += o.value
				} else {
					met[at].sent += o.value
				}
				if p.has(partBalance) {
					if sign > 0 {
						s[sumBalance] = s[sumBalance].less(w.factor(numberOutputs, birth)).less(w.factor(numberUnspent, birth))
					} else {
						s[sumBalance] = s[sumBalance].plus(w.factor(numberUnspent, birth))
					}
					for _, e := range o.assets {
						n := w.factor(numberRow, appendHeldKey(nil, c.index, c.birth, e.birth)).times(residueOf(e.amount))
						if sign > 0 {
							s[sumHeld] = s[sumHeld].less(n)
						} else {
							s[sumHeld] = s[sumHeld].plus(n)
						}
					}
				}
				if p.has(partUnspent) {
					n := w.factor(numberRow, appendRelationKey(nil, c.index, c.birth, o.pk))
					if sign > 0 {
						s[sumUnspentOf] = s[sumUnspentOf].less(n)
					} else {
						s[sumUnspentOf] = s[sumUnspentOf].plus(n)
					}
				}
			}
		}
	}
	each(t.spends, -1)
	each(t.makes, 1)
	for at, m := range met {
		p := w.partsAt(at.x, t.pk.Height())
		birth := at.birth.AppendTo(nil, at.x.Kind.Wide())
		s := w.of(at.x, birth)
		if p.has(partBalance) {
			s[sumBalance] = s[sumBalance].less(w.factor(numberTxs, birth)).
				less(w.factor(numberReceived, birth).times(residueOf(m.received))).
				less(w.factor(numberSent, birth).times(residueOf(m.sent)))
		}
		if p.has(partHistory) {
			s[sumHistory] = s[sumHistory].less(w.history(at.x, at.birth, t.pk, *m))
		}
	}
}

func (w *accountWeighing) history(x *index, birth model.BirthPk, tx model.TxPk, m movement) residue {
	key := appendHistoryKey(nil, x, birth, tx)
	return w.factor(numberRow, key).
		plus(w.factor(numberReceived, key).times(residueOf(m.received))).
		plus(w.factor(numberSent, key).times(residueOf(m.sent)))
}

// stated adds what the families of options say; the first time their rows are counted.
func (w *accountWeighing) stated(first bool) error {
	scan := func(x *index, which storage.Family, visit func(k, v []byte) error) error {
		if !(x.live | x.coming).has(partOf(which)) {
			return nil
		}
		if first {
			return w.scan(x.family(which), visit)
		}
		for kv, err := range w.r.Scan(x.family(which), nil, nil, false) {
			if err != nil {
				return err
			}
			_ = visit(kv.Key, kv.Value) // what is broken was told of the first time
		}
		return w.ctx.Err()
	}
	for _, x := range w.kept {
		err := errors.Join(
			scan(x, indexBalance, func(k, v []byte) error { return w.balance(x, k, v) }),
			scan(x, indexHeld, func(k, v []byte) error {
				birth, _, err1 := parseHeldKey(x, k)
				amount, err2 := parseHoldingRow(v)
				if s := w.of(x, birth.AppendTo(nil, x.Kind.Wide())); s != nil {
					s[sumHeld] = s[sumHeld].plus(w.factor(numberRow, k).times(residueOfWide(amount)))
				}
				return errors.Join(err1, err2)
			}),
			scan(x, indexUnspent, func(k, v []byte) error {
				birth, _, err := parseRelationKey(x, k)
				if s := w.of(x, birth.AppendTo(nil, x.Kind.Wide())); s != nil {
					s[sumUnspentOf] = s[sumUnspentOf].plus(w.factor(numberRow, k))
				}
				if err == nil && len(v) > 0 {
					err = errRow
				}
				return err
			}),
			scan(x, indexHistory, func(k, v []byte) error {
				birth, tx, err1 := parseHistoryKey(x, k)
				m, err2 := parseHistoryRow(v)
				if s := w.of(x, birth.AppendTo(nil, x.Kind.Wide())); s != nil {
					s[sumHistory] = s[sumHistory].plus(w.history(x, birth, tx, m))
				}
				return errors.Join(err1, err2)
			}))
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *accountWeighing) balance(x *index, k, v []byte) error {
	_, err1 := model.ParseBirthPk(k, x.Kind.Wide())
	a, err2 := parseAccountRow(v)
	if s := w.of(x, k); s != nil {
		for number, n := range map[byte]residue{
			numberOutputs: residueOf(uint64(a.outputs)), numberUnspent: residueOf(uint64(a.unspent)), numberTxs: residueOf(uint64(a.txs)),
			numberReceived: residueOfWide(a.received), numberSent: residueOfWide(a.sent),
		} {
			s[sumBalance] = s[sumBalance].plus(w.factor(number, k).times(n))
		}
	}
	return errors.Join(err1, err2)
}
