package bitcoin

import (
	"encoding/hex"
	"fmt"
	"slices"

	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// Name is the chain's name in settings, commands and answers.
const Name = "bitcoin"

// chain is Bitcoin on one network.
type chain struct {
	net     *network
	indexes []model.Index
	defined *indexexpr.Indexes // by the user; nil: none
}

// New is Bitcoin on a network of [Networks]; "" is mainnet. An error of kind [model.Usage], code unknown_network,
// names them.
func New(name string) (model.Chain, error) {
	if name == "" {
		name = networks[0].name
	}
	n, err := networkByName(name)
	if err != nil {
		return nil, err
	}
	return &chain{net: n, indexes: n.indexes()}, nil
}

func (c *chain) Name() string    { return Name }
func (c *chain) Network() string { return c.net.name }

func (c *chain) Traits() model.Traits {
	return model.Traits{
		Coinbase: true,
		Unit:     model.Unit{Symbol: "BTC", Decimals: 8, Smallest: "sat"},
		Accent:   model.Accent{Light: "#8f5200", LightWash: "#fbeeda", Dark: "#f2ac45", DarkWash: "#382a13"},
	}
}

func (c *chain) Indexes() []model.Index { return slices.Clone(c.indexes) }

// Define implements [model.Chain]; errors are those of [indexexpr.Language.Define].
func (c *chain) Define(ds []model.Definition) (model.Chain, error) {
	if len(ds) == 0 {
		return c, nil
	}
	offered := c.net.indexes()
	defined, err := language.Define(offered, ds)
	if err != nil {
		return nil, err
	}
	return &chain{net: c.net, indexes: append(offered, defined.Indexes()...), defined: defined}, nil
}

func (c *chain) FormatHash(h model.Hash) string { return formatHash(h) }

// ParseHash reads 64 hex digits in display order.
func (c *chain) ParseHash(s string) (model.Hash, error) {
	h, ok := parseHash(s)
	if !ok {
		return h, model.Errorf(model.Usage, "bad_hash", "%q is not a hash: expected 64 hex digits", shown(s))
	}
	return h, nil
}

// FormatAsset never happens to an asset of the chain: it has none.
func (c *chain) FormatAsset(id []byte) string { return hex.EncodeToString(id) }

// ParseAsset knows no asset: Bitcoin's own rules have none.
func (c *chain) ParseAsset(id string) ([]byte, error) {
	return nil, model.Errorf(model.NotFound, "unknown_asset", "unknown asset %q: bitcoin has no assets", shown(id))
}

// Header makes a [*Header] of a raw header.
func (c *chain) Header(raw []byte) (any, error) { return parseHeader(raw) }

// HashHeader implements [model.HeaderHasher].
func (c *chain) HashHeader(raw []byte) (model.Hash, error) {
	if len(raw) != headerSize {
		return model.Hash{}, fmt.Errorf("a header has %d bytes, expected %d", len(raw), headerSize)
	}
	return header(raw).hash(), nil
}

// Supply is the sum of all subsidies. A miner may claim less than its subsidy, so it is a bound only.
func (c *chain) Supply(height model.HeightPk) (amount uint64, exact, ok bool) {
	return c.net.supply(height), false, true
}

// formatHash writes a hash as everyone does: its bytes reversed.
func formatHash(h model.Hash) string {
	slices.Reverse(h[:])
	return h.String()
}

func parseHash(s string) (h model.Hash, ok bool) {
	if len(s) != 2*len(h) {
		return h, false
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return model.Hash{}, false
	}
	slices.Reverse(h[:])
	return h, true
}

// shown is what a message repeats of a text that can be of any length.
func shown(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
