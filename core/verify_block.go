package core

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

const missing = "missing"

// verifyTx is a transaction of the source, where it must stand.
type verifyTx struct {
	*model.Tx
	pk   model.TxPk
	hash string

	spends, made []model.UtxoPk // as the database has them
	assets       bool           // any of these holds some
	in           []*OutputAnswer
}

func (t *verifyTx) at(what string, args ...any) DifferenceAnswer {
	return DifferenceAnswer{Height: uint32(t.pk.Height()), Tx: t.hash, What: fmt.Sprintf(what, args...)}
}

// block compares a block of the source, and all that is in it, with the database.
func (v *verifier) block(b *model.Block) error {
	if err := v.header(b); err != nil {
		return err
	}
	from, to := b.Height.First(), (b.Height + 1).First()
	if len(b.Genesis) > 0 {
		from = 0
	}
	txs, err := v.txsOf(b)
	if err != nil {
		return err
	}
	if err := v.txRows(txs, from, to); err != nil {
		return err
	}
	if err := v.raws(txs, from, to); err != nil {
		return err
	}
	if err := v.verifyOutputs(txs, from, to); err != nil {
		return err
	}
	if err := v.verifyInputs(txs, from, to); err != nil {
		return err
	}
	if err := v.verifyMints(txs); err != nil {
		return err
	}
	v.a.Blocks++
	v.a.Txs += uint64(len(txs))
	return v.ctx.Err()
}

func (v *verifier) header(b *model.Block) error {
	at := func(what string) DifferenceAnswer { return DifferenceAnswer{Height: uint32(b.Height), What: what} }
	hash := v.Chain.FormatHash(b.Hash)
	if b.Height == v.tip.Height {
		v.differ(at("hash of the tip"), hash, v.Chain.FormatHash(v.tip.Hash))
	}
	row, err := schema.BlockAt(v.r, b.Height)
	if err != nil {
		v.differ(at("block by height"), hash, err.Error())
		return v.ctx.Err()
	}
	v.differ(at("hash of the block"), hash, v.Chain.FormatHash(row.Hash))
	v.differ(at("parent of the block"), v.Chain.FormatHash(b.Parent), v.Chain.FormatHash(row.Parent))
	v.differ(at("time of the block"), fmt.Sprint(b.Time), fmt.Sprint(row.Time))
	v.differ(at("slot of the block"), fmt.Sprint(b.Slot), fmt.Sprint(row.Slot))
	v.differ(at("size of the block"), fmt.Sprint(b.Size), fmt.Sprint(row.Size))
	v.differ(at("number of transactions"), fmt.Sprint(len(b.Txs)), fmt.Sprint(row.TxCount))
	v.differ(at("header of the block"), hex.EncodeToString(b.Header), hex.EncodeToString(row.Header))

	place := missing
	back, err := v.r.Get(schema.FamilyHeight, b.Hash[:])
	if err == nil {
		var h model.HeightPk
		var time int64
		if h, time, err = schema.ParseHeightRow(back); err == nil {
			place = fmt.Sprintf("height %d, time %d", h, time)
		}
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		place = err.Error()
	}
	v.differ(at("block by hash"), fmt.Sprintf("height %d, time %d", b.Height, b.Time), place)
	return v.ctx.Err()
}

// txsOf is where the transactions of a block must stand, what existed before the first block included.
func (v *verifier) txsOf(b *model.Block) ([]*verifyTx, error) {
	w := window{}
	first := 0
	if b.Height == 0 {
		first = len(b.Genesis)
	}
	err := errors.Join(w.add(b, b.Genesis, 0, 0, true), w.add(b, b.Txs, b.Height, first, false))
	txs := make([]*verifyTx, len(w.txs))
	for i, t := range w.txs {
		txs[i] = &verifyTx{Tx: t.Tx, pk: t.pk, hash: v.Chain.FormatHash(t.Hash)}
	}
	return txs, err
}

// rowsBetween are the rows of a family whose keys are pointers, by these.
func (v *verifier) rowsBetween(f storage.Family, from, to model.TxPk) (map[model.UtxoPk][]byte, error) {
	rows := map[model.UtxoPk][]byte{}
	for kv, err := range v.r.Scan(f, from.AppendTo(nil), to.AppendTo(nil), false) {
		if err != nil {
			return nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			v.differ(DifferenceAnswer{Height: uint32(from.Height()), What: "row of " + v.FamilyName(f)}, "", err.Error())
			continue
		}
		rows[pk] = slices.Clone(kv.Value)
	}
	return rows, nil
}

// left notes the rows that the source has nothing for: transactions, or inputs or outputs of them.
func (v *verifier) left(rows map[model.UtxoPk][]byte, what string) {
	for _, pk := range slices.Sorted(maps.Keys(rows)) {
		name := fmt.Sprintf("transaction %d", v.txIndex(pk.Tx()))
		if what != "transaction" {
			name = fmt.Sprintf("%s %d of %s", what, pk.Index(), name)
		}
		v.differ(DifferenceAnswer{Height: uint32(pk.Height()), What: "a further " + what}, "", name)
	}
}

