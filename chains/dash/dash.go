// Package dash indexes Dash. The parameters come from Dash Core (chainparams.cpp, chainparamsbase.cpp).
//
// The hash of a block, and its proof of work, is X11. The proof of work is checked; the difficulty is not. A special
// transaction (DIP 2) has a type and a payload; commitments of quorums (DIP 6) have neither inputs nor outputs.
//
// Coins that an asset lock (DIP 27) moves to the platform are in an output that nothing spends. An asset unlock has no
// inputs, so the sum of unspent outputs counts coins that returned twice.
package dash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"sync"

	"github.com/phoreproject/go-x11"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

const (
	coin         = 100_000_000
	maxSupply    = 21_000_000 * coin
	firstSubsidy = 500 * coin // later ones are lower
)

// Types of special transactions without inputs, and the last type. The version is in the lower half of the first field,
// the type in the upper half.
const (
	typeShift        = 16
	quorumCommitment = 6
	hardForkSignal   = 7
	assetUnlock      = 9
	lastType         = 12 // since Dash Core 24
)

// The payload of an asset unlock begins with its version and ends with the fields by which a quorum signs it. The id does
// not cover them from version 2 on: a withdrawal keeps its id if it is signed again.
const (
	unlockSize  = 145
	unsigned    = 1 + 8 + 4
	stableSince = 2
)

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "dash", Title: "Dash",
	Unit:     model.Unit{Symbol: "DASH", Decimals: 8, Smallest: "duff"},
	HashRate: "H/s",
	Accent:   model.Accent{Light: "#005f9e", LightWash: "#e0eff9", Dark: "#6bbcf2", DarkWash: "#11283a"},
	Format: &block.Format{
		MaxSize: 2_000_000, MaxMoney: maxSupply, VersionMask: 1<<typeShift - 1,
		Hash: hash, Check: check, Payload: payload, Inputless: inputless, TxHash: id, Solve: block.SolveLegacy,
	},
	ParseAddress: parseAddress,
	Supply: func(_ *params.Network, height model.HeightPk) (uint64, bool) {
		return min((uint64(height)+1)*firstSubsidy, maxSupply), true
	},
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "9998", Magic: [4]byte{0xbf, 0x0c, 0x6b, 0xbd},
			Genesis: params.Hash("00000ffd590b1485b3caadc19b22e6379c733355108f107a430458cdf3407ab6"),
			Limit:   params.Target(0x1e0fffff),
			KeyHash: []string{"\x4c"}, ScriptHash: []string{"\x10"}, Addresses: "X…, 7…",
			Checkpoints: map[model.HeightPk]string{
				1_500:     "000000aaf0300f59f49bc3e970bad15c11f961fe2347accffff19d96ec9778e3",
				107_996:   "00000000000a23840ac16115407488267aa3da2b9bc843e301185b7d17e4dc40",
				750_000:   "00000000000000b4181bbbdddbae464ce11fede5d0292fb63fdede1e7c8ab21c",
				1_364_585: "00000000000000022f355c52417fca9b73306958f7c0832b3a7bce006ca369ef",
				1_796_500: "000000000000001d531f36005159f19351bd49ca676398a561e55dcccb84eacd",
			},
		},
		{
			Name: "testnet", NodeChain: "test", RPCPort: "19998", Magic: [4]byte{0xce, 0xe2, 0xca, 0xff},
			Genesis: params.Hash("00000bafbc94add76cb75e2ec92894837288a481e5c005f6563d91623bf8bc2c"),
			Limit:   params.Target(0x1e0fffff),
			KeyHash: []string{"\x8c"}, ScriptHash: []string{"\x13"}, Addresses: "y…, 8…, 9…",
			Checkpoints: map[model.HeightPk]string{
				794_950: "000001860e4c7248a9c5cc3bc7106041750560dc5cd9b3a2641b49494bcff5f2",
			},
		},
		{
			Name: "regtest", RPCPort: "19898", Magic: [4]byte{0xfc, 0xc1, 0xb7, 0xdc},
			Genesis: params.Hash("000008ca1832a4baf228eb1553c03d3a2c8e02399550dd6ea8d65cec3ef23d2e"),
			Limit:   params.Target(0x207fffff),
			KeyHash: []string{"\x8c"}, ScriptHash: []string{"\x13"}, Addresses: "y…, 8…, 9…",
		},
	},
})

// hashers are reused: each has the state of eleven hash functions.
var hashers = sync.Pool{New: func() any { return x11.New() }}

// hash returns the hash of a header, which takes about 30 microseconds.
func hash(header []byte) (h model.Hash) {
	x := hashers.Get().(*x11.Hash)
	defer hashers.Put(x)
	x.Hash(header, h[:])
	return h
}

// parseAddress rejects addresses of the platform (DIP 18).
func parseAddress(_ *params.Network, text string) ([]byte, error) {
	if prefix, _, _ := strings.Cut(strings.ToLower(text), "1"); prefix == "dash" || prefix == "tdash" {
		return nil, errors.New("an address of Dash Platform has no outputs on this chain")
	}
	return nil, nil
}

// special returns the type of a special transaction; 0: it is not one. Before version 3 miners used the bits of the type
// as they liked.
func special(first uint32) (kind uint32) {
	const firstVersion = 3
	if int16(first) < firstVersion {
		return 0
	}
	return first >> typeShift
}

func check(r *block.Reader, first uint32, _ []byte) {
	if kind := special(first); kind > lastType {
		r.Newer("a special transaction of type %d", kind)
	}
}

// payload reads the payload of a special transaction.
func payload(r *block.Reader, first uint32) {
	if special(first) != 0 {
		r.Take(r.Count(1, "bytes of the payload"), "payload")
	}
}

func inputless(first uint32) bool {
	kind := special(first)
	return kind == quorumCommitment || kind == hardForkSignal || kind == assetUnlock
}

// id returns the id of a transaction: the hash of its bytes, with zeros for the bytes that it does not cover.
func id(raw []byte, s block.Span) model.Hash {
	const lockTime = 4
	tx := raw[s.Start:s.End]
	if special(binary.LittleEndian.Uint32(tx)) == assetUnlock {
		if size, at := block.Count(raw, s.Lock+lockTime); size == unlockSize && raw[at] >= stableSince {
			tx = bytes.Clone(tx)
			clear(tx[len(tx)-unlockSize+unsigned:])
		}
	}
	return block.DoubleHash(tx)
}
