package params

import (
	"cmp"
	"math/big"
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Spec is what distinguishes one coin of Bitcoin's kind from another. A function that is nil does what Bitcoin does.
type Spec struct {
	Name       string // in settings, commands and answers
	Title      string // in messages
	Unit       model.Unit
	Accent     model.Accent
	BlockVSize int        // as in [model.Traits]
	Networks   []*Network // the default first
	Format     *block.Format

	// Supply returns the maximum amount that the blocks up to a height issue; ok is false if it is unknown. nil: the
	// first subsidy is FirstSubsidy, and is halved every [Network.Halving] blocks.
	Supply       func(n *Network, height model.HeightPk) (amount uint64, ok bool)
	FirstSubsidy uint64

	// FormatAddress writes a stored address: see package bitcoin. "" is the form of Bitcoin.
	FormatAddress func(n *Network, value []byte) string
	// ParseAddress reads an address; nil without an error if it does not have a form of this coin only.
	ParseAddress func(n *Network, text string) (value []byte, err error)

	// Scheme is the scheme of URIs that request a payment (BIP 21); empty: Name.
	Scheme string

	// Header returns the header in JSON, for coins without proof of work.
	Header func(raw []byte) (any, error)

	// Unordered: an input can spend an output of a later transaction of its block.
	Unordered bool

	// Pool names what can receive value from inputs and provide value for outputs: see [model.Traits].
	Pool string

	// Assets: outputs can have assets. A transaction issues what its outputs have in excess of its inputs, and burns
	// what they lack.
	Assets      bool
	FormatAsset func(id []byte) string
	ParseAsset  func(text string) (id []byte, ok bool)
	AssetForm   string // what ParseAsset expects, for messages

	// Services are the services that peers must offer beside blocks, and BlockType is how a block of them is requested.
	Services  wire.ServiceFlag
	BlockType wire.InvType

	// BlockArgument is the last argument of the node's getblock, for a serialized block; nil: 0.
	BlockArgument any
}

// New links the networks of a coin to it and completes them.
func New(s Spec) *Spec {
	for _, n := range s.Networks {
		n.Coin = &s
		n.supportPeers()
	}
	return &s
}

// NetworkNames returns the names of the networks, the default first.
func (s *Spec) NetworkNames() []string {
	names := make([]string, len(s.Networks))
	for i, n := range s.Networks {
		names[i] = n.Name
	}
	return names
}

// ByMagic returns the network of the coin with this magic, nil if no network has it. It prefers n to the others.
func (n *Network) ByMagic(magic []byte) *Network {
	for _, other := range append([]*Network{n}, n.Coin.Networks...) {
		if string(other.Magic[:]) == string(magic) {
			return other
		}
	}
	return nil
}

// ByNode returns the name of the network that a node calls chain; "" if there is none.
func (s *Spec) ByNode(chain string) string {
	for _, n := range s.Networks {
		if cmp.Or(n.NodeChain, n.Name) == chain {
			return n.Name
		}
	}
	return ""
}

// Hash reads the hash of a block in display form. It panics if it is invalid.
func Hash(text string) model.Hash {
	h, ok := block.ParseHash(text)
	if !ok {
		panic("invalid hash " + strconv.Quote(text))
	}
	return h
}

// Target returns the target of a compact form.
func Target(compact uint32) *big.Int {
	t, _ := block.ExpandTarget(compact)
	return t
}
