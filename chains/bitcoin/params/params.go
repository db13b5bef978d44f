// Package params has the parameters of coins of Bitcoin's kind ([Spec]) and of their networks, and those of Bitcoin.
package params

import (
	"context"
	"encoding/binary"
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// Network is the parameters of one network. Bitcoin's values are those of btcd's chaincfg, which are Bitcoin Core's.
type Network struct {
	Coin      *Spec
	Name      string
	NodeChain string           // what the node calls it; empty: Name
	Params    *chaincfg.Params // with the checkpoints and DNS seeds of this package; nil: peers are not supported
	Rules     *rules.Rules     // nil: only checkpoints and the proof of work are checked
	Peers     *Peers           // of other coins than Bitcoin, from which Params and Rules are made; nil: not supported
	RPCPort   string           // default port of the node's JSON-RPC
	Magic     [4]byte          // before every message and every record of a block file
	Genesis   model.Hash
	Limit     *big.Int // the easiest target; nil: the coin has no proof of work that is checked
	// Checkpoints are known blocks, for other coins than Bitcoin.
	Checkpoints adapter.Checkpoints
	// Segwit is the height from which blocks must have the witnesses that they commit to. Miners wrote commitments
	// without witnesses before. chaincfg lacks it for networks that activated segwit by a vote.
	Segwit model.HeightPk
	// Extended is the height from which blocks must have data after their transactions, if the format has such data.
	Extended model.HeightPk
	Halving  uint32 // blocks between halvings of the subsidy
	// LookupHost resolves the DNS seeds; nil: the system's resolver.
	LookupHost func(ctx context.Context, host string) (addresses []string, err error)

	// Prefixes of a base58 address that pays to a key hash, and to a script hash. The first is written, all are read.
	KeyHash, ScriptHash []string
	HRP                 string // human-readable part of a bech32 address; empty: it has none
	CashAddr            string // prefix of an address in CashAddr; empty: it has none
	Addresses           string // what addresses begin with, for messages
}

// Bitcoin is the first coin.
var Bitcoin = New(Spec{
	Name: "bitcoin", Title: "Bitcoin", Networks: Networks, Format: &block.Bitcoin, FirstSubsidy: 50 * 100_000_000,
	Unit:       model.Unit{Symbol: "BTC", Decimals: 8, Smallest: "sat"},
	BlockVSize: 1_000_000, // BIP 141
	Services:   wire.SFNodeWitness, BlockType: wire.InvTypeWitnessBlock,
	Accent: model.Accent{Light: "#8f5200", LightWash: "#fbeeda", Dark: "#f2ac45", DarkWash: "#382a13"},
})

// Networks lists every network of Bitcoin, the default first.
var Networks = []*Network{
	fromParams("mainnet", &chaincfg.MainNetParams, "8332", "1…, 3…", 481_824),
	fromParams("testnet3", &chaincfg.TestNet3Params, "18332", "m…, n…, 2…", 834_624),
	fromParams("testnet4", &chaincfg.TestNet4Params, "48332", "m…, n…, 2…", 1),
	fromParams("signet", &chaincfg.SigNetParams, "38332", "m…, n…, 2…", 1),
	fromParams("regtest", &chaincfg.RegressionNetParams, "18443", "m…, n…, 2…", 1),
	fromParams("simnet", &chaincfg.SimNetParams, "18556", "S…, s…", model.MaxHeight), // btcd's, without segwit
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

// FullName names the coin and the network in messages.
func (n *Network) FullName() string { return n.Coin.Name + " " + n.Name }

// subsidies is the number of halvings after which the subsidy is zero.
const subsidies = 64

// Supply is the sum of the subsidies of blocks 0 to height, in the smallest unit, if they are halved.
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
