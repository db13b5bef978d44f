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

	"birthmark/model"
)

// Variant is the rules of one made-up chain.
type Variant struct {
	Name         string
	Boxes        bool // inputs name boxes, values of a one-to-one index, instead of outpoints
	Implied      bool // burns are implied
	Coinbase     bool // blocks begin with a coinbase; without, all there is was there at genesis
	Genesis      bool // outputs exist before the first block
	First        model.HeightPk
	Slots        bool // blocks count slots
	OutputOffset bool // the outputs of some transactions begin above 0

	Fingerprints bool // assets have a second, short name
	Raw          bool // transactions come with bytes
	Described    bool // mints say something of their assets
	Repeats      bool // hashes of coinbases, and of what spends them, occur again
	Kept         bool // databases keep all that they can for the indexes
	FeeOutputs   bool // fees are paid to outputs, so what goes in comes out
	ByHand       bool // the blocks are a test's own: neither their hashes nor what they issue follow any rule
}

// Variants are the sets of rules worth testing: one like each real chain, and mixtures.
func Variants() []Variant {
	return []Variant{
		{Name: "like-bitcoin", Coinbase: true, Repeats: true, Raw: true},
		{Name: "like-cardano", Genesis: true, Slots: true, OutputOffset: true, Fingerprints: true, Raw: true, Kept: true},
		{Name: "like-ergo", Boxes: true, Implied: true, Genesis: true, First: 1, Described: true, FeeOutputs: true},
		{Name: "mixed", Coinbase: true, Genesis: true, Implied: true, First: 1, Repeats: true, Kept: true},
	}
}

// Positions of the indexes in [Chain.Indexes], in which generated keys count.
const (
	addressIndex = iota
	tagIndex
	boxIndex
	labelIndex
)

// IndexNames are the made-up chain's indexes in order.
var IndexNames = []string{"address", "tag", "box", "label"}

// Keep is what databases keep for the indexes: all they can, or nothing.
func (v Variant) Keep() map[string]model.IndexOptions {
	if !v.Kept {
		return nil
	}
	all := model.IndexOptions{Balance: true, Unspent: true, History: true, Prefix: true}
	return map[string]model.IndexOptions{"address": all, "tag": all, "label": all, "box": {Prefix: true}}
}

// Chain is the made-up chain of a variant: the networks are "one" and "two".
func (v Variant) Chain(network string) model.Chain {
	if v.ByHand {
		return chain{v, network}
	}
	return hashed{chain{v, network}}
}

// hashed is a chain whose block hashes are those of the headers.
type hashed struct{ chain }

// HashHeader implements [model.HeaderHasher].
func (c hashed) HashHeader(raw []byte) (model.Hash, error) { return sha256.Sum256(raw), nil }

// HashTx implements [model.TxHasher]: bytes begin with their hash.
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

func (c chain) Traits() model.Traits {
	t := model.Traits{
		ImpliedBurns: c.v.Implied, Coinbase: c.v.Coinbase, OutputOffset: c.v.OutputOffset, FeeOutputs: c.v.FeeOutputs,
	}
	if c.v.Boxes {
		t.SpendIndex = "box"
	}
	if c.v.Fingerprints {
		t.Fingerprint = fingerprint
	}
	return t
}

// fingerprint is of eight bytes, in hex behind an f.
var fingerprint = &model.Fingerprint{
	Of: func(id []byte) []byte {
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

// Define refuses every definition: the chain has no fields.
func (c chain) Define(ds []model.Definition) (model.Chain, error) {
	if len(ds) > 0 {
		return nil, model.Errorf(model.Usage, "bad_definition", "index %s: the chain has no fields", ds[0].Name)
	}
	return c, nil
}

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
	return nil, errors.New("the made-up chain has no sources")
}

func (c chain) Decode(context.Context, io.Reader, []string, model.HeightPk) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) { yield(nil, errors.New("the made-up chain has no bytes")) }
}

// DescribeAsset takes all that was said as the name, as long as it is.
func (c chain) DescribeAsset(info []byte) model.AssetDescription {
	n := len(info)
	return model.AssetDescription{Name: string(info), Decimals: &n}
}

// header is the raw header of a block: what its hash is made of.
func header(height model.HeightPk, parent model.Hash, salt uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, salt)
	b = binary.BigEndian.AppendUint32(b, uint32(height))
	return append(b, parent[:]...)
}
