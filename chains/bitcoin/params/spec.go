package params

import (
	"cmp"
	"math/big"
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Spec declares a coin of Bitcoin's kind. If a function is nil, the coin does not differ from Bitcoin in that respect.
type Spec struct {
	Name       string // in settings, commands and answers
	Title      string // in messages
	Unit       model.Unit
	Accent     model.Accent
	BlockVSize int        // as in [model.Traits]
	HashRate   string     // unit of the hash rate; empty: blocks have no proof of work, or one of several algorithms
	Networks   []*Network // the first is the default
	Format     *block.Format

	// Supply returns the maximum amount that blocks 0 to height issue. ok is false if it is unknown. If Supply is nil,
	// the subsidy of the first block is FirstSubsidy, and it is halved every [Network.Halving] blocks.
	Supply       func(n *Network, height model.HeightPk) (amount uint64, ok bool)
	FirstSubsidy uint64

	// FormatAddress writes a stored address, whose form package bitcoin defines. If the result is "", the address is
	// written in the form of Bitcoin.
	FormatAddress func(n *Network, value []byte) string
	// ParseAddress reads an address. It returns nil and no error if the text does not have a form that is specific to the
	// coin. Then the text is read in the form of Bitcoin.
	ParseAddress func(n *Network, text string) (value []byte, err error)

	// Scheme is the scheme of payment request URIs (BIP 21); empty: Name.
	Scheme string

	// Header returns a header as a value that is written in JSON, for coins without proof of work.
	Header func(raw []byte) (any, error)

	// Pointers is the form of the pointers of databases.
	Pointers model.Pointers

	// Unordered is set if an input can spend an output of a later transaction of the same block.
	Unordered bool

	// Pool describes the pools that receive value from inputs and provide value for outputs: see [model.Traits].
	Pool string

	// Assets is set if outputs can have assets. A transaction issues the amount by which its outputs exceed its inputs,
	// and burns the amount by which its inputs exceed its outputs.
	Assets      bool
	FormatAsset func(id []byte) string
	ParseAsset  func(text string) (id []byte, ok bool)
	AssetForm   string // the form that ParseAsset accepts, for messages

	// Services are the services that peers must offer in addition to blocks. BlockType is the inventory type with which
	// a block is requested.
	Services  wire.ServiceFlag
	BlockType wire.InvType

	// Tokens returns the assets that transactions of a network derive, the most common first.
	Tokens func(n *Network) []Tokens

	// Lock returns the type and the payload of the script that locks an output, for scripts that are not standard as a
	// whole: their address is that of the lock. It returns [block.Nonstandard] for other scripts.
	Lock    func(script []byte) (k block.Kind, payload []byte)
	LockDoc string // the part of the description of the index address about Lock

	// Outputs are indexes that only this coin has.
	Outputs []OutputIndex

	// Custom returns the parameters of a network by its name that is not one of Networks.
	Custom func(name string) (n *Network, ok bool)

	// BlockArgument is the argument of the RPC getblock that requests a serialized block; nil: 0.
	BlockArgument any
}

// Tokens are assets that a coin derives.
type Tokens struct {
	Name        string // in settings
	Rules       model.TokenRules
	Reader      func() block.TokenReader // makes readers, one per goroutine
	Fingerprint *model.Fingerprint
	Format      func(id []byte) string
	Parse       func(text string) (id []byte, ok bool)
	Form        string // the form that Parse accepts, for messages
	Describe    func(info []byte) model.AssetDescription
}

// OutputIndex is an index of a coin. An output has at most one value.
type OutputIndex struct {
	model.Index
	// Append appends the value of an output, nothing if it has none.
	Append func(to []byte, value uint64, script []byte) []byte
	// MaxBytes returns the most bytes that Append appends.
	MaxBytes func(script []byte) int
}

// registered are the coins that New returned.
var registered []*Spec

// New returns a coin. It sets the coin of each network and completes the parameters of networks with peers.
func New(s Spec) *Spec {
	for _, n := range s.Networks {
		n.Coin = &s
		n.supportPeers()
	}
	registered = append(registered, &s)
	return &s
}

// NetworkNames returns the names of the networks. The first is the default.
func (s *Spec) NetworkNames() []string {
	names := make([]string, len(s.Networks))
	for i, n := range s.Networks {
		names[i] = n.Name
	}
	return names
}

// ByMagic returns the network of the coin with the given magic, or nil if there is none. It returns n if n is one of
// several networks with this magic.
func (n *Network) ByMagic(magic []byte) *Network {
	for _, other := range append([]*Network{n}, n.Coin.Networks...) {
		if string(other.Magic[:]) == string(magic) {
			return other
		}
	}
	return nil
}

// ByMagic returns the first network of all coins with the given magic, or nil.
func ByMagic(magic []byte) *Network {
	for _, s := range registered {
		if n := s.Networks[0].ByMagic(magic); n != nil {
			return n
		}
	}
	return nil
}

// ByNode returns the name of the network of the coin that has the name chain in the node's RPC, or "". It returns the name
// of n if n is one of several networks with this name.
func (n *Network) ByNode(chain string) string {
	for _, other := range append([]*Network{n}, n.Coin.Networks...) {
		if cmp.Or(other.NodeChain, other.Name) == chain {
			return other.Name
		}
	}
	return ""
}

// Hash parses a block hash in display form. It panics if the hash is invalid.
func Hash(text string) model.Hash {
	h, ok := block.ParseHash(text)
	if !ok {
		panic("invalid hash " + strconv.Quote(text))
	}
	return h
}

// Target returns the target that compact represents.
func Target(compact uint32) *big.Int {
	t, _ := block.ExpandTarget(compact)
	return t
}
