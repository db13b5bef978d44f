// Package params has the parameters of Bitcoin's networks.
package params

import (
	"context"
	"encoding/binary"
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// Network is the parameters of one network. The values are those of btcd's chaincfg, which are Bitcoin Core's.
type Network struct {
	Name    string
	Params  *chaincfg.Params // with the checkpoints and DNS seeds of this package
	Rules   *rules.Rules
	RPCPort string  // default port of the node's JSON-RPC
	Magic   [4]byte // before every message and every record of a block file
	Genesis model.Hash
	Limit   *big.Int // the easiest target
	// Segwit is the height from which blocks must have the witnesses that they commit to. Miners wrote commitments
	// without witnesses before. chaincfg lacks it for networks that activated segwit by a vote.
	Segwit  model.HeightPk
	Halving uint32 // blocks between halvings of the subsidy
	// LookupHost resolves the DNS seeds; nil: the system's resolver.
	LookupHost func(ctx context.Context, host string) (addresses []string, err error)

	PubKeyHash byte   // version byte of a base58 address that pays to a key hash
	ScriptHash byte   // version byte of a base58 address that pays to a script hash
	HRP        string // human-readable part of a bech32 address
	Addresses  string // what addresses begin with, for messages
}

// Networks lists every network, the default first.
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
		Params:     p,
		Rules:      rules.New(p),
		RPCPort:    rpcPort,
		Genesis:    model.Hash(*p.GenesisHash),
		Limit:      p.PowLimit,
		Segwit:     segwit,
		Halving:    uint32(p.SubsidyReductionInterval),
		PubKeyHash: p.PubKeyHashAddrID,
		ScriptHash: p.ScriptHashAddrID,
		HRP:        p.Bech32HRPSegwit,
		Addresses:  base58 + ", " + p.Bech32HRPSegwit + "1…",
	}
	binary.LittleEndian.PutUint32(n.Magic[:], uint32(p.Net))
	return n
}

// String returns the name.
func (n *Network) String() string { return n.Name }

// ByMagic returns the network with this magic, nil if there is none.
func ByMagic(magic []byte) *Network {
	for _, n := range Networks {
		if string(n.Magic[:]) == string(magic) {
			return n
		}
	}
	return nil
}

const (
	firstSubsidy = 50 * 100_000_000 // satoshis
	subsidies    = 64               // halvings after which the subsidy is zero
)

// Supply is the sum of the subsidies of blocks 0 to height, in satoshis.
func (n *Network) Supply(height model.HeightPk) uint64 {
	blocks := uint64(height) + 1
	sum := uint64(0)
	for era := 0; era < subsidies && blocks > 0; era++ {
		paid := min(blocks, uint64(n.Halving))
		sum += paid * (firstSubsidy >> era)
		blocks -= paid
	}
	return sum
}
