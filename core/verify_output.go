package core

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// verifyOutput is an output of the source, where it must stand.
type verifyOutput struct {
	*model.Output
	t  *verifyTx
	oi int
	pk model.UtxoPk
}

func (o *verifyOutput) at(what string) DifferenceAnswer { return o.t.at("%s %d", what, o.oi) }

// verifyOutputs compares the outputs with the answers about them, and the way back from each of their values and assets.
func (v *verifier) verifyOutputs(txs []*verifyTx, from, to model.TxPk) error {
	rows, err := v.rowsBetween(schema.FamilyUtxo, from, to)
	if err != nil {
		return err
	}
	var outputs []verifyOutput
	var pks []model.UtxoPk // of those that the database has
	for _, t := range txs {
		v.a.Outputs += uint64(len(t.Outputs))
		for oi := range t.Outputs {
			index := t.OutputIndex(oi)
			pk, err := t.pk.Utxo(index)
			if err != nil {
				return err
			}
			o := verifyOutput{&t.Outputs[oi], t, index, pk}
			if _, found := rows[pk]; !found {
				v.differ(o.at("output"), strconv.FormatUint(o.Value, 10), missing)
				continue
			}
			delete(rows, pk)
			t.made = append(t.made, pk)
			outputs, pks = append(outputs, o), append(pks, pk)
		}
	}
	v.left(rows, "output")
	d := decoder{c: v.Chain}
	for _, x := range v.Indexes {
		d.indexes = append(d.indexes, x.Index)
	}
	answers, errs := v.answersFor(pks)
	for i := range outputs {
		o := &outputs[i]
		if errs[i] != nil {
			v.differ(o.at("output"), strconv.FormatUint(o.Value, 10), errs[i].Error())
			continue
		}
		want, got := d.output(o.oi, o.Output), answers[i]
		v.differ(o.at("value of output"), want.Value, got.Value)
		for _, x := range v.Indexes {
			at := o.at(x.Name + " of output")
			at.Index = x.Name
			v.differ(at, valuesText(want.Keys[x.Name]), valuesText(got.Keys[x.Name]))
		}
		o.t.assets = o.t.assets || len(got.Assets) > 0 || len(o.Assets) > 0
		v.differ(o.at("assets of output"), v.assetsText(o), assetsText(got.Assets))
	}
	if err := v.spenders(outputs, pks); err != nil {
		return err
	}
	for i, x := range v.Indexes {
		if err := v.foundBy(x, i, outputs); err != nil {
			return err
		}
	}
	return v.foundByAsset(outputs)
}

// valuesText is a value of an index, or several, of an answer.
func valuesText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ", ")
	}
	return ""
}

// assetsText is the assets of a source's output as an answer has them.
func (v *verifier) assetsText(o *verifyOutput) string {
	var entries []AssetEntryAnswer
	for _, a := range o.Assets {
		if a.Amount == 0 {
			continue
		}
		action := "transfer"
		for _, m := range o.t.Mints {
			if bytes.Equal(m.Asset, a.ID) && m.Amount.Sign() > 0 {
				action = "mint"
			}
		}
		entries = append(entries, AssetEntryAnswer{v.Chain.FormatAsset(a.ID), strconv.FormatUint(a.Amount, 10), action})
	}
	return assetsText(entries)
}

func assetsText(entries []AssetEntryAnswer) string {
	var texts []string
	for _, e := range entries {
		texts = append(texts, fmt.Sprintf("%s %s %s", e.Action, e.Amount, e.Asset))
	}
	return strings.Join(texts, ", ")
}

// spenders compares the spenders that outputs name with what these inputs say they spend. The block does not tell who
// spends its outputs, but what is said has to agree.
func (v *verifier) spenders(outputs []verifyOutput, pks []model.UtxoPk) error {
	rows, err := v.r.GetMany(schema.FamilySpentInput, schema.Keys(pks))
	if err != nil {
		return err
	}
	var spent []*verifyOutput
	var inputs []model.InputPk
	for i, b := range rows {
		if b == nil {
			continue
		}
		input, err := model.ParseInputPk(b)
		if err != nil {
			continue // told by the answer
		}
		spent, inputs = append(spent, &outputs[i]), append(inputs, input)
	}
	if rows, err = v.r.GetMany(schema.FamilySpentUtxo, schema.Keys(inputs)); err != nil {
		return err
	}
	for i, o := range spent {
		if pk, err := model.ParseUtxoPk(rows[i]); err != nil || pk != o.pk {
			v.differ(o.at("spender of output"), "", fmt.Sprintf("input %v, which does not spend it", inputs[i]))
		}
	}
	return nil
}

// wayBack is what leads from a value, of an index or an asset's id, to where it occurs.
type wayBack struct {
	space     int
	relations storage.Family
	once      bool // a value has no later occurrences
}

