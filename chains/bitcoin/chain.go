package bitcoin

import (
	"encoding/hex"
	"fmt"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Name is the chain's name in settings, commands and answers.
const Name = "bitcoin"

// chain is Bitcoin on one network.
type chain struct {
	adapter.Base
	net *params.Network
}

var networks = adapter.Networks[*params.Network](params.Networks)

// Networks returns the names of Bitcoin's networks, the default first.
func Networks() []string { return networks.Names() }

// New returns Bitcoin on a network of [Networks]; "" is mainnet. An error is of kind [model.Usage], code
// unknown_network.
func New(name string) (model.Chain, error) {
	n, err := networks.Get(Name, name)
	if err != nil {
		return nil, err
	}
	return newChain(n), nil
}

// Custom returns Bitcoin on a network that is not one of [Networks], for tests.
func Custom(n *params.Network) model.Chain { return newChain(n) }

func newChain(n *params.Network) *chain {
	return &chain{adapter.NewBase(Name, n.Name, language, indexes(n)), n}
}

// Traits implements [model.Chain].
func (c *chain) Traits() model.Traits {
	return model.Traits{
		Coinbase:   true,
		Unit:       model.Unit{Symbol: "BTC", Decimals: 8, Smallest: "sat"},
		BlockVSize: 1_000_000, // BIP 141
		Accent:     model.Accent{Light: "#8f5200", LightWash: "#fbeeda", Dark: "#f2ac45", DarkWash: "#382a13"},
	}
}

// Define implements [model.Chain].
func (c *chain) Define(ds []model.Definition) (model.Chain, error) {
	base, err := c.With(ds)
	if err != nil {
		return nil, err
	}
	return &chain{base, c.net}, nil
}

// FormatHash implements [model.Chain]: the bytes of a hash are reversed.
func (c *chain) FormatHash(h model.Hash) string { return block.FormatHash(h) }

// ParseHash implements [model.Chain].
func (c *chain) ParseHash(s string) (model.Hash, error) {
	h, ok := block.ParseHash(s)
	if !ok {
		return h, adapter.BadHash(s)
	}
	return h, nil
}

// FormatAsset implements [model.Chain]. Bitcoin has no assets.
func (c *chain) FormatAsset(id []byte) string { return hex.EncodeToString(id) }

// ParseAsset implements [model.Chain]: it always fails, because Bitcoin has no assets.
func (c *chain) ParseAsset(id string) ([]byte, error) {
	return nil, model.Errorf(model.NotFound, "unknown_asset", "unknown asset %s: bitcoin has no assets", adapter.Quote(id))
}

// Header implements [model.Chain]: it returns a [*Header].
func (c *chain) Header(raw []byte) (any, error) { return parseHeader(raw) }

// HashHeader implements [model.HeaderHasher].
func (c *chain) HashHeader(raw []byte) (model.Hash, error) {
	if len(raw) != block.HeaderSize {
		return model.Hash{}, fmt.Errorf("a header of %d bytes: expected %d", len(raw), block.HeaderSize)
	}
	return block.Header(raw).Hash(), nil
}

// HashTx implements [model.TxHasher]. The id does not depend on the witness.
func (c *chain) HashTx(raw []byte) (model.Hash, error) { return block.TxID(raw) }

// WeighTx implements [model.TxWeigher].
func (c *chain) WeighTx(raw []byte) (weight, vsize int, err error) { return block.TxWeight(raw) }

// Supply implements [model.Chain]: the sum of all subsidies. Miners may claim less, so it is an upper bound.
func (c *chain) Supply(height model.HeightPk) (amount uint64, exact, ok bool) {
	return c.net.Supply(height), false, true
}
