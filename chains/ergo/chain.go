package ergo

import (
	"context"
	"encoding/hex"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Name is the chain's name in settings, commands and answers.
const Name = "ergo"

// supply is the total supply of 97,739,925 ERG in nanoERG. The genesis boxes hold it, and miners are paid out of them.
const supply = 97_739_925_000_000_000

// chain is Ergo on one network.
type chain struct {
	adapter.Base
	net *network
}

// New returns Ergo on a network of [Networks]; "" is mainnet. An error is of kind [model.Usage], code unknown_network.
func New(name string) (model.Chain, error) {
	n, err := networks.Get(Name, name)
	if err != nil {
		return nil, err
	}
	return newChain(n), nil
}

func newChain(n *network) *chain {
	return &chain{adapter.NewBase(Name, n.name, language, n.indexes()), n}
}

// Traits implements [model.Chain].
func (c *chain) Traits() model.Traits {
	return model.Traits{
		SpendIndex: indexBoxID, ImpliedBurns: true, FeeOutputs: true, FeeAddress: c.net.feeAddress(),
		Unit:   model.Unit{Symbol: "ERG", Decimals: 9, Smallest: "nanoERG"},
		Accent: model.Accent{Light: "#bb3418", LightWash: "#fcebe6", Dark: "#ff8c6f", DarkWash: "#3d1f17"},
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

// FormatAsset implements [model.Chain]: the hex digits of a token id.
func (c *chain) FormatAsset(id []byte) string { return hex.EncodeToString(id) }

// ParseAsset implements [model.Chain].
func (c *chain) ParseAsset(s string) ([]byte, error) {
	return adapter.ParseHex("token id", hashSize)(s)
}

// Header implements [model.Chain]: it returns a [*Header].
func (c *chain) Header(raw []byte) (any, error) { return parseHeader(c.net, raw) }

// HashHeader implements [model.HeaderHasher].
func (c *chain) HashHeader(raw []byte) (model.Hash, error) {
	return model.Hash(sigma.HeaderID(raw)), nil
}

// CheckHeader implements [model.HeaderChecker]: it checks checkpoints.
func (c *chain) CheckHeader(b *model.Block, _ func(model.HeightPk) ([]byte, error)) error {
	return c.net.known.Check(c, b)
}

// DescribeAsset implements [model.AssetDescriber]: it reads the registers of the issuing box (EIP-4).
func (c *chain) DescribeAsset(info []byte) model.AssetDescription { return describeToken(info) }

// Supply implements [model.Chain]: the value of the genesis boxes.
func (c *chain) Supply(model.HeightPk) (amount uint64, exact, ok bool) { return supply, true, true }

// Open implements [model.Chain]: the source is a node's REST API (http, https), or a file of full blocks (file, or a
// path).
func (c *chain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	open := func(open func(*decoder, string, model.SourceOptions) (model.Source, error)) func(context.Context, model.SourceOptions, string) (model.Source, error) {
		return func(_ context.Context, o model.SourceOptions, path string) (model.Source, error) {
			d, err := newDecoder(c, o.Indexes)
			if err != nil {
				return nil, err
			}
			d.raw = o.Raw
			return open(d, path, o)
		}
	}
	return c.Base.Open(ctx, o,
		adapter.Scheme{Names: []string{"http", "https"}, Usage: "http://host:" + c.net.port + " (a node)", Port: c.net.port, Open: open(openREST)},
		adapter.Scheme{Names: []string{"file"}, Usage: "file:///path/to/blocks.jsonl (full blocks, one per line, plain or .gz)", Open: open(openFile)})
}
