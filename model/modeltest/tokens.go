package modeltest

import (
	"fmt"

	"birthmark/model"
)

// message is the message of a transaction of a chain with derived assets: what the generator decided. rules compares it
// with the assets and the state that it is given.
type message struct {
	moves  []move
	held   []tokenAt
	mints  map[string]uint64 // transactions that minted the asset before
	assets uint64            // that exist before
}

// move is a change of the supply of an asset.
type move struct {
	id             []byte
	minted, burned model.Uint128
	mints          bool
	born           []byte // the info of an asset that is born; nil: it exists
}

type tokenAt struct {
	output int
	id     []byte
	amount model.Uint128
}

// tell sets the message of a transaction whose assets and mints are set. Without a message its first output gets the
// assets of the spent coins.
func (g *Generator) tell(t *model.Tx, spent []coin) {
	m := &message{mints: map[string]uint64{}, assets: uint64(len(g.minted))}
	for i := range t.Mints {
		mint := &t.Mints[i]
		v := move{id: mint.Asset}
		if n := mint.Amount; n.Sign() > 0 {
			v.minted, _ = model.ParseUint128(n.String())
			v.mints = true
			if _, known := g.minted[string(v.id)]; !known {
				v.born = mint.Info
			} else {
				m.mints[string(v.id)] = g.minted[string(v.id)]
			}
			g.minted[string(v.id)]++
		} else {
			v.burned, _ = model.ParseUint128(n.String()[1:])
		}
		m.moves = append(m.moves, v)
	}
	for o := range t.Outputs {
		for _, a := range t.Outputs[o].Assets {
			m.held = append(m.held, tokenAt{o, a.ID, model.Uint128Of(a.Amount)})
		}
	}
	if len(m.moves) > 0 || g.rng.IntN(2) == 0 {
		t.Message = m
		return
	}
	for i := range t.Outputs {
		t.Outputs[i].Assets = nil
	}
	for _, c := range spent {
		for _, a := range c.assets {
			t.Outputs[0].Assets = addAsset(t.Outputs[0].Assets, a)
		}
	}
}

// TokenMove is a change of the supply of an asset, for [TokenMessage].
type TokenMove struct {
	ID             []byte
	Minted, Burned model.Uint128
	Mints          bool   // also if Minted is 0
	Info           []byte // of an asset that is born; nil: it exists
}

// TokenHeld is an asset of an output, for [TokenMessage].
type TokenHeld struct {
	Output int
	ID     []byte
	Amount model.Uint128
}

// TokenMessage returns a message for a transaction of a test that writes blocks: the assets of its outputs, and changes
// of supplies. mints has the transactions that minted an asset before, for assets that are minted again; assets is the
// number of assets that exist.
func TokenMessage(moves []TokenMove, held []TokenHeld, mints map[string]uint64, assets uint64) any {
	m := &message{mints: mints, assets: assets}
	for _, v := range moves {
		m.moves = append(m.moves, move{v.ID, v.Minted, v.Burned, v.Mints, v.Info})
	}
	for _, h := range held {
		m.held = append(m.held, tokenAt{h.Output, h.ID, h.Amount})
	}
	return m
}

// addAsset adds an asset to assets, which has each once.
func addAsset(all []model.Asset, a model.Asset) []model.Asset {
	for i := range all {
		if string(all[i].ID) == string(a.ID) {
			all[i].Amount += a.Amount
			return all
		}
	}
	return append(all, a)
}

// rules are the rules of the chain.
type rules struct{ first model.HeightPk }

// NextHeight returns the first height from h on at which a block can have assets.
func (r rules) NextHeight(h model.HeightPk) model.HeightPk { return max(h, r.first) }

// Needs implements [model.TokenRules]. The births of assets are not known before.
func (rules) Needs(m any) (assets []model.AssetBirthPk, names [][]byte) {
	if w, ok := m.(*TokenWish); ok {
		for _, name := range []string{w.Mint, w.Create} {
			if name != "" {
				names = append(names, wishName(name))
			}
		}
		return nil, names
	}
	for _, v := range m.(*message).moves {
		names = append(names, fingerprint.Of(v.id, nil))
	}
	for _, h := range m.(*message).held {
		names = append(names, fingerprint.Of(h.id, nil))
	}
	return nil, names
}

func (rules) Begins(model.TxPk) bool { return false }

func (rules) Parse(info []byte) (any, error) { return string(info), nil }

