// Package zcash indexes the transparent part of Zcash. The parameters come from zcashd (chainparams.cpp), the
// transaction formats from the protocol specification, ZIP 225 (version 5) and ZIP 229 (version 6, since NU6.3).
//
// The shielded parts of a transaction are skipped by their exact lengths. Value moves to and from their pools without
// inputs and outputs, so that the sum of unspent outputs is the transparent supply, and inputs minus outputs is not the
// fee, which is unknown: it would need a field in the row of each transaction. Pools are not modelled as outputs, which
// would need an index that no node has, and would change the number of outputs. The hash of a header meets its target;
// the Equihash solution is not checked.
package zcash

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/zcash/txformat"
	"birthmark/model"
)

const (
	coin         = 100_000_000
	maxSupply    = 21_000_000 * coin
	firstSubsidy = 125 * coin / 10 // at most: the first subsidies, and later ones, are lower
)

// Offsets in a header. The nonce of 32 bytes and the solution follow the target.
const (
	commitmentsAt = 68
	timeAt        = 100
	nonceAt       = timeAt + 8
	solutionAt    = nonceAt + 32
)

var format = block.Format{
	MaxSize: 2_000_000, MaxMoney: maxSupply, Solve: block.SolveLegacy, Header: header, TimeAt: timeAt,
	VersionMask: txformat.VersionMask, Prefix: txformat.Prefix, Check: txformat.Check, Payload: txformat.Payload,
	TxHash: txformat.ID, Inputless: txformat.Inputless,
}

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "zcash", Title: "Zcash", Pool: "shielded pools",
	Unit:     model.Unit{Symbol: "ZEC", Decimals: 8, Smallest: "zatoshi"},
	HashRate: "Sol/s",
	Accent:   model.Accent{Light: "#7a5600", LightWash: "#faf0d4", Dark: "#f0c24f", DarkWash: "#33290f"},
	Format:   &format, Header: headerJSON, ParseAddress: parseAddress,
	Supply: func(_ *params.Network, height model.HeightPk) (uint64, bool) {
		return min((uint64(height)+1)*firstSubsidy, maxSupply), true
	},
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "8232", Magic: [4]byte{0x24, 0xe9, 0x27, 0x64},
			Genesis: params.Hash("00040fe8ec8471911baa1db1266ea15dd06b4a8a5c453883c000b031973dce08"),
			Limit:   params.Target(0x1f07ffff),
			KeyHash: []string{"\x1c\xb8"}, ScriptHash: []string{"\x1c\xbd"}, Addresses: "t1…, t3…",
			Checkpoints: map[model.HeightPk]string{
				2_500:     "00000006dc968f600be11a86cbfbf7feb61c7577f45caced2e82b6d261d19744",
				347_500:   "0000000003761c0d0c3974b54bdb425613bbb1eaadd6e70b764de82f195ea243",
				1_046_400: "00000000002038016f976744c369dce7419fca30e7171dfac703af5e5f7ad1d4",
				1_687_104: "0000000000d723156d9b65ffcf4984da7a19675ed7e2f06d9e5d5188af087bf8",
				3_000_000: "0000000000573729e4db33678233e5dc0cc721c9c09977c64dcaa3f6344de8e9",
			},
		},
		{
			Name: "testnet", NodeChain: "test", RPCPort: "18232", Magic: [4]byte{0xfa, 0x1a, 0xf9, 0xbf},
			Genesis: params.Hash("05a60a92d99d85997cce3b87616c089f6124d7342af37106edc76126334a2c38"),
			Limit:   params.Target(0x2007ffff),
			KeyHash: []string{"\x1d\x25"}, ScriptHash: []string{"\x1c\xba"}, Addresses: "tm…, t2…",
			Checkpoints: map[model.HeightPk]string{
				38_000: "001e9a2d2e2892b88e9998cf7b079b41d59dd085423a921fe8386cecc42287b8",
			},
		},
		{
			// Without a limit: Zebra makes blocks of regtest without work.
			Name: "regtest", RPCPort: "18232", Magic: [4]byte{0xaa, 0xe8, 0x3f, 0x5f},
			Genesis: params.Hash("029f11d80ef9765602235e1bc9727e3eb6ba20839319f761fee920d63401e327"),
			KeyHash: []string{"\x1d\x25"}, ScriptHash: []string{"\x1c\xba"}, Addresses: "tm…, t2…",
		},
	},
})

// parseAddress reads an address of transparent outputs in Bech32m: TEX, that of a key hash which only accepts coins from
// transparent outputs (ZIP 320). nil without an error: the text has another form.
func parseAddress(n *params.Network, text string) ([]byte, error) {
	prefix, _, ok := strings.Cut(strings.ToLower(text), "1")
	switch at := map[string]string{"tex": "mainnet", "textest": "testnet", "texregtest": "regtest"}[prefix]; {
	case !ok:
		return nil, nil
	case at == n.Name:
		_, groups, encoding, err := bech32.DecodeGeneric(text)
		if err == nil && encoding != bech32.VersionM {
			err = errors.New("invalid checksum")
		}
		if err != nil {
			return nil, err
		}
		hash, err := bech32.ConvertBits(groups, 5, 8, false)
		if err != nil || len(hash) != block.Hash160Size {
			return nil, fmt.Errorf("its hash has %d bytes, expected %d", len(hash), block.Hash160Size)
		}
		return append([]byte{bitcoin.ToKeyHash}, hash...), nil
	case at != "":
		return nil, fmt.Errorf("it is an address of %s", at)
	case strings.HasPrefix(prefix, "u"):
		return nil, errors.New("a unified address is not indexed: use its transparent address")
	case strings.HasPrefix(prefix, "zs") || strings.HasPrefix(prefix, "ztestsapling") || strings.HasPrefix(prefix, "zregtestsapling"):
		return nil, errors.New("a shielded address is not indexed")
	}
	return nil, nil
}

func header(r *block.Reader) {
	r.Take(solutionAt, "header")
	r.Take(r.Count(1, "bytes of the solution"), "solution")
}

// Header is the `header` object of a block's JSON.
type Header struct {
	Version     int32  `json:"version"`
	MerkleRoot  string `json:"merkle_root"`
	Commitments string `json:"block_commitments"` // before ZIP 244: the root of the Sapling tree
	Bits        string `json:"bits"`              // the compact target, 8 hex digits
	Nonce       string `json:"nonce"`
	Solution    string `json:"solution"`
}

// People returns the fields that a page shows, as name and value, the most important first.
func (h *Header) People() [][2]string {
	return [][2]string{
		{"bits", h.Bits}, {"nonce", h.Nonce}, {"version", fmt.Sprint(h.Version)},
		{"merkle root", h.MerkleRoot}, {"block commitments", h.Commitments},
	}
}

func headerJSON(raw []byte) (any, error) {
	if size, err := format.HeaderSize(raw); err != nil || size != len(raw) {
		return nil, fmt.Errorf("an invalid zcash header of %d bytes", len(raw))
	}
	_, at := block.Count(raw, solutionAt)
	return &Header{
		Version: block.Header(raw).Version(), MerkleRoot: block.FormatHash(block.Header(raw).MerkleRoot()),
		Commitments: block.FormatHash(model.Hash(raw[commitmentsAt:])),
		Bits:        fmt.Sprintf("%08x", binary.LittleEndian.Uint32(raw[timeAt+4:])),
		Nonce:       block.FormatHash(model.Hash(raw[nonceAt:])), Solution: hex.EncodeToString(raw[at:]),
	}, nil
}
