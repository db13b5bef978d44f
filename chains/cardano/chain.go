package cardano

import (
	"context"
	"encoding/hex"
	"os"
	"slices"
	"strings"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/immutable"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// Name is the chain's name in settings, commands and answers.
const Name = "cardano"

// Header is what [model.Chain.Header] returns.
type Header = ledger.Header

// Networks returns the names of the networks that need no genesis files, the default first.
func Networks() []string { return genesis.Names() }

// chain is Cardano on one network.
type chain struct {
	net     *genesis.Network
	own     *indexexpr.Indexes // nil: none was defined
	indexes []model.Index
}

// New is Cardano on a network of [Networks], or on the one whose genesis files are in a folder, which a name with a path
// separator in it is; "" is mainnet. The latter is called by its magic, and that name is enough to ask a database of it
// questions. An error of kind [model.Usage], code unknown_network, names the networks.
func New(name string) (model.Chain, error) {
	if name == "" {
		name = genesis.Names()[0]
	}
	get := genesis.ByName
	if strings.ContainsRune(name, os.PathSeparator) {
		get = genesis.ReadFiles
	}
	n, err := get(name)
	if err != nil {
		return nil, err
	}
	return &chain{net: n, indexes: indexesOf(n)}, nil
}

func (c *chain) Name() string    { return Name }
func (c *chain) Network() string { return c.net.Name }

func (c *chain) Traits() model.Traits {
	return model.Traits{
		OutputOffset: true, Fingerprint: address.Fingerprint, DeepestFork: genesis.SecurityParam,
		Unit:   model.Unit{Symbol: "ADA", Decimals: 6, Smallest: "lovelace"},
		Accent: model.Accent{Light: "#1d4fc4", LightWash: "#e6edfc", Dark: "#8db0ff", DarkWash: "#1b2747"},
	}
}

func (c *chain) Indexes() []model.Index { return slices.Clone(c.indexes) }

// Define is Cardano with indexes over the fields of [environment], in place of those that were defined before.
func (c *chain) Define(ds []model.Definition) (model.Chain, error) {
	offered := indexesOf(c.net)
	own, err := language.Define(offered, ds)
	if err != nil {
		return nil, err
	}
	return &chain{net: c.net, own: own, indexes: append(offered, own.Indexes()...)}, nil
}

// Fields are what expressions over Cardano can name.
func (c *chain) Fields() []indexexpr.Field { return language.Fields() }

func (c *chain) FormatHash(h model.Hash) string { return h.String() }

// ParseHash reads 64 hex digits.
func (c *chain) ParseHash(s string) (h model.Hash, err error) {
	if n, err := hex.Decode(h[:], []byte(s)[:min(len(s), 2*len(h))]); err != nil || n != len(h) || len(s) != 2*len(h) {
		return h, model.Errorf(model.Usage, "bad_hash", "%q is not a hash: expected 64 hex digits", address.Excerpt(s))
	}
	return h, nil
}

func (c *chain) FormatAsset(id []byte) string { return address.FormatAsset(id) }

func (c *chain) ParseAsset(s string) ([]byte, error) { return address.ParseAsset(s) }

// Header makes a [*Header] of a raw header.
func (c *chain) Header(raw []byte) (any, error) { return ledger.ParseHeader(c.net, raw) }

// HashHeader is the hash of the block a raw header is of.
func (c *chain) HashHeader(raw []byte) (model.Hash, error) { return ledger.HashHeader(raw) }

// CheckHeader implements [model.HeaderChecker]: checkpoints.
func (c *chain) CheckHeader(b *model.Block, _ func(model.HeightPk) ([]byte, error)) error {
	return c.net.Checkpoints.Check(c, b)
}

// HashTx implements [model.TxHasher].
func (c *chain) HashTx(raw []byte) (model.Hash, error) { return ledger.HashTx(raw) }

// Supply is the most there can be: how much of the reserves was paid out, blocks do not tell.
func (c *chain) Supply(model.HeightPk) (amount uint64, exact, ok bool) {
	return c.net.Supply, false, !c.net.IsUnnamed()
}

// decoder returns a decoder that makes the values of the named indexes.
func (c *chain) decoder(indexes []string, raw bool) (*ledger.Decoder, error) {
	x, err := newIndexer(c.net, c.own, indexes)
	if err != nil {
		return nil, err
	}
	return ledger.NewDecoder(c.net, x, raw)
}

// understood is what every refusal of a URI ends with.
const understood = "expected tcp://host:3001 (a relay), unix:///path/to/node.socket (a node on this machine), " +
	"or file:///path/to/immutable (a folder of chunks, or one chunk)"

// Open opens the source of a URI: a relay (tcp), a node on this machine (unix), or a node's immutable database or one of
// its chunks (file, or a plain path).
func (c *chain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	scheme, rest, found := strings.Cut(o.URI, "://")
	path := o.URI
	if found {
		path = blocksource.FilePath(rest)
	}
	isNode := found && (scheme == "tcp" || scheme == "unix")
	switch {
	case o.URI == "":
		return nil, model.Errorf(model.Usage, "bad_source", "no source for cardano: %s", understood)
	case found && !isNode && scheme != "file":
		return nil, model.Errorf(model.Usage, "bad_source", "cardano cannot be read from %s://: %s", address.Excerpt(scheme), understood)
	case !isNode && path == "":
		return nil, model.Errorf(model.Usage, "bad_source", "file:// names no path: %s", understood)
	}
	if len(o.Known) == 0 {
		// Told before anything is made of the blocks: a database that knows some has its genesis.
		if _, err := c.net.Outputs(); err != nil {
			return nil, err
		}
	}
	d, err := c.decoder(o.Indexes, o.Raw)
	if err != nil {
		return nil, err
	}
	if isNode {
		return node.Open(d, scheme, rest, o)
	}
	return immutable.OpenSource(d, path, o)
}
