package modeltest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"birthmark/model"
)

// TokenWish is a message whose result depends on the state, as that of a rune does. A message that cannot be fulfilled is
// ignored.
type TokenWish struct {
	// Create is the name of a new asset. The wish is fulfilled if no asset has the name and if the first input spends an
	// output that has an address and is at least two blocks old. Its id depends on the position of the transaction.
	Create string
	Cap    uint64 // transactions that can mint the new asset
	Until  model.HeightPk

	// Mint is the name of an asset to mint; empty: none.
	Mint string
	// To are the outputs that get the assets of the inputs and new ones: each in turn gets half of what is left of an asset,
	// the last one all. Without outputs everything is burned.
	To []int
	// Each gives 1 of each asset to each output of To except the last one, which gets the rest.
	Each bool
}

// minted is the amount of a mint, and of a new asset.
var minted = model.Uint128{Hi: 1, Lo: 7}

const wishPrefix = "wish "

// wishName returns the short name of an asset with a name.
func wishName(name string) []byte {
	sum := sha256.Sum256([]byte(wishPrefix + name))
	return sum[:8]
}

// nameInInfo returns the name of an asset that a wish created.
func nameInInfo(info []byte) (name string, ok bool) {
	text, ok := strings.CutPrefix(string(info), wishPrefix)
	if !ok {
		return "", false
	}
	name, _, _ = strings.Cut(text, " ")
	return name, true
}

func (w *TokenWish) derive(t *model.TokenTx, s model.TokenState) error {
	type sum struct {
		asset model.AssetBirthPk
		left  model.Uint128
		mints bool
	}
	var sums []*sum
	of := func(asset model.AssetBirthPk) *sum {
		for _, one := range sums {
			if one.asset == asset {
				return one
			}
		}
		one := &sum{asset: asset}
		sums = append(sums, one)
		return one
	}
	for _, in := range t.Spent {
		for _, a := range in.Assets {
			one := of(a.Asset)
			one.left, _ = one.left.Add(a.Amount)
		}
	}
	if w.Mint != "" {
		birth, ok, err := s.Named(wishName(w.Mint))
		if err != nil {
			return err
		}
		if ok {
			token, err := s.Token(birth)
			if err != nil {
				return err
			}
			var name string
			var most uint64
			var until model.HeightPk
			if _, err := fmt.Sscanf(token.Info.(string), wishPrefix+"%s %d %d", &name, &most, &until); err != nil {
				return err
			}
			if token.Mints < most && t.Pk.Height() <= until {
				one := of(birth)
				one.left, _ = one.left.Add(minted)
				one.mints = true
			}
		}
	}
	if w.Create != "" && len(t.Spent) > 0 && t.Spent[0].Utxo.Height()+2 <= t.Pk.Height() {
		_, used, err := s.Named(wishName(w.Create))
		if err != nil {
			return err
		}
		address, err := s.Value(t.Spent[0].Utxo)
		if err != nil {
			return err
		}
		if !used && address != nil {
			pk, err := t.Pk.Utxo(0)
			if err != nil {
				return err
			}
			id := fmt.Appendf(nil, "asset of %v", t.Pk)
			if t.Unconfirmed {
				id = slices.Clone(t.Hash[:])
			}
			info := fmt.Appendf(nil, wishPrefix+"%s %d %d", w.Create, w.Cap, w.Until)
			birth := model.TokenBirth{Asset: model.AssetBirthPk{Utxo: pk}, ID: id, Name: wishName(w.Create), Info: info}
			t.Births = append(t.Births, birth)
			one := of(birth.Asset)
			one.left, one.mints = minted, true
		}
	}
	for _, one := range sums {
		supply := model.TokenSupply{Asset: one.asset, Mints: one.mints}
		if one.mints {
			supply.Minted = minted
		}
		if len(w.To) == 0 {
			supply.Burned = one.left
		}
		if supply.Mints || !supply.Burned.IsZero() {
			t.Supplies = append(t.Supplies, supply)
		}
		for i, output := range w.To {
			part := one.left
			switch last := i+1 == len(w.To); {
			case !last && w.Each:
				part = model.Uint128Of(1)
			case !last:
				part, _ = part.DivMod(2)
			}
			if t.Most > 0 && len(t.Held) >= t.Most {
				return &model.TooManyEntries{Entries: len(sums) * len(w.To)}
			}
			if one.left, _ = one.left.Sub(part); !part.IsZero() {
				t.Held = append(t.Held, model.TokenOutput{Output: output,
					TokenAmount: model.TokenAmount{Asset: one.asset, Amount: part}})
			}
		}
	}
	slices.SortStableFunc(t.Held, func(a, b model.TokenOutput) int { return a.Output - b.Output })
	return nil
}