// txRows compares the hashes of transactions, in their order, and the way back from hash to place.
func (v *verifier) txRows(txs []*verifyTx, from, to model.TxPk) error {
	rows, err := v.rowsBetween(schema.FamilyTxHash, from, to)
	if err != nil {
		return err
	}
	hashes := make([]model.Hash, len(txs))
	for i, t := range txs {
		hashes[i] = t.Hash
		b, found := rows[model.UtxoPk(t.pk)]
		delete(rows, model.UtxoPk(t.pk))
		at := t.at("transaction %d of the block", v.txIndex(t.pk))
		if !found {
			v.differ(at, t.hash, missing)
			continue
		}
		hash, fee, err := schema.ParseTxHashRow(b)
		if err != nil {
			v.differ(at, t.hash, err.Error())
			continue
		}
		v.differ(at, t.hash, v.Chain.FormatHash(hash))
		at.What = "fee"
		v.differ(at, formatFee(t.Fee), formatFee(fee))
	}
	v.left(rows, "transaction")
	places, errs := singly(hashes, func(hashes []model.Hash) ([][]model.TxPk, error) { return schema.TxPks(v.r, hashes) })
	for i, t := range txs {
		place := missing
		switch pks := places[i]; {
		case errs[i] != nil:
			place = errs[i].Error()
		case slices.Contains(pks, t.pk): // a hash may occur again
			place = t.pk.String()
		case len(pks) > 0:
			place = fmt.Sprint(pks)
		}
		v.differ(t.at("transaction by hash"), t.pk.String(), place)
	}
	return nil
}

// singly asks for many at once, and for each by itself where that fails: one that cannot be answered does not keep the
// others from it.
func singly[Q, A any](questions []Q, ask func([]Q) ([]A, error)) ([]A, []error) {
	errs := make([]error, len(questions))
	answers, err := ask(questions)
	if err == nil {
		return answers, errs
	}
	answers = make([]A, len(questions))
	for i := range questions {
		if one, err := ask(questions[i : i+1]); err != nil {
			errs[i] = err
		} else {
			answers[i] = one[0]
		}
	}
	return answers, errs
}

func formatFee(f model.Fee) string {
	if !f.Stated {
		return ""
	}
	return strconv.FormatUint(f.Amount, 10)
}

// answersFor are the answers to a question for each output. Where one of them cannot be read the others are all the same.
func (v *verifier) answersFor(pks []model.UtxoPk) (answers []*OutputAnswer, errs []error) {
	as, err := v.outputs(pks, 0)
	if err == nil {
		for i := range as {
			answers, errs = append(answers, &as[i]), append(errs, nil)
		}
		return answers, errs
	}
	if len(pks) == 1 {
		return []*OutputAnswer{nil}, []error{err}
	}
	half := len(pks) / 2
	answers, errs = v.answersFor(pks[:half])
	moreAnswers, moreErrs := v.answersFor(pks[half:])
	return append(answers, moreAnswers...), append(errs, moreErrs...)
}

// verifyInputs compares what the inputs spend, and whether that says it is spent by them.
func (v *verifier) verifyInputs(txs []*verifyTx, from, to model.TxPk) error {
	rows, err := v.rowsBetween(schema.FamilySpentUtxo, from, to)
	if err != nil {
		return err
	}
	type spending struct {
		t  *verifyTx
		ii int
	}
	var found []spending
	var spent []model.UtxoPk
	for _, t := range txs {
		v.a.Inputs += uint64(len(t.Inputs))
		for ii := range t.Inputs {
			input, err := t.pk.Input(ii)
			if err != nil {
				return err
			}
			b, ok := rows[model.UtxoPk(input)]
			delete(rows, model.UtxoPk(input))
			if !ok {
				v.differ(t.at("input %d spends", ii), named(v.Layout, &t.Inputs[ii]), missing)
				continue
			}
			pk, err := model.ParseUtxoPk(b)
			if err != nil {
				v.differ(t.at("input %d spends", ii), named(v.Layout, &t.Inputs[ii]), err.Error())
				continue
			}
			t.spends = append(t.spends, pk)
			found, spent = append(found, spending{t, ii}), append(spent, pk)
		}
	}
	v.left(rows, "input")
	answers, errs := v.answersFor(spent)
	for i, s := range found {
		at, want := s.t.at("input %d spends", s.ii), named(v.Layout, &s.t.Inputs[s.ii])
		if errs[i] != nil {
			v.differ(at, want, errs[i].Error())
			continue
		}
		a := answers[i]
		s.t.in = append(s.t.in, a)
		s.t.assets = s.t.assets || len(a.Assets) > 0
		got := fmt.Sprintf("%s:%d", a.Tx, a.Index)
		if v.SpendIndex != nil {
			got = v.SpendIndex.Name + " " + valuesText(a.Keys[v.SpendIndex.Name])
		}
		v.differ(at, want, got)
		by := "unspent"
		if a.SpentBy.Value != nil {
			by = spentByText(a.SpentBy.Value)
		}
		at.What = fmt.Sprintf("spender of what input %d spends", s.ii)
		v.differ(at, spentByText(&SpentByAnswer{s.t.hash, s.ii, uint32(s.t.pk.Height())}), by)
	}
	return v.ctx.Err()
}

func spentByText(s *SpentByAnswer) string {
	return fmt.Sprintf("input %d of %s in block %d", s.Input, s.Tx, s.Height)
}
