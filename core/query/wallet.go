package query

import (
	"fmt"
	"slices"
	"strconv"

	"birthmark/core/schema"
	"birthmark/model"
)

const (
	// DefaultGap is the default number of unused positions in a row that ends a branch of a wallet (BIP 44).
	DefaultGap = 20
	// MaxGap is the maximum of it.
	MaxGap = 1000
	// MaxWalletValues is the maximum number of values of a wallet, used or not, that a query derives.
	MaxWalletValues = 100_000

	derivePoints = 50 // of a key, for the meter
)

// WithGap returns queries that end a branch of a wallet after gap unused positions in a row; 0: [DefaultGap].
func (qs Queries) WithGap(gap int) Queries {
	qs.gap = gap
	return qs
}

// WalletValue is a value of a wallet.
type WalletValue struct {
	Branch, Position int
	Value            []byte         // in stored form
	Birth            *model.BirthPk // nil: unused
}

// holder is the values of an index that a question is about: one value, or those of a wallet.
type holder struct {
	index  *schema.Index
	text   string          // in answers
	value  []byte          // in stored form; nil: a wallet
	births []model.BirthPk // of the values that occur, in order
	wallet *walletValues   // nil: one value
	one    [1]model.BirthPk
}

// valueHolder returns one value; a nil birth: no output has it.
func (q *Query) valueHolder(x *schema.Index, value []byte, birth *model.BirthPk) *holder {
	h := &holder{index: x, text: q.FormatValue(x, value, birth), value: value}
	if birth != nil {
		h.one[0] = *birth
		h.births = h.one[:]
	}
	return h
}

// walletValues are the values of a wallet that a query has derived: of each branch those up to the last used one, and the
// gap after it.
type walletValues struct {
	model.Wallet
	gap int
	all []WalletValue // in the order of branches and positions
	by  map[string]*WalletValue
}

// holder returns the values that a text names: a value of an index, or a wallet. The values of another index can be named
// as values of this one: see [model.IndexChooser].
func (q *Query) holder(index, text string) (*holder, error) {
	w, err := model.WalletOf(q.Chain, index, text)
	if err != nil {
		return nil, err
	}
	if w == nil {
		x, raw, birth, err := q.ChosenValue(index, text)
		if err != nil {
			return nil, err
		}
		return q.valueHolder(x, raw, birth), nil
	}
	x, err := q.Index(index)
	if err != nil {
		return nil, err
	}
	h := &holder{index: x, text: text}
	if h.wallet, err = q.walletValues(x, w, nil); err != nil {
		return nil, err
	}
	for _, v := range h.wallet.all {
		if v.Birth != nil {
			h.births = append(h.births, *v.Birth)
		}
	}
	slices.SortFunc(h.births, schema.CompareBirths)
	h.births = slices.Compact(h.births)
	return h, nil
}

// IndexFor returns the name of the index that has a value which was given as a value of an index: see
// [model.IndexChooser].
func (q *Query) IndexFor(index, text string) string {
	if c, ok := q.Chain.(model.IndexChooser); ok {
		return c.ChooseIndex(index, text)
	}
	return index
}

// ChosenValue is [pointers.Reader.Value] for a value that another index can have: see [model.IndexChooser].
func (q *Query) ChosenValue(index, text string) (*schema.Index, []byte, *model.BirthPk, error) {
	chosen := q.IndexFor(index, text)
	x, value, birth, err := q.Value(chosen, text)
	if kind, code := model.KindOf(err); err != nil && chosen != index && code != "bad_value" {
		err = model.Errorf(kind, code, "the value is one of index %s, not of %s: %w; birthmark index add %s adds it", chosen, index, err, chosen)
	}
	return x, value, birth, err
}

// holders returns what texts name, as [Query.holder] does. It reads the births of all plain values together.
func (q *Query) holders(index string, texts []string) ([]*holder, error) {
	x, err := q.Index(index)
	if err != nil {
		return nil, err
	}
	holders := make([]*holder, len(texts))
	var values [][]byte
	var plain []int
	for i, text := range texts {
		w, err := model.WalletOf(q.Chain, index, text)
		var value []byte
		switch {
		case err != nil:
		case w != nil || q.IndexFor(index, text) != index:
			holders[i], err = q.holder(index, text)
		default:
			if value, err = x.Parse(text); err != nil {
				err = model.Errorf(model.Usage, "bad_value", "%s: %w", index, err)
			}
			values, plain = append(values, value), append(plain, i)
		}
		if kind, code := model.KindOf(err); err != nil && kind == model.Usage {
			return nil, model.Errorf(model.Usage, code, "values[%d]: %w", i, err)
		} else if err != nil {
			return nil, err
		}
	}
	births, err := q.ValueBirths(x, values)
	for n, birth := range births {
		holders[plain[n]] = q.valueHolder(x, values[n], birth)
	}
	return holders, err
}

