package bitcoin

import (
	"encoding/hex"
	"fmt"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Name is Bitcoin's name in settings, commands and answers.
const Name = "bitcoin"

// chain is a coin on one network.
type chain struct {
	adapter.Base
	net     *params.Network
	wallets *wallets
	tokens  *params.Tokens // nil: no assets are derived
}

// Networks returns the names of Bitcoin's networks, the default first.
func Networks() []string { return params.Bitcoin.NetworkNames() }

// New returns Bitcoin on a network of [Networks]; "" is mainnet. An error is of kind [model.Usage], code
// unknown_network.
func New(name string) (model.Chain, error) { return Open(params.Bitcoin, name) }

// Open returns a coin on one of its networks; "" is the default. An error is of kind [model.Usage], code
// unknown_network.
func Open(coin *params.Spec, network string) (model.Chain, error) {
	if coin.Custom != nil {
		if n, ok := coin.Custom(network); ok {
			return newChain(n), nil
		}
	}
	n, err := adapter.Networks[*params.Network](coin.Networks).Get(coin.Name, network)
	if err != nil {
		return nil, err
	}
	return newChain(n), nil
}

// Custom returns a coin on a network that is not one of its networks, for tests.
func Custom(n *params.Network) model.Chain { return newChain(n) }

func newChain(n *params.Network) *chain {
	return &chain{Base: adapter.NewBase(n.Coin.Name, n.Name, language.For(n.Coin.Name), indexes(n)), net: n, wallets: new(wallets)}
}

// Traits implements [model.Chain].
func (c *chain) Traits() model.Traits {
	t := model.Traits{
		Coinbase: true, Unit: c.net.Coin.Unit, BlockVSize: c.net.Coin.BlockVSize, Accent: c.net.Coin.Accent,
		ImpliedBurns: c.net.Coin.Assets, ImpliedMints: c.net.Coin.Assets,
		Pointers:  c.net.Coin.Pointers,
		Unordered: c.net.Coin.Unordered, Pool: c.net.Coin.Pool, FeeOutputs: c.net.Coin.Pool != "",
	}
	if of := c.tokens; of != nil {
		t.Fingerprint = of.Fingerprint
		t.Tokens = &model.Tokens{Name: of.Name, Rules: of.Rules, Holders: holders}
	}
	return t
}

// Define implements [model.Chain].
func (c *chain) Define(ds []model.Definition) (model.Chain, error) {
	base, err := c.With(ds)
	if err != nil {
		return nil, err
	}
	with := *c
	with.Base = base
	return &with, nil
}

// FormatHash implements [model.Chain]: the bytes of a hash are reversed.
func (c *chain) FormatHash(h model.Hash) string { return block.FormatHash(h) }

// checkSize returns an error if raw is not a whole header.
func (c *chain) checkSize(raw []byte) error {
	size, err := c.net.Coin.Format.HeaderSize(raw)
	if err == nil && size != len(raw) {
		err = fmt.Errorf("a %s header of %d bytes: expected %d", c.Name(), len(raw), size)
	}
	return err
}

// ParseHash implements [model.Chain].
func (c *chain) ParseHash(s string) (model.Hash, error) {
	h, ok := block.ParseHash(s)
	if !ok {
		return h, adapter.BadHash(s)
	}
	return h, nil
}

// FormatAsset implements [model.Chain].
func (c *chain) FormatAsset(id []byte) string {
	if c.tokens != nil {
		return c.tokens.Format(id)
	}
	if f := c.net.Coin.FormatAsset; f != nil {
		return f(id)
	}
	return hex.EncodeToString(id)
}

// ParseAsset implements [model.Chain]: it always fails if the coin has no assets.
func (c *chain) ParseAsset(text string) ([]byte, error) {
	coin := c.net.Coin
	parse := coin.ParseAsset
	if c.tokens != nil {
		parse = c.tokens.Parse
	} else if !coin.Assets {
		return nil, model.Errorf(model.NotFound, "unknown_asset", "unknown asset %s: %s has no assets", adapter.Quote(text), coin.Name)
	}
	id, ok := parse(text)
	if !ok {
		return nil, c.badAsset(text)
	}
	return id, nil
}

// Header implements [model.Chain]: it returns a [*Header] unless the coin has another form.
func (c *chain) Header(raw []byte) (any, error) {
	if f := c.net.Coin.Header; f != nil {
		return f(raw)
	}
	return c.parseHeader(raw)
}

// HashHeader implements [model.HeaderHasher].
func (c *chain) HashHeader(raw []byte) (model.Hash, error) {
	if err := c.checkSize(raw); err != nil {
		return model.Hash{}, err
	}
	return c.net.Coin.Format.HashOf(raw), nil
}

// HashTx implements [model.TxHasher]. The id does not depend on the witness.
func (c *chain) HashTx(raw []byte) (model.Hash, error) { return c.net.Coin.Format.TxID(raw) }

// WeighTx implements [model.TxWeigher].
func (c *chain) WeighTx(raw []byte) (weight, vsize int, err error) {
	return c.net.Coin.Format.TxWeight(raw)
}

// Supply implements [model.Chain]: the sum of all subsidies. Miners may claim less, so it is an upper bound.
func (c *chain) Supply(height model.HeightPk) (amount uint64, exact, ok bool) {
	if f := c.net.Coin.Supply; f != nil {
		amount, ok = f(c.net, height)
		return amount, false, ok
	}
	return c.net.Supply(height), false, true
}
