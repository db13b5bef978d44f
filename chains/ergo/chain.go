package ergo

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"birthmark/chains/blocksource"
	"birthmark/chains/ergo/sigma"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// Name is the chain's name in settings, commands and answers.
const Name = "ergo"

// supply is all nanoErg there are, 97,739,925 ERG: they were made with the genesis boxes, and miners are paid out of
// those.
const supply = 97_739_925_000_000_000

// chain is Ergo on one network.
type chain struct {
	net     *network
	own     *indexexpr.Indexes // nil: none was defined
	indexes []model.Index
}

// New is Ergo on a network of [Networks]; "" is mainnet. An error of kind [model.Usage], code unknown_network, names
// the networks.
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
		SpendIndex: indexBoxID, ImpliedBurns: true, FeeOutputs: true,
		Unit:   model.Unit{Symbol: "ERG", Decimals: 9, Smallest: "nanoERG"},
		Accent: model.Accent{Light: "#bb3418", LightWash: "#fcebe6", Dark: "#ff8c6f", DarkWash: "#3d1f17"},
	}
}

func (c *chain) Indexes() []model.Index { return slices.Clone(c.indexes) }

// Define is Ergo with indexes over the fields of [environment], in place of those that were defined before.
func (c *chain) Define(ds []model.Definition) (model.Chain, error) {
	offered := c.net.indexes()
	own, err := language.Define(offered, ds)
	if err != nil {
		return nil, err
	}
	return &chain{net: c.net, own: own, indexes: append(offered, own.Indexes()...)}, nil
}

// Fields are what expressions over Ergo can name.
func (c *chain) Fields() []indexexpr.Field { return language.Fields() }

func (c *chain) FormatHash(h model.Hash) string { return h.String() }

// ParseHash reads 64 hex digits.
func (c *chain) ParseHash(s string) (h model.Hash, err error) {
	if n, err := hex.Decode(h[:], []byte(s)[:min(len(s), 2*len(h))]); err != nil || n != len(h) || len(s) != 2*len(h) {
		return h, model.Errorf(model.Usage, "bad_hash", "%q is not a hash: expected 64 hex digits", shownText(s))
	}
	return h, nil
}

// FormatAsset writes a token's id in hex.
func (c *chain) FormatAsset(id []byte) string { return hex.EncodeToString(id) }

// ParseAsset reads a token's id: 64 hex digits.
func (c *chain) ParseAsset(s string) ([]byte, error) {
	return hashParser("token id")(s)
}

// Header makes a [*Header] of a raw header.
func (c *chain) Header(raw []byte) (any, error) { return parseHeader(raw) }

// HashHeader is the id of the block whose [model.Block.Header] is raw.
func (c *chain) HashHeader(raw []byte) (model.Hash, error) {
	return model.Hash(sigma.HeaderID(raw)), nil
}

// CheckHeader implements [model.HeaderChecker]: checkpoints.
func (c *chain) CheckHeader(b *model.Block, _ func(model.HeightPk) ([]byte, error)) error {
	return c.net.known.Check(c, b)
}

// DescribeAsset reads what a token's issuer wrote into its box (EIP-4).
func (c *chain) DescribeAsset(info []byte) model.AssetDescription { return describeToken(info) }

// Supply is what the genesis boxes held.
func (c *chain) Supply(model.HeightPk) (amount uint64, exact, ok bool) { return supply, true, true }

// understood is what every refusal of a URI ends with.
const understood = "expected http://host:9053 (a node) or file:///path/to/blocks.jsonl (full blocks, one a line, plain or .gz)"

// Open opens the source of a URI: a node (http, https), or a file of full blocks (file, or a plain path).
func (c *chain) Open(_ context.Context, o model.SourceOptions) (model.Source, error) {
	scheme, rest, found := strings.Cut(o.URI, "://")
	path := o.URI
	if found {
		path = blocksource.FilePath(rest)
	}
	node := found && (scheme == "http" || scheme == "https")
	switch {
	case o.URI == "":
		return nil, model.Errorf(model.Usage, "bad_source", "no source for ergo: %s", understood)
	case found && !node && scheme != "file":
		return nil, model.Errorf(model.Usage, "bad_source", "ergo cannot be read from %s://: %s", shownText(scheme), understood)
	case !node && path == "":
		return nil, model.Errorf(model.Usage, "bad_source", "file:// names no path: %s", understood)
	}
	d, err := newDecoder(c.net, c.own, o.Indexes)
	if err != nil {
		return nil, err
	}
	d.raw = o.Raw
	if node {
		return openREST(d, o.URI, o)
	}
	return openFile(d, path, o)
}