// first returns the first output with one of the values, or nil.
func (h *holder) first() *model.UtxoPk {
	if len(h.births) == 0 {
		return nil
	}
	return &h.births[0].Utxo
}

// scope identifies the values in cursors.
func (h *holder) scope() string {
	if h.wallet == nil {
		return string(h.value)
	}
	return h.text + " gap " + strconv.Itoa(h.wallet.gap)
}

// walletValues derives the values of a wallet. Values for which also returns true count as used; it may be nil.
func (q *Query) walletValues(x *schema.Index, w model.Wallet, also func(value []byte) bool) (*walletValues, error) {
	found := &walletValues{Wallet: w, gap: q.gap, by: map[string]*WalletValue{}}
	if found.gap == 0 {
		found.gap = DefaultGap
	}
	if found.gap < 1 || found.gap > MaxGap {
		return nil, model.Errorf(model.Usage, "bad_gap", "gap %d: expected a number from 1 to %d", found.gap, MaxGap)
	}
	for branch := range w.Branches() {
		end := 1
		if w.Ranged() {
			end = found.gap
		}
		for from := 0; from < end; {
			values, err := q.deriveValues(found, branch, from, end)
			if err != nil {
				return nil, err
			}
			births, err := q.ValueBirths(x, values)
			if err != nil {
				return nil, err
			}
			from = end
			new := found.all[len(found.all)-len(values):]
			for i := range new {
				if new[i].Birth = births[i]; w.Ranged() && (births[i] != nil || also != nil && also(values[i])) {
					end = max(end, new[i].Position+1+found.gap)
				}
			}
		}
	}
	for i := range found.all {
		found.by[string(found.all[i].Value)] = &found.all[i]
	}
	return found, nil
}

// deriveValues adds the values of positions of a branch.
func (q *Query) deriveValues(to *walletValues, branch, from, end int) (values [][]byte, err error) {
	for position := from; position < end; position++ {
		of, derived, err := to.Values(branch, position)
		if err != nil {
			return nil, fmt.Errorf("values of a wallet: %w", err)
		}
		if err := q.R.Spend(1 + int64(derived)*derivePoints); err != nil {
			return nil, err
		}
		for _, v := range of {
			to.all = append(to.all, WalletValue{Branch: branch, Position: position, Value: v})
			values = append(values, v)
		}
	}
	if len(to.all) > MaxWalletValues {
		return nil, model.Errorf(model.Usage, "wallet_too_large", "the wallet has more than %d addresses, the limit: "+
			"use a smaller gap, or its branches one by one", MaxWalletValues)
	}
	return values, q.Pass(len(values))
}

// ValuesOf returns the stored values of an index that a text names: one value, or all that are derived from a wallet, for
// which values for which also returns true count as used.
func (q *Query) ValuesOf(index, text string, also func(x *schema.Index, value []byte) bool) (*schema.Index, [][]byte, error) {
	w, err := model.WalletOf(q.Chain, index, text)
	if err != nil {
		return nil, nil, err
	}
	if w == nil {
		x, value, _, err := q.ChosenValue(index, text)
		return x, [][]byte{value}, err
	}
	x, err := q.Index(index)
	if err != nil {
		return nil, nil, err
	}
	found, err := q.walletValues(x, w, func(value []byte) bool { return also != nil && also(x, value) })
	if err != nil {
		return nil, nil, err
	}
	values := make([][]byte, len(found.all))
	for i, v := range found.all {
		values[i] = v.Value
	}
	return x, values, nil
}

// answer describes the values of a wallet; nil for a single value. With next it has the first unused value after the last
// used one of each branch.
func (h *holder) answer(next bool) *DerivedAnswer {
	w := h.wallet
	if w == nil {
		return nil
	}
	a := &DerivedAnswer{Gap: w.gap}
	unused := map[int]WalletValue{}
	for _, v := range w.all {
		if v.Birth != nil {
			a.UsedCount++
			delete(unused, v.Branch)
		} else if _, known := unused[v.Branch]; !known {
			unused[v.Branch] = v
		}
	}
	for branch := range w.Branches() {
		if v, ok := unused[branch]; ok && next {
			a.Next = append(a.Next, DerivedValueAnswer{h.index.Format(v.Value), branch, v.Position, w.Path(branch, v.Position)})
		}
	}
	return a
}

// setPaths sets the paths of outputs of a wallet.
func (h *holder) setPaths(outputs []OutputAnswer) error {
	if h.wallet == nil {
		return nil
	}
	for i := range outputs {
		text, _ := outputs[i].Keys[h.index.Name].(string)
		value, err := h.index.Parse(text)
		if err != nil {
			return err
		}
		if v := h.wallet.by[string(value)]; v != nil {
			outputs[i].Path = h.wallet.Path(v.Branch, v.Position)
		}
	}
	return nil
}
