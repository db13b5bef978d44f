// Package tapyrus indexes networks of Tapyrus, with colored coins as assets. Parameters and formats come from Tapyrus
// Core.
//
// Blocks are signed by a federation instead of mined: a header has the signature, and sometimes a new aggregated key.
// The signature is not checked. The id of a transaction does not cover the scripts of its inputs.
//
// Package coloredcoin reads the colors of outputs. The balance of an address has its coins and its colors.
package tapyrus

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/tapyrus/coloredcoin"
	"birthmark/model"
)

// Offsets in a header, and the types of the field after them.
const (
	timeAt        = 100
	immutableRoot = 68 // the merkle root of the ids
	noField       = 0
	aggregateKey  = 1
	maxBlockSize  = 2
)

var format = block.Format{
	MaxSize: 32_000_000, MaxMoney: 1<<63 - 1, Solve: block.SolveLegacy, Header: header, TimeAt: timeAt, RootAt: immutableRoot,
	Coinbase: func(outpoint []byte) bool { return model.Hash(outpoint) == model.Hash{} }, // its index is the height
	Output:   coloredcoin.Split, AppendHashed: appendHashed,
}

// Spec is the coin. Each federation has a network with its own block 0: here are the public test network and that of
// Tapyrus Core's tests.
var Spec = params.New(params.Spec{
	Name: "tapyrus", Title: "Tapyrus",
	Unit:         model.Unit{Symbol: "TPC", Decimals: 8, Smallest: "tapyrus"},
	Accent:       model.Accent{Light: "#00696e", LightWash: "#dff1f2", Dark: "#5cc6cc", DarkWash: "#12292b"},
	FirstSubsidy: 50 * 100_000_000,
	Format:       &format,
	Header:       headerJSON, Assets: true, AssetForm: coloredcoin.Form, ParseAsset: coloredcoin.Parse,
	ParseAddress: coloredcoin.ParseAddress,
	Networks: []*params.Network{
		{
			Name: "testnet", NodeChain: "1939510133", RPCPort: "2377", Magic: [4]byte{0x75, 0x9a, 0x83, 0x74},
			Genesis: params.Hash("038b114875c2f78f5a2fd7d8549a905f38ea5faee6e29a3d79e547151d6bdd8a"), Halving: 210_000,
			KeyHash: []string{"\x00"}, ScriptHash: []string{"\x05"}, Addresses: "1…, 3…",
		},
		{
			Name: "dev", NodeChain: "1905960821", RPCPort: "12381", Magic: [4]byte{0x73, 0x9a, 0x97, 0x74},
			Genesis: params.Hash("63410d108b766f03e5fae6012f60208ebc35e477f8ba271a7beee7c443ff153d"), Halving: 150,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\xc4"}, Addresses: "m…, n…, 2…",
		},
	},
})

// header reads a header: the fixed fields, a field with a type, and the signature.
func header(r *block.Reader) {
	r.Take(timeAt+4, "header")
	kind := r.Take(1, "type of the field")
	switch {
	case kind == nil || kind[0] == noField:
	case kind[0] == aggregateKey:
		r.Take(r.Count(1, "bytes of the key"), "aggregated key")
	case kind[0] == maxBlockSize:
		r.Take(4, "maximum size of blocks")
	default:
		r.Newer("a header with a field of type %d", kind[0])
	}
	r.Take(r.Count(1, "bytes of the signature"), "signature")
}

// Header is the `header` object of a block's JSON.
type Header struct {
	Features   uint32 `json:"features"`
	MerkleRoot string `json:"merkle_root"`           // of the hashes of all bytes
	IDRoot     string `json:"immutable_merkle_root"` // of the ids
	Key        string `json:"aggregated_key,omitempty"`
	MaxBlock   uint32 `json:"max_block_size,omitempty"`
	Signature  string `json:"signature"`
}

// People returns the fields that a page shows, as name and value, the most important first.
func (h *Header) People() [][2]string {
	fields := [][2]string{{"signature", h.Signature}}
	if h.Key != "" {
		fields = append(fields, [2]string{"aggregated key", h.Key})
	}
	return append(fields, [2]string{"merkle root", h.MerkleRoot}, [2]string{"immutable merkle root", h.IDRoot})
}

func headerJSON(raw []byte) (any, error) {
	if size, err := format.HeaderSize(raw); err != nil || size != len(raw) {
		return nil, fmt.Errorf("an invalid tapyrus header of %d bytes", len(raw))
	}
	h := &Header{
		Features: binary.LittleEndian.Uint32(raw), MerkleRoot: block.FormatHash(model.Hash(raw[36:])),
		IDRoot: block.FormatHash(model.Hash(raw[immutableRoot:])),
	}
	rest := raw[timeAt+5:]
	switch raw[timeAt+4] {
	case aggregateKey:
		size, at := block.Count(rest, 0)
		h.Key, rest = hex.EncodeToString(rest[at:at+size]), rest[at+size:]
	case maxBlockSize:
		h.MaxBlock, rest = binary.LittleEndian.Uint32(rest), rest[4:]
	}
	_, at := block.Count(rest, 0)
	h.Signature = hex.EncodeToString(rest[at:])
	return h, nil
}

// appendHashed appends a transaction without the scripts of its inputs.
func appendHashed(to, raw []byte, s block.Span) []byte {
	to = append(to, raw[s.Start:s.Start+4]...)
	inputs, at := block.Count(raw, s.Body)
	to = append(to, raw[s.Body:at]...)
	for range inputs {
		to = append(to, raw[at:at+36]...)
		size, next := block.Count(raw, at+36)
		at = next + size
		to = append(to, raw[at:at+4]...)
		at += 4
	}
	return append(to, raw[at:s.End]...)
}
