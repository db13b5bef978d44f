package bitcoin

import (
	"strings"
	"unicode/utf8"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/signet"
	"birthmark/model"
)

// runesFrom are the heights from which Bitcoin's networks have runes (ord: crates/ordinals/src/rune.rs).
var runesFrom = map[string]model.HeightPk{"mainnet": 840_000, "testnet3": 2_520_000, "testnet4": 0, "signet": 0,
	"regtest": 0}

// runesOf returns runes; nil if the network has none.
func runesOf(n *params.Network) []params.Tokens {
	first, ok := runesFrom[n.Name]
	if !ok && !strings.HasPrefix(n.Name, signet.Prefix) {
		return nil
	}
	return []params.Tokens{{
		Name: runes.TokensName, Rules: runes.RulesOf(first, n.Name == "mainnet"),
		Reader:      func() block.TokenReader { return new(runes.Reader) },
		Fingerprint: runeNames, Format: formatRune, Parse: parseRune, Form: "BLOCK:TX or the name of a rune",
		Describe: describeRune,
	}}
}

// tokensOf returns the assets that the transactions of a network derive.
func tokensOf(n *params.Network) []params.Tokens {
	switch {
	case n.Coin == params.Bitcoin:
		return runesOf(n)
	case n.Coin.Tokens != nil:
		return n.Coin.Tokens(n)
	}
	return nil
}

// Tokens implements [model.TokenChain].
func (c *chain) Tokens() (names []string) {
	for _, t := range tokensOf(c.net) {
		names = append(names, t.Name)
	}
	return names
}

// WithTokens implements [model.TokenChain].
func (c *chain) WithTokens(name string) (model.Chain, error) {
	for _, t := range tokensOf(c.net) {
		if t.Name == name {
			with := *c
			with.tokens = &t
			return &with, nil
		}
	}
	expected := strings.Join(c.Tokens(), ", ")
	if expected == "" {
		return nil, model.Errorf(model.Usage, "bad_assets", "unknown assets %s: %s has none", adapter.Quote(name),
			c.net.FullName())
	}
	return nil, model.Errorf(model.Usage, "bad_assets", "unknown assets %s: expected %s", adapter.Quote(name), expected)
}

// holders is the index whose values hold derived assets.
const holders = "address"

// runeNames are the names of runes as short names of assets. They have no spacers.
var runeNames = &model.Fingerprint{
	Of: func(_, info []byte) []byte {
		e, err := runes.ParseEntry(info)
		if err != nil {
			return nil
		}
		return e.Name.Bytes()
	},
	Format: func(name []byte) string {
		n, ok := runes.NameFrom(name)
		if !ok {
			return ""
		}
		return n.String()
	},
	Parse: func(text string) ([]byte, error) {
		if first, _ := utf8.DecodeRuneInString(text); first < 'A' || first > 'Z' {
			return nil, nil
		}
		n, _, ok := runes.ParseSpaced(text)
		if !ok {
			return nil, model.Errorf(model.Usage, "bad_asset",
				"invalid name of a rune %s: expected letters A to Z, perhaps with • or . between them",
				adapter.Quote(text))
		}
		return n.Bytes(), nil
	},
}

// formatRune returns the id of a rune as text. That of a rune whose etching is not confirmed is the transaction.
func formatRune(asset []byte) string {
	if len(asset) == len(model.Hash{}) {
		return block.FormatHash(model.Hash(asset))
	}
	id, ok := runes.ParseAssetID(asset)
	if !ok {
		return ""
	}
	return id.String()
}

func parseRune(text string) ([]byte, bool) {
	if etching, ok := block.ParseHash(text); ok {
		return etching[:], true
	}
	id, ok := runes.ParseID(text)
	asset, exists := id.AssetID()
	return asset, ok && exists
}

func describeRune(info []byte) model.AssetDescription {
	e, err := runes.ParseEntry(info)
	if err != nil {
		return model.AssetDescription{}
	}
	decimals := int(e.Divisibility)
	return model.AssetDescription{Name: e.Name.Spaced(e.Spacers), Description: e.Description(), Decimals: &decimals}
}

// DescribeAsset implements [model.AssetDescriber].
func (c *chain) DescribeAsset(info []byte) model.AssetDescription {
	if c.tokens == nil {
		return model.AssetDescription{}
	}
	return c.tokens.Describe(info)
}

// badAsset is the error of an invalid id.
func (c *chain) badAsset(text string) error {
	form := c.net.Coin.AssetForm
	if c.tokens != nil {
		form = c.tokens.Form
	}
	return model.Errorf(model.Usage, "bad_asset", "invalid asset %s: expected %s", adapter.Quote(text), form)
}
