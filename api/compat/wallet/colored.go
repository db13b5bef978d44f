package wallet

import (
	"bytes"
	"fmt"
	"slices"

	"birthmark/api/compat/script"
	"birthmark/chains/tapyrus/coloredcoin"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// form is how the outputs of a coin differ from those of Bitcoin.
type form struct {
	// split returns the coins of an output, the script that locks it, and its color; nil: the coin has no colored outputs.
	// A colored output has one color and no coins, and the index script_hash has the script without the color.
	split       func(value uint64, script []byte) (coins uint64, lock []byte, colors []model.Asset)
	unspendable func(script []byte) bool
}

func formOf(chain model.Chain) form {
	if chain.Name() == "tapyrus" {
		return form{coloredcoin.Split, script.TapyrusUnspendable}
	}
	return form{nil, script.Unspendable}
}

// coins returns the coins of an output.
func (f form) coins(value uint64, script []byte) uint64 {
	if f.split != nil {
		value, _, _ = f.split(value, script)
	}
	return value
}

// color is the only color of a [Script].
type color struct {
	id    []byte
	birth *model.AssetBirthPk // nil: the chain has no output with it
}

// has reports whether outputs with a color, nil for none, belong to the script; c is nil for a script with all outputs.
func (c *color) has(id []byte) bool { return c == nil || bytes.Equal(c.id, id) }

// only removes outputs and transactions without a color.
func (s *Script) only(id []byte) error {
	birth, err := s.v.colorBirth(id)
	if err != nil {
		return err
	}
	s.color = &color{id, birth}
	s.pool = slices.DeleteFunc(slices.Clone(s.pool), func(t *pending.Tx) bool {
		moves := false
		s.eachPending(t, func(c coloredValue, _ bool) { moves = moves || bytes.Equal(c.color, id) })
		return !moves
	})
	if birth == nil {
		s.birth = nil
	}
	return nil
}

// colorBirth returns the birth of a color; nil if no output of the chain has it.
func (v *View) colorBirth(id []byte) (*model.AssetBirthPk, error) {
	_, birth, err := v.q.Asset(v.chain.served.Model.FormatAsset(id))
	if err != nil {
		if query.UnknownAsset(err) {
			err = nil
		}
		return nil, err
	}
	return &birth, nil
}

// coloredValue is the amount of an output: of a color, or of the coin if that is nil. A color of an output has 64 bits.
type coloredValue struct {
	color  []byte
	amount uint64
}

// valueOf returns the amount of an unconfirmed output.
func valueOf(o pending.Output) coloredValue {
	if assets := o.Assets(); len(assets) > 0 {
		return coloredValue{assets[0].ID, assets[0].Amount.Lo}
	}
	return coloredValue{nil, o.Value}
}

// eachPending calls visit with the outputs of the script that an unconfirmed transaction creates or spends.
func (s *Script) eachPending(t *pending.Tx, visit func(c coloredValue, spent bool)) {
	for i := range t.NumOutputs() {
		if o := t.Output(i); o.Has(s.v.poolIndex, s.key[:]) {
			visit(valueOf(o), false)
		}
	}
	inputs := t.Inputs()
	for i := range inputs {
		if o := inputs[i].Spends(); o.Has(s.v.poolIndex, s.key[:]) {
			visit(valueOf(o), true)
		}
	}
}

// held identifies the content of an output of the chain: a color, or the coin.
type held struct {
	color model.AssetBirthPk
	coin  bool
}

// movement is an output of a script that a transaction creates or spends.
type movement struct {
	held
	tx     int // position in a list of transactions
	spent  bool
	amount uint64
}

// movements returns the outputs of the script that transactions of its history create or spend.
func (s *Script) movements(txs []schema.TxAmounts) ([]movement, error) {
	q := s.v.q
	created, spent, err := q.MovedOutputs(s.v.index, []model.BirthPk{*s.birth}, txs)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(created, spent)
	pks := make([]model.UtxoPk, len(all))
	for i, o := range all {
		pks[i] = o.Pk
	}
	values, err := q.Amounts(pks)
	if err != nil {
		return nil, err
	}
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return nil, err
	}
	moves := make([]movement, len(all))
	for i, o := range all {
		m := movement{held{coin: true}, o.Tx, i >= len(created), values[i]}
		if es := entries[i]; len(es) > 0 {
			m.held, m.amount = held{color: es[0].Birth}, es[0].Amount.Lo
		}
		moves[i] = m
	}
	return moves, nil
}

// withColor returns the transactions that move the color of the script, with the amounts of the color.
func (s *Script) withColor(txs []schema.TxAmounts) ([]schema.TxAmounts, error) {
	if s.birth == nil {
		return nil, nil
	}
	moves, err := s.movements(txs)
	if err != nil {
		return nil, err
	}
	colored, has := make([]schema.TxAmounts, len(txs)), make([]bool, len(txs))
	for _, m := range moves {
		if m.coin || m.color != *s.color.birth {
			continue
		}
		if has[m.tx] = true; m.spent {
			colored[m.tx].Sent += m.amount
		} else {
			colored[m.tx].Received += m.amount
		}
	}
	some := colored[:0]
	for i, t := range colored {
		if has[i] {
			t.Tx = txs[i].Tx
			some = append(some, t)
		}
	}
	return some, nil
}

// colorsOf returns the outputs that belong to the script, and their colors.
func (s *Script) colorsOf(pks []model.UtxoPk) (own []model.UtxoPk, values []coloredValue, err error) {
	q := s.v.q
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return nil, nil, err
	}
	ids := map[model.AssetBirthPk][]byte{}
	for i, es := range entries {
		var value coloredValue
		if len(es) > 0 {
			birth := es[0].Birth
			if ids[birth] == nil {
				if ids[birth], err = s.v.colorID(birth); err != nil {
					return nil, nil, err
				}
			}
			value = coloredValue{ids[birth], es[0].Amount.Lo}
		}
		if s.color.has(value.color) {
			own, values = append(own, pks[i]), append(values, value)
		}
	}
	return own, values, nil
}

// colorID returns the color with a birth.
func (v *View) colorID(birth model.AssetBirthPk) ([]byte, error) {
	rows, err := v.q.Many(schema.FamilyAssetID, schema.Keys([]model.AssetBirthPk{birth}))
	if err != nil {
		return nil, fmt.Errorf("asset of output %v: %w", birth.Utxo, err)
	}
	return rows[0], nil
}
