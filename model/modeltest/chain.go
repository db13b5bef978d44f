package modeltest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"testing"

	"birthmark/model"
)

// Variant is the set of rules of a generated chain.
type Variant struct {
	Name         string
	Boxes        bool // inputs contain boxes, values of a one-to-one index, instead of outpoints
	Implied      bool // burns are implied
	Coinbase     bool // blocks begin with a coinbase; otherwise the whole supply exists at genesis
	Genesis      bool // outputs exist before the first block
	First        model.HeightPk
	Slots        bool // blocks have slots
	OutputOffset bool // the output indexes of some transactions begin above 0

	Fingerprints bool           // assets have a short name
	Raw          bool           // transactions have serialized bytes
	Placed       bool           // blocks have a place in a file, which chains can read
	Described    bool           // mints describe their assets
	Repeats      bool           // hashes of coinbases and of transactions that spend them repeat
	Kept         bool           // databases store all optional families of the indexes
	Unordered    bool           // inputs can spend outputs of later transactions of their block
	FeeOutputs   bool           // fees are paid to outputs, so inputs equal outputs
	Tokens       bool           // assets are derived: see tokens.go
	Late         model.HeightPk // with Tokens: the first height at which blocks can have assets
	Offers       bool           // the chain implements [model.TokenChain] with the rules tokens
	Wide         bool           // the pointers of databases are wide
	Statistics   bool           // databases keep statistics, and the blocks are of several days
	ByHand       bool           // a test writes the blocks: neither hashes nor supply follow the rules
}

// Variants returns the sets of rules worth testing: one like each real chain, and a mixture.
func Variants() []Variant {
	return []Variant{
		{Name: "like-bitcoin", Coinbase: true, Repeats: true, Raw: true},
		{Name: "like-cardano", Genesis: true, Slots: true, OutputOffset: true, Fingerprints: true, Raw: true, Kept: true},
		{Name: "like-ergo", Boxes: true, Implied: true, Genesis: true, First: 1, Described: true, FeeOutputs: true},
		{Name: "like-runes", Coinbase: true, Raw: true, Fingerprints: true, Described: true, Tokens: true, Kept: true, Statistics: true},
		{Name: "mixed", Coinbase: true, Genesis: true, Implied: true, First: 1, Unordered: true, Kept: true, Placed: true, Wide: true, Statistics: true},
	}
}

// Each runs a test for every variant, and with -short only for the last one, which mixes the rules of the others.
func Each(t *testing.T, test func(t *testing.T, v Variant)) { EachOf(t, nil, test) }

// EachOf runs a test for some variants, or for those of [Each] if there are none.
func EachOf(t *testing.T, some []Variant, test func(t *testing.T, v Variant)) {
	all := some
	if len(some) == 0 {
		all = Variants()
	}
	if testing.Short() {
		all = all[len(all)-1:]
	}
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) { test(t, v) })
	}
}

// Positions of the indexes in [Chain.Indexes], as in [model.Key.Index] of generated blocks.
const (
	addressIndex = iota
	tagIndex
	boxIndex
	labelIndex
)

// IndexNames are the names of the chain's indexes in order.
var IndexNames = []string{"address", "tag", "box", "label"}

// Keep returns the options of the indexes: all or none.
func (v Variant) Keep() map[string]model.IndexOptions {
	if !v.Kept {
		return nil
	}
	all := model.IndexOptions{Balance: true, Unspent: true, History: true, Prefix: true, Statistics: v.Statistics}
	return map[string]model.IndexOptions{"address": all, "tag": all, "label": all, "box": {Prefix: true}}
}

// Chain returns the chain of a variant; the networks are "one" and "two".
func (v Variant) Chain(network string) model.Chain {
	if v.ByHand {
		return chain{v, network}
	}
	return hashed{chain{v, network}}
}

// hashed is a chain whose block hashes are hashes of the headers.
type hashed struct{ chain }

// HashHeader implements [model.HeaderHasher].
func (c hashed) HashHeader(raw []byte) (model.Hash, error) { return sha256.Sum256(raw), nil }

// HashTx implements [model.TxHasher]: the bytes of a transaction begin with its hash.
func (c hashed) HashTx(raw []byte) (h model.Hash, err error) {
	if copy(h[:], raw) < len(h) {
		err = errors.New("expected a hash")
	}
	return h, err
}

type chain struct {
	v       Variant
	network string
}

func (c chain) Name() string    { return "testchain" }
func (c chain) Network() string { return c.network }

// Tokens implements [model.TokenChain].
func (c chain) Tokens() []string {
	if c.v.Offers {
		return []string{"tokens"}
	}
	return nil
}

// WithTokens implements [model.TokenChain].
func (c chain) WithTokens(name string) (model.Chain, error) {
	if !c.v.Offers || name != "tokens" {
		return nil, model.Errorf(model.Usage, "bad_assets", "unknown assets %q", name)
	}
	v := c.v
	v.Tokens = true
	return v.Chain(c.network), nil
}