// Derive implements [model.TokenRules]. It is an error if the assets of the inputs and the mints differ from the assets
// of the outputs and the burns.
func (rules) Derive(t *model.TokenTx, s model.TokenState) error {
	left := map[model.AssetBirthPk]model.Uint128{}
	add := func(asset model.AssetBirthPk, amount model.Uint128) {
		sum, ok := left[asset].Add(amount)
		if !ok {
			panic("a sum of assets exceeds 128 bits")
		}
		left[asset] = sum
	}
	take := func(asset model.AssetBirthPk, amount model.Uint128) error {
		rest, ok := left[asset].Sub(amount)
		if !ok {
			return fmt.Errorf("transaction %v: %v of the asset born at %v, its inputs and mints have %v", t.Pk, amount, asset, left[asset])
		}
		if left[asset] = rest; rest.IsZero() {
			delete(left, asset)
		}
		return nil
	}
	var order []model.AssetBirthPk
	for _, in := range t.Spent {
		for _, a := range in.Assets {
			if _, met := left[a.Asset]; !met {
				order = append(order, a.Asset)
			}
			add(a.Asset, a.Amount)
		}
	}
	if w, ok := t.Message.(*TokenWish); ok {
		return w.derive(t, s)
	}
	m, _ := t.Message.(*message)
	if m == nil && int(t.TokenOutput) >= len(t.Outputs) {
		for _, asset := range order {
			t.Supplies = append(t.Supplies, model.TokenSupply{Asset: asset, Burned: left[asset]})
		}
		return nil
	}
	if m == nil {
		for _, asset := range order {
			t.Held = append(t.Held, model.TokenOutput{Output: int(t.TokenOutput), TokenAmount: model.TokenAmount{Asset: asset, Amount: left[asset]}})
		}
		return nil
	}
	if err := m.checkCount(s); err != nil {
		return fmt.Errorf("transaction %v: %w", t.Pk, err)
	}
	births := map[string]model.AssetBirthPk{}
	of := func(id []byte) (model.AssetBirthPk, error) {
		if birth, ok := births[string(id)]; ok {
			return birth, nil
		}
		birth, ok, err := s.Named(fingerprint.Of(id, nil))
		if err == nil && !ok {
			err = fmt.Errorf("transaction %v: asset %q does not exist", t.Pk, id)
		}
		return birth, err
	}
	for i := range m.moves {
		v := &m.moves[i]
		if v.born != nil {
			pk, err := t.Pk.Utxo(0)
			if err != nil {
				return err
			}
			birth := model.AssetBirthPk{Utxo: pk, Index: uint16(len(births))}
			births[string(v.id)] = birth
			t.Births = append(t.Births, model.TokenBirth{Asset: birth, ID: v.id, Name: fingerprint.Of(v.id, nil), Info: v.born})
		}
		birth, err := of(v.id)
		if err != nil {
			return err
		}
		if err := m.checkMints(v, birth, s); err != nil {
			return fmt.Errorf("transaction %v: %w", t.Pk, err)
		}
		add(birth, v.minted)
		t.Supplies = append(t.Supplies, model.TokenSupply{Asset: birth, Mints: v.mints, Minted: v.minted, Burned: v.burned})
	}
	for i := range m.moves {
		birth, err := of(m.moves[i].id)
		if err == nil {
			err = take(birth, m.moves[i].burned)
		}
		if err != nil {
			return err
		}
	}
	for _, h := range m.held {
		birth, err := of(h.id)
		if err == nil {
			err = take(birth, h.amount)
		}
		if err != nil {
			return err
		}
		t.Held = append(t.Held, model.TokenOutput{Output: h.output, TokenAmount: model.TokenAmount{Asset: birth, Amount: h.amount}})
	}
	for asset, amount := range left {
		return fmt.Errorf("transaction %v: %v of the asset born at %v is left", t.Pk, amount, asset)
	}
	return nil
}

// checkCount compares the number of existing assets with the state.
func (m *message) checkCount(s model.TokenState) error {
	n, err := s.Count()
	if err == nil && n != m.assets {
		err = fmt.Errorf("%d assets exist, the state has %d", m.assets, n)
	}
	return err
}

// checkMints compares the earlier mints of an asset with the state.
func (m *message) checkMints(v *move, birth model.AssetBirthPk, s model.TokenState) error {
	token, err := s.Token(birth)
	switch {
	case err != nil:
		return err
	case v.born != nil && token != nil:
		return fmt.Errorf("asset %q exists before its birth", v.id)
	case v.born != nil || !v.mints:
		return nil
	case token == nil:
		return fmt.Errorf("asset %q does not exist", v.id)
	case token.Mints != m.mints[string(v.id)]:
		return fmt.Errorf("asset %q was minted %d times, the state has %d", v.id, m.mints[string(v.id)], token.Mints)
	}
	return nil
}
