package params

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/rules"
)

// Peers contains the parameters for the download of a chain from peers, for networks of other coins than Bitcoin.
type Peers struct {
	Magic      [4]byte // before messages; zero: the magic of block files
	Port       string  // the default port
	Seeds      []string
	First      First
	Spacing    time.Duration // expected time between two blocks
	Difficulty rules.Difficulty
	Periods    bool // the difficulty changes once per 2016 blocks
	// Versions are the heights from which headers must have at least version 2, 3 and 4, unless Fixed is set.
	Versions [3]int32
	Easy     bool // a block may have the easiest target if its time is more than two spacings after that of its parent
	Fixed    bool // all blocks have the easiest target
}

// First contains the fields of the header of block 0 that are not zero, except the version, which is 1.
type First struct {
	Root              string
	Time, Bits, Nonce uint32
}

// period is the number of blocks in a difficulty period. It is the same for all coins.
const period = 2016

// supportPeers sets Params and Rules of a network that has Peers. It panics if First does not have the hash of block 0.
func (n *Network) supportPeers() {
	s := n.Peers
	if s == nil {
		return
	}
	header := wire.BlockHeader{
		Version: 1, MerkleRoot: chainhash.Hash(Hash(s.First.Root)), Timestamp: time.Unix(int64(s.First.Time), 0),
		Bits: s.First.Bits, Nonce: s.First.Nonce,
	}
	genesis := chainhash.Hash(n.Genesis)
	if raw := (bytes.Buffer{}); header.Serialize(&raw) != nil || n.Coin.Format.HashOf(raw.Bytes()) != n.Genesis {
		panic("invalid header of block 0 of " + n.FullName())
	}
	magic := cmp.Or(binary.LittleEndian.Uint32(s.Magic[:]), binary.LittleEndian.Uint32(n.Magic[:]))
	n.Params = &chaincfg.Params{
		Name: n.FullName(), Net: wire.BitcoinNet(magic), DefaultPort: s.Port,
		GenesisBlock: wire.NewMsgBlock(&header), GenesisHash: &genesis,
		PowLimit: n.Limit, PowLimitBits: blockchain.BigToCompact(n.Limit),
		TargetTimespan: period * s.Spacing, TargetTimePerBlock: s.Spacing, RetargetAdjustmentFactor: 4,
		ReduceMinDifficulty: s.Easy, MinDiffReductionTime: 2 * s.Spacing, PoWNoRetargeting: s.Fixed,
		BIP0034Height: s.Versions[0], BIP0066Height: s.Versions[1], BIP0065Height: s.Versions[2],
	}
	if s.Fixed {
		n.Params = private(*n.Params)
	}
	for _, host := range s.Seeds {
		n.Params.DNSSeeds = append(n.Params.DNSSeeds, chaincfg.DNSSeed{Host: host})
	}
	for height, text := range n.Checkpoints {
		hash := chainhash.Hash(Hash(text))
		n.Params.Checkpoints = append(n.Params.Checkpoints, chaincfg.Checkpoint{Height: int32(height), Hash: &hash})
	}
	n.Rules = rules.New(n.Params, s.Difficulty)
}
