package bitcoin

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// network is what tells one Bitcoin network from another. The figures are btcd's, which are Core's.
type network struct {
	name     string
	params   *chaincfg.Params // with our checkpoints
	rules    *rules.Rules
	rpcPort  string  // where Bitcoin Core's JSON-RPC listens unless told otherwise
	magic    [4]byte // before every message and every record of a block file
	genesis  model.Hash
	limit    target // the easiest target a header may state
	halving  uint32 // blocks until the subsidy halves
	pubKey   byte   // version byte of a base58 address that pays to a key's hash
	script   byte   // version byte of a base58 address that pays to a script's hash
	hrp      string // human-readable part of a bech32 address
	examples string // what an address of this network begins with
}

// networks is every network there is, the default first. Simnet is btcd's own: so is its port.
var networks = []*network{
	fromParams("mainnet", &chaincfg.MainNetParams, "8332", "1…, 3…"),
	fromParams("testnet3", &chaincfg.TestNet3Params, "18332", "m…, n…, 2…"),
	fromParams("testnet4", &chaincfg.TestNet4Params, "48332", "m…, n…, 2…"),
	fromParams("signet", &chaincfg.SigNetParams, "38332", "m…, n…, 2…"),
	fromParams("regtest", &chaincfg.RegressionNetParams, "18443", "m…, n…, 2…"),
	fromParams("simnet", &chaincfg.SimNetParams, "18556", "S…, s…"),
}

func fromParams(name string, p *chaincfg.Params, rpcPort, base58 string) *network {
	p = withCheckpoints(p)
	n := &network{
		name:     name,
		params:   p,
		rules:    rules.New(p),
		rpcPort:  rpcPort,
		genesis:  model.Hash(*p.GenesisHash),
		halving:  uint32(p.SubsidyReductionInterval),
		pubKey:   p.PubKeyHashAddrID,
		script:   p.ScriptHashAddrID,
		hrp:      p.Bech32HRPSegwit,
		examples: base58 + ", " + p.Bech32HRPSegwit + "1…",
	}
	binary.LittleEndian.PutUint32(n.magic[:], uint32(p.Net))
	p.PowLimit.FillBytes(n.limit[:])
	return n
}

// Networks are the names of Bitcoin's networks, the default first.
func Networks() []string {
	names := make([]string, len(networks))
	for i, n := range networks {
		names[i] = n.name
	}
	return names
}

func networkByName(name string) (*network, error) {
	i := slices.IndexFunc(networks, func(n *network) bool { return n.name == name })
	if i < 0 {
		return nil, model.Errorf(model.Usage, "unknown_network",
			"unknown network %q of bitcoin: expected %s", name, strings.Join(Networks(), ", "))
	}
	return networks[i], nil
}

// networkByMagic is the network whose messages begin with magic, nil where there is none.
func networkByMagic(magic []byte) *network {
	for _, n := range networks {
		if string(n.magic[:]) == string(magic) {
			return n
		}
	}
	return nil
}

const (
	coin          = 100_000_000 // satoshis
	maxMoney      = 21_000_000 * coin
	firstSubsidy  = 50 * coin
	lastHalvingOf = 64 // shifting further is zero by rule, not by arithmetic
)

// supply is the sum of the subsidies of blocks 0 to height.
func (n *network) supply(height model.HeightPk) uint64 {
	blocks := uint64(height) + 1
	sum := uint64(0)
	for era := 0; era < lastHalvingOf && blocks > 0; era++ {
		paid := min(blocks, uint64(n.halving))
		sum += paid * (firstSubsidy >> era)
		blocks -= paid
	}
	return sum
}
