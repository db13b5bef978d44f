package bitcoin

import (
	"strings"
	"unicode/utf8"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/signet"
	"birthmark/model"
)

// runesFrom are the heights from which Bitcoin's networks have runes (ord: crates/ordinals/src/rune.rs).
var runesFrom = map[string]model.HeightPk{"mainnet": 840_000, "testnet3": 2_520_000, "testnet4": 0, "signet": 0,
	"regtest": 0}

// runesOf returns the rules of runes; nil if the network has none.
func runesOf(n *params.Network) *runes.Rules {
	first, ok := runesFrom[n.Name]
	if n.Coin != params.Bitcoin || !ok && !strings.HasPrefix(n.Name, signet.Prefix) {
		return nil
	}
	return runes.RulesOf(first, n.Name == "mainnet")
}

// Tokens implements [model.TokenChain].
func (c *chain) Tokens() []string {
	if runesOf(c.net) == nil {
		return nil
	}
	return []string{runes.TokensName}
}

// WithTokens implements [model.TokenChain].
func (c *chain) WithTokens(name string) (model.Chain, error) {
	rules := runesOf(c.net)
	if rules == nil {
		return nil, model.Errorf(model.Usage, "bad_assets", "unknown assets %s: %s has none", adapter.Quote(name),
			c.net.FullName())
	}
	if name != runes.TokensName {
		return nil, model.Errorf(model.Usage, "bad_assets", "unknown assets %s: expected %s", adapter.Quote(name),
			runes.TokensName)
	}
	with := *c
	with.tokens = &model.Tokens{Name: runes.TokensName, Rules: rules, Holders: "address"}
	return &with, nil
}

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

func formatRune(asset []byte) string {
	id, ok := runes.ParseAssetID(asset)
	if !ok {
		return ""
	}
	return id.String()
}

func parseRune(text string) ([]byte, error) {
	id, ok := runes.ParseID(text)
	asset, exists := id.AssetID()
	if !ok || !exists {
		return nil, model.Errorf(model.Usage, "bad_asset", "invalid asset %s: expected BLOCK:TX or the name of a rune",
			adapter.Quote(text))
	}
	return asset, nil
}

// DescribeAsset implements [model.AssetDescriber].
func (c *chain) DescribeAsset(info []byte) model.AssetDescription {
	e, err := runes.ParseEntry(info)
	if err != nil {
		return model.AssetDescription{}
	}
	decimals := int(e.Divisibility)
	return model.AssetDescription{Name: e.Name.Spaced(e.Spacers), Description: e.Description(), Decimals: &decimals}
}