// follow asks for each value whether it is found at its position: born there, or related to it. differ says what is found
// instead of value i.
func (v *verifier) follow(w wayBack, values, positions [][]byte, differ func(i int, found string)) error {
	births, errs := singly(values, func(values [][]byte) ([]*model.BirthPk, error) { return v.Births(v.r, w.space, values) })
	_, _, wide := v.BirthFamilies(w.space)
	var related []int
	var relationKeys [][]byte
	for i, at := range births {
		if errs[i] != nil {
			differ(i, errs[i].Error())
			continue
		}
		if at == nil {
			differ(i, "it occurs in no output")
			continue
		}
		birth := at.AppendTo(nil, wide)
		switch {
		case bytes.HasPrefix(birth, positions[i]): // followed by an ordinal where the output has several values
		case w.once:
			differ(i, fmt.Sprintf("its birth is %x", birth))
		default:
			related, relationKeys = append(related, i), append(relationKeys, slices.Concat(birth, positions[i]))
		}
	}
	if w.once {
		return nil
	}
	relations, err := v.r.GetMany(w.relations, relationKeys)
	if err != nil {
		return err
	}
	for n, i := range related {
		if relations[n] == nil {
			differ(i, "the output is not among those it occurs in")
		}
	}
	return nil
}

// foundBy asks for the values of index x, number position of the source's, whether the outputs are found by them.
func (v *verifier) foundBy(x *schema.Index, position int, outputs []verifyOutput) error {
	var holders []*verifyOutput
	var values, positions [][]byte
	for i := range outputs {
		o := &outputs[i]
		for _, k := range o.Keys {
			if k.Index == position {
				holders, values, positions = append(holders, o), append(values, k.Value), append(positions, o.pk.AppendTo(nil))
			}
		}
	}
	w := wayBack{x.Number, x.Family(schema.IndexRelations), x.Kind == model.OneToOne}
	return v.follow(w, values, positions, func(i int, found string) {
		at := holders[i].at("found by " + x.Name + ": output")
		at.Index = x.Name
		v.differ(at, x.Format(values[i]), found)
	})
}

// foundByAsset asks for the assets of outputs whether the outputs are found by them.
func (v *verifier) foundByAsset(outputs []verifyOutput) error {
	var holders []*verifyOutput
	var ids, positions [][]byte
	for i := range outputs {
		o, n := &outputs[i], uint16(0)
		for _, a := range o.Assets {
			if a.Amount > 0 {
				holders, ids = append(holders, o), append(ids, a.ID)
				positions = append(positions, model.AssetPk{Utxo: o.pk, Index: n}.AppendTo(nil))
				n++
			}
		}
	}
	w := wayBack{schema.AssetSpace, schema.FamilyAssetRelations, false}
	return v.follow(w, ids, positions, func(i int, found string) {
		v.differ(holders[i].at("found by asset: output"), v.Chain.FormatAsset(ids[i]), found)
	})
}

// verifyMints compares what transactions mint and burn.
func (v *verifier) verifyMints(txs []*verifyTx) error {
	for _, t := range txs {
		if !t.assets && len(t.Mints) == 0 {
			continue
		}
		var want, got []string
		for asset, amount := range v.mintsAndBurns(t) {
			if amount.Sign() != 0 {
				want = append(want, amount.String()+" "+asset)
			}
		}
		at := t.at("mints and burns")
		mints, err := v.mintsOf(t.pk, slices.Concat(t.spends, t.made))
		if err != nil {
			v.differ(at, mintsText(want), err.Error())
			continue
		}
		for _, m := range mints {
			got = append(got, m.Amount+" "+m.Asset)
		}
		v.differ(at, mintsText(want), mintsText(got))
	}
	return v.ctx.Err()
}

// mintsAndBurns is what a transaction of the source mints and burns. Where burns are implied that takes what goes in,
// which the source's block does not tell: what the database says of it.
func (v *verifier) mintsAndBurns(t *verifyTx) map[string]*big.Int {
	minted, left := map[string]*big.Int{}, map[string]*big.Int{}
	add := func(to map[string]*big.Int, asset string, amount *big.Int) {
		if to[asset] == nil {
			to[asset] = new(big.Int)
		}
		to[asset].Add(to[asset], amount)
	}
	for _, m := range t.Mints {
		add(minted, v.Chain.FormatAsset(m.Asset), m.Amount)
	}
	if !v.Traits.ImpliedBurns || len(t.Inputs) == 0 {
		return minted
	}
	for asset, amount := range minted {
		add(left, asset, amount)
	}
	for _, in := range t.in {
		for _, e := range in.Assets {
			if amount, ok := new(big.Int).SetString(e.Amount, 10); ok {
				add(left, e.Asset, amount)
			}
		}
	}
	for i := range t.Outputs {
		for _, a := range t.Outputs[i].Assets {
			amount := new(big.Int).SetUint64(a.Amount)
			add(left, v.Chain.FormatAsset(a.ID), amount.Neg(amount))
		}
	}
	for asset, amount := range left {
		if amount.Sign() > 0 {
			add(minted, asset, amount.Neg(amount))
		}
	}
	return minted
}

func mintsText(mints []string) string {
	slices.Sort(mints)
	return strings.Join(mints, ", ")
}
