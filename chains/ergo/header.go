package ergo

import (
	"encoding/hex"
	"strconv"

	"birthmark/chains/ergo/sigma"
)

// headerSize is enough for most headers: version 1 has some 280 bytes.
const headerSize = 288

// Header has the fields of a header in the form of the block's JSON. Hashes and keys are in hex.
type Header struct {
	Version          uint8  `json:"version"`
	Difficulty       string `json:"difficulty"`
	NBits            uint32 `json:"n_bits"` // the difficulty, packed
	Votes            string `json:"votes"`  // three bytes, each a vote or 00
	MinerPk          string `json:"miner_pk"`
	Nonce            string `json:"nonce"`
	Timestamp        uint64 `json:"timestamp"` // in milliseconds
	ExtensionRoot    string `json:"extension_root"`
	StateRoot        string `json:"state_root"`
	AdProofsRoot     string `json:"ad_proofs_root"`
	TransactionsRoot string `json:"transactions_root"`

	miner string // address of the key
}

// People returns the fields that a page shows, as name and value, the most important first. The page has the time from
// the block.
func (h *Header) People() [][2]string {
	return [][2]string{
		{"miner", h.miner},
		{"difficulty", h.Difficulty},
		{"version", strconv.Itoa(int(h.Version))},
		{"votes", h.Votes},
		{"compact target (nBits)", strconv.FormatUint(uint64(h.NBits), 10)},
		{"nonce", h.Nonce},
		{"miner public key", h.MinerPk},
		{"extension root", h.ExtensionRoot},
		{"state root", h.StateRoot},
		{"AD proofs root", h.AdProofsRoot},
		{"transactions root", h.TransactionsRoot},
	}
}

// parseHeader reads [model.Block.Header]: the header as it is serialized.
func parseHeader(n *network, raw []byte) (*Header, error) {
	h, err := sigma.ParseHeader(raw)
	if err != nil {
		return nil, err
	}
	return &Header{
		Version: h.Version, Difficulty: h.Difficulty().String(), NBits: h.NBits, Votes: hex.EncodeToString(h.Votes[:]),
		MinerPk: hex.EncodeToString(h.MinerKey[:]), Nonce: hex.EncodeToString(h.Nonce[:]), Timestamp: h.Timestamp,
		ExtensionRoot: hex.EncodeToString(h.ExtensionRoot[:]), StateRoot: hex.EncodeToString(h.StateRoot[:]),
		AdProofsRoot: hex.EncodeToString(h.ADProofsRoot[:]), TransactionsRoot: hex.EncodeToString(h.TransactionsRoot[:]),
		miner: formatAddress(n, append([]byte{typeP2PK}, h.MinerKey[:]...)),
	}, nil
}
