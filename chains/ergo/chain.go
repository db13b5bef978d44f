package ergo

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"birthmark/chains/ergo/sigma"
	"birthmark/chains/follow"
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
	return model.Traits{SpendsBy: indexBoxID, ImpliedBurns: true}
}

func (c *chain) Indexes() []model.Index { return slices.Clone(c.indexes) }

// Define knows no expressions yet.
func (c *chain) Define(ds []model.Definition) (model.Chain, error) {
	if len(ds) > 0 {
		return nil, model.Errorf(model.Usage, "not_available", "index %s: an index of one's own is not available in this version", ds[0].Name)
	}
	return c, nil
}

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

// DescribeAsset reads what a token's issuer wrote into its box (EIP-4).
func (c *chain) DescribeAsset(info []byte) model.AssetDescription { return describeToken(info) }

// Supply is what the genesis boxes held.
func (c *chain) Supply(model.HeightPk) (amount uint64, exact, ok bool) { return supply, true, true }

// understood is what every refusal of a URI ends with.
const understood = "expected http://host:9053 (a node) or file:///path/to/blocks.jsonl (full blocks, one a line, plain or .gz)"

// Open opens the source of a URI: a node (http, https), or a file of full blocks (file, or a plain path).
func (c *chain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	scheme, rest, found := strings.Cut(o.URI, "://")
	switch {
	case o.URI == "":
		return nil, model.Errorf(model.Usage, "bad_source", "no source for ergo: %s", understood)
	case !found:
		return openFile(c.net, o.URI, o)
	case scheme == "http" || scheme == "https":
		return openREST(ctx, c.net, o.URI, o)
	case scheme != "file":
		return nil, model.Errorf(model.Usage, "bad_source", "ergo cannot be read from %s://: %s", shownText(scheme), understood)
	}
	path := follow.FilePath(rest)
	if path == "" {
		return nil, model.Errorf(model.Usage, "bad_source", "file:// names no path: %s", understood)
	}
	return openFile(c.net, path, o)
}
