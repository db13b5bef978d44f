package cardano

import (
	"bytes"
	"context"
	"os"
	"strings"

	"birthmark/chains/adapter"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/immutable"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// Name is the chain's name in settings, commands and answers.
const Name = "cardano"

// Header is the result of Header of [New]'s chain.
type Header = ledger.Header

// Networks returns the names of the networks that need no genesis files, the default first.
func Networks() []string { return genesis.Names() }

// chain is Cardano on one network.
type chain struct {
	adapter.Base
	net *genesis.Network
}

// New returns Cardano on a network of [Networks]; "" is mainnet. A name with a path separator is a folder of genesis
// files; such a network is then called by its magic, and that name is enough to query a database of it. An error of kind
// [model.Usage], code unknown_network, lists the networks.
func New(name string) (model.Chain, error) {
	get := genesis.ByName
	if strings.ContainsRune(name, os.PathSeparator) {
		get = genesis.ReadFiles
	}
	n, err := get(name)
	if err != nil {
		return nil, err
	}
	return &chain{adapter.NewBase(Name, n.Name, language, indexes(n.Network)), n}, nil
}

// Traits implements [model.Chain].
func (c *chain) Traits() model.Traits {
	return model.Traits{
		OutputOffset: true, Fingerprint: address.Fingerprint, DeepestFork: genesis.SecurityParam,
		Unit:   model.Unit{Symbol: "ADA", Decimals: 6, Smallest: "lovelace"},
		Accent: model.Accent{Light: "#1d4fc4", LightWash: "#e6edfc", Dark: "#8db0ff", DarkWash: "#1b2747"},
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

// FormatAsset implements [model.Chain]: the hex digits of policy and asset name.
func (c *chain) FormatAsset(id []byte) string { return address.FormatAsset(id) }

// ParseAsset implements [model.Chain].
func (c *chain) ParseAsset(s string) ([]byte, error) { return address.ParseAsset(s) }

// Header implements [model.Chain]: it returns a [*Header].
func (c *chain) Header(raw []byte) (any, error) { return ledger.ParseHeader(c.net, raw) }

// Revision implements [model.Reviser]. Revision 1: outputs before Babbage belong to the canonical address, see
// [address.Canonical]. Mainnet has at least 8 others.
func (c *chain) Revision() uint64 { return 1 }

// Outdated implements [model.Reviser]. The credentials of an output follow from its address.
func (c *chain) Outdated(index string, value []byte) bool {
	return index == "address" && !bytes.Equal(value, address.Canonical(value))
}

// HashHeader implements [model.HeaderHasher].
func (c *chain) HashHeader(raw []byte) (model.Hash, error) { return ledger.HashHeader(raw) }

// HashTx implements [model.TxHasher].
func (c *chain) HashTx(raw []byte) (model.Hash, error) { return ledger.HashTx(raw) }

// CheckHeader implements [model.HeaderChecker]: it checks checkpoints.
func (c *chain) CheckHeader(b *model.Block, _ func(model.HeightPk) ([]byte, error)) error {
	return c.net.Checkpoints.Check(c, b)
}

// Supply implements [model.Chain]: the maximum supply. Blocks do not state how much of the reserves was paid out.
func (c *chain) Supply(model.HeightPk) (amount uint64, exact, ok bool) {
	return c.net.Supply, false, !c.net.IsUnnamed()
}

// decoder returns a decoder that makes the values of the named indexes.
func (c *chain) decoder(indexes []string, raw bool) (*ledger.Decoder, error) {
	x, err := newIndexer(c, indexes)
	if err != nil {
		return nil, err
	}
	return ledger.NewDecoder(c.net, x, raw)
}

// Open implements [model.Chain]: the source is a relay (tcp), a node on this machine (unix), or a node's immutable
// database or one of its chunks (file, or a path).
func (c *chain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	open := func(open func(*ledger.Decoder, string, model.SourceOptions) (model.Source, error)) func(context.Context, model.SourceOptions, string) (model.Source, error) {
		return func(_ context.Context, o model.SourceOptions, rest string) (model.Source, error) {
			if len(o.Known) == 0 {
				// A new database needs the genesis: fail before the source is opened.
				if _, err := c.net.Outputs(); err != nil {
					return nil, err
				}
			}
			d, err := c.decoder(o.Indexes, o.Raw)
			if err != nil {
				return nil, err
			}
			return open(d, rest, o)
		}
	}
	openRelay := func(d *ledger.Decoder, rest string, o model.SourceOptions) (model.Source, error) {
		return node.Open(d, "tcp", rest, o)
	}
	openLocal := func(d *ledger.Decoder, path string, o model.SourceOptions) (model.Source, error) {
		return node.OpenLocal(d, path, o)
	}
	openFile := func(d *ledger.Decoder, path string, o model.SourceOptions) (model.Source, error) {
		return immutable.OpenSource(d, path, o)
	}
	return c.Base.Open(ctx, o,
		adapter.Scheme{Names: []string{"tcp"}, Usage: "tcp://host:" + ouroboros.Port + " (a relay)", Port: ouroboros.Port, Open: open(openRelay)},
		adapter.Scheme{Names: []string{"unix"}, Usage: "unix:///path/to/node.socket (a node on this machine)", Open: open(openLocal)},
		adapter.Scheme{Names: []string{"file"}, Usage: "file:///path/to/immutable (a folder of chunks, or one chunk)", Open: open(openFile)})
}