func (c chain) Traits() model.Traits {
	t := model.Traits{
		ImpliedBurns: c.v.Implied, Coinbase: c.v.Coinbase, OutputOffset: c.v.OutputOffset, FeeOutputs: c.v.FeeOutputs,
		Unordered: c.v.Unordered,
	}
	if c.v.Wide {
		t.Pointers = model.WidePointers
	}
	if c.v.Boxes {
		t.SpendIndex = "box"
	}
	if c.v.Fingerprints {
		t.Fingerprint = fingerprint
	}
	if c.v.Tokens {
		t.Tokens = &model.Tokens{Name: "tokens", Rules: rules{c.v.Late}, Holders: "address"}
	}
	return t
}

// fingerprint is f and eight bytes in hex.
var fingerprint = &model.Fingerprint{
	Of: func(id, info []byte) []byte {
		if name, ok := nameInInfo(info); ok {
			return wishName(name)
		}
		sum := sha256.Sum256(id)
		return sum[:8]
	},
	Format: func(hash []byte) string { return "f" + hex.EncodeToString(hash) },
	Parse: func(text string) ([]byte, error) {
		if len(text)%2 == 0 || text[0] != 'f' {
			return nil, nil
		}
		hash, err := hex.DecodeString(text[1:])
		if err != nil || len(hash) != 8 {
			return nil, errors.New("expected f and 16 hex digits")
		}
		return hash, nil
	},
}

// Define rejects every definition: the chain has no fields.
func (c chain) Define(ds []model.Definition) (model.Chain, error) {
	if len(ds) > 0 {
		return nil, model.Errorf(model.Usage, "bad_definition", "index %s: the chain has no fields", ds[0].Name)
	}
	return c, nil
}

// BlockIndexes implements [model.BlockIndexer]: most blocks have one of four makers.
func (c chain) BlockIndexes() []model.Index {
	statistics := model.Statistics()
	statistics.Default = c.v.Statistics
	return []model.Index{{
		Name: MakerIndex, Kind: model.PerBlock, Format: hex.EncodeToString, Parse: hex.DecodeString,
		OfHeader: func(header []byte) ([]byte, error) {
			maker := sha256.Sum256(header)
			if maker[0] %= 5; maker[0] == 4 {
				return nil, nil
			}
			return maker[:1], nil
		},
	}, statistics}
}

// MakerIndex is the name of the index of blocks.
const MakerIndex = "maker"

func (c chain) Indexes() []model.Index {
	text := func(name string, kind model.Kind) model.Index {
		return model.Index{
			Name: name, Kind: kind, Default: true,
			Format: func(value []byte) string { return name[:1] + hex.EncodeToString(value) },
			Parse: func(s string) ([]byte, error) {
				if len(s) < 3 || s[0] != name[0] {
					return nil, fmt.Errorf("expected %c and hex digits", name[0])
				}
				return hex.DecodeString(s[1:])
			},
		}
	}
	return []model.Index{text("address", model.OneToMany), text("tag", model.OneToMany), text("box", model.OneToOne), text("label", model.ManyValued)}
}

func (c chain) FormatHash(h model.Hash) string { return h.String() }

func (c chain) ParseHash(s string) (h model.Hash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, errors.New("expected 64 hex digits")
	}
	copy(h[:], b)
	return h, nil
}

func (c chain) FormatAsset(id []byte) string { return hex.EncodeToString(id) }

func (c chain) ParseAsset(s string) ([]byte, error) {
	id, err := hex.DecodeString(s)
	if err != nil || len(id) == 0 {
		return nil, errors.New("expected hex digits")
	}
	return id, nil
}

func (c chain) Header(raw []byte) (any, error) {
	return map[string]string{"raw": hex.EncodeToString(raw)}, nil
}

func (c chain) Supply(height model.HeightPk) (amount uint64, exact, ok bool) {
	if c.v.Genesis {
		amount += genesisValue
	}
	if c.v.Coinbase {
		amount += uint64(height-c.v.First+1) * subsidy
	}
	return amount, true, !c.v.ByHand
}

func (c chain) Open(context.Context, model.SourceOptions) (model.Source, error) {
	return nil, errors.New("the generated chain has no sources")
}

func (c chain) Decode(context.Context, io.Reader, []string, model.HeightPk) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		yield(nil, errors.New("the generated chain has no serialization"))
	}
}

// DescribeAsset returns the description as the name and its length as the decimals.
func (c chain) DescribeAsset(info []byte) model.AssetDescription {
	n := len(info)
	return model.AssetDescription{Name: string(info), Decimals: &n}
}

// header returns the serialized header of a block, which its hash is computed from.
func header(height model.HeightPk, parent model.Hash, salt uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, salt)
	b = binary.BigEndian.AppendUint32(b, uint32(height))
	return append(b, parent[:]...)
}
