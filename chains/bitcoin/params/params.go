// Package params defines the parameters of coins of Bitcoin's kind ([Spec]) and of their networks ([Network]). It
// declares Bitcoin. Other coins have a package each.
package params

import (
	"context"
	"encoding/binary"
	"math"
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// Network contains the parameters of one network. Values of Bitcoin come from package chaincfg of btcd and equal those
// of Bitcoin Core.
type Network struct {
	Coin      *Spec
	Name      string
	NodeChain string           // the name of the network in the node's RPC; empty: Name
	Params    *chaincfg.Params // includes the checkpoints and DNS seeds of this package; nil: peers are not supported
	Rules     *rules.Rules     // nil: only the checkpoints and the proof of work are validated
	Peers     *Peers           // source of Params and Rules of other coins than Bitcoin; nil: peers are not supported
	RPCPort   string           // default port of the node's JSON-RPC
	Magic     [4]byte          // before each message and each record of a block file
	Genesis   model.Hash
	Limit     *big.Int // the easiest target; nil: the proof of work is not validated
	// Checkpoints are hashes of blocks by their heights, for other coins than Bitcoin.
	Checkpoints adapter.Checkpoints
	// Segwit is the height from which blocks must contain the witnesses that they commit to. Before it, some blocks have
	// commitments without witnesses. Package chaincfg does not contain the height for networks on which a vote of the
	// miners activated segwit.
	Segwit model.HeightPk
	// Extended is the height from which blocks must have data after their transactions, if the format supports such data.
	Extended model.HeightPk
	Halving  uint32 // blocks between halvings of the subsidy
	// LookupHost resolves the host names of DNS seeds; nil: the resolver of the system.
	LookupHost func(ctx context.Context, host string) (addresses []string, err error)

	// KeyHash and ScriptHash are the prefixes of base58 addresses that pay to a key hash and to a script hash. Addresses
	// are written with the first prefix. All prefixes are accepted.
	KeyHash, ScriptHash []string
	HRP                 string // human-readable part of bech32 addresses; empty: there are none
	CashAddr            string // prefix of addresses in CashAddr; empty: there are none
	Addresses           string // the first characters of addresses, for messages: "1…, 3…, bc1…"
}

// Bitcoin is the declaration of Bitcoin.
var Bitcoin = New(Spec{
	Name: "bitcoin", Title: "Bitcoin", Networks: Networks, Format: &block.Bitcoin, FirstSubsidy: 50 * 100_000_000,
	Unit:       model.Unit{Symbol: "BTC", Decimals: 8, Smallest: "sat"},
	HashRate:   "H/s",
	BlockVSize: 1_000_000, // BIP 141
	Services:   wire.SFNodeWitness, BlockType: wire.InvTypeWitnessBlock,
	Accent: model.Accent{Light: "#8f5200", LightWash: "#fbeeda", Dark: "#f2ac45", DarkWash: "#382a13"},
})

func init() { Bitcoin.Custom = customSignet } // which refers to Bitcoin

// Networks lists the networks of Bitcoin. The first is the default.
var Networks = []*Network{
	fromParams("mainnet", &chaincfg.MainNetParams, "8332", "1…, 3…", 481_824),
	fromParams("testnet3", &chaincfg.TestNet3Params, "18332", "m…, n…, 2…", 834_624),
	fromParams("testnet4", &chaincfg.TestNet4Params, "48332", "m…, n…, 2…", 1),
	fromParams("signet", &chaincfg.SigNetParams, "38332", "m…, n…, 2…", 1),
	fromParams("regtest", private(chaincfg.RegressionNetParams), "18443", "m…, n…, 2…", model.MaxHeight),
	fromParams("simnet", private(chaincfg.SimNetParams), "18556", "S…, s…", model.MaxHeight), // btcd's, without segwit
}

// private returns the parameters of a network that anybody can start, without activation heights: they are settings of
// the node (-testactivationheight), and differ between its releases. No block is refused for its version.
func private(p chaincfg.Params) *chaincfg.Params {
	p.BIP0034Height, p.BIP0066Height, p.BIP0065Height = math.MaxInt32, math.MaxInt32, math.MaxInt32
	return &p
}

func fromParams(name string, p *chaincfg.Params, rpcPort, base58 string, segwit model.HeightPk) *Network {
	p = withCheckpoints(p)
	withSeeds(p)
	n := &Network{
		Name:       name,
		NodeChain:  map[string]string{"mainnet": "main", "testnet3": "test"}[name],
		Params:     p,
		Rules:      rules.New(p, nil),
		RPCPort:    rpcPort,
		Genesis:    model.Hash(*p.GenesisHash),
		Limit:      p.PowLimit,
		Segwit:     segwit,
		Halving:    uint32(p.SubsidyReductionInterval),
		KeyHash:    []string{string([]byte{p.PubKeyHashAddrID})},
		ScriptHash: []string{string([]byte{p.ScriptHashAddrID})},
		HRP:        p.Bech32HRPSegwit,
		Addresses:  base58 + ", " + p.Bech32HRPSegwit + "1…",
	}
	binary.LittleEndian.PutUint32(n.Magic[:], uint32(p.Net))
	return n
}

// String returns the name.
func (n *Network) String() string { return n.Name }

// FullName returns the names of the coin and of the network, for messages.
func (n *Network) FullName() string { return n.Coin.Name + " " + n.Name }

// subsidies is the number of halvings after which the subsidy is zero.
const subsidies = 64

// Supply returns the sum of the subsidies of blocks 0 to height in the smallest unit, if the subsidy is halved.
func (n *Network) Supply(height model.HeightPk) uint64 {
	blocks := uint64(height) + 1
	sum := uint64(0)
	for era := 0; era < subsidies && blocks > 0; era++ {
		paid := min(blocks, uint64(n.Halving))
		sum += paid * (n.Coin.FirstSubsidy >> era)
		blocks -= paid
	}
	return sum
}
