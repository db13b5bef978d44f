package runes

import (
	"birthmark/model"
)

// TokensName is the name of runes in settings.
const TokensName = "runes"

// Rules derive runes. They implement [model.TokenRules].
type Rules struct {
	first   model.HeightPk // height from which messages count
	builtin bool           // the network has the rune 1:0
}

// RulesOf returns the rules of a network with this first height. builtin: it has UNCOMMON•GOODS from the beginning, as
// mainnet.
func RulesOf(first model.HeightPk, builtin bool) *Rules { return &Rules{first, builtin} }

// uncommonGoods is the rune 1:0 of mainnet (ord: src/index.rs).
var uncommonGoods = Entry{
	Name: NameOf(2055900680524219742), Spacers: 1 << 7, Symbol: Some('\u29c9'), Turbo: true, Builtin: true,
	Terms: Some(Terms{
		Amount: Some(model.Uint128Of(1)), Cap: Some(model.MaxUint128), Height: Range{Some(uint64(840_000)),
			Some(uint64(1_050_000))},
	}),
}

// Begins implements [model.TokenRules].
func (r *Rules) Begins(pk model.TxPk) bool { return r.builtin && IDOf(pk) == ID{1, 0} }

// Needs implements [model.TokenRules]: the rune that a message mints, and the name that it chooses.
func (r *Rules) Needs(message any) (assets []model.AssetBirthPk, names [][]byte) {
	m, ok := message.(*Message)
	if !ok {
		return nil, nil
	}
	if asset, ok := m.Mint.Value.Asset(); ok && m.Mint.OK {
		assets = append(assets, asset)
	}
	if e := m.Etching; e != nil && e.Name.OK && len(m.Commits) > 0 {
		names = append(names, e.Name.Value.Bytes())
	}
	return assets, names
}

// Parse implements [model.TokenRules]: the result is an *[Entry].
func (r *Rules) Parse(info []byte) (any, error) { return ParseEntry(info) }

// Minimum returns the lowest name that an etching in the block at a height can choose.
func (r *Rules) Minimum(height model.HeightPk) Name { return minimum(r.first, height) }

// NextHeight returns the first height from h on at which a block can have runes. A backfill skips the blocks before it.
func (r *Rules) NextHeight(h model.HeightPk) model.HeightPk {
	if begin := model.HeightPk(1); r.builtin && h <= begin {
		return begin
	}
	return max(h, r.first)
}

// FirstHeight returns the height from which messages count.
func (r *Rules) FirstHeight() model.HeightPk { return r.first }
