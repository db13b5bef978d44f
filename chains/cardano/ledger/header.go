package ledger

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/genesis"
	"birthmark/model"
)

// The era tags of blocks, in chunk files and in chain-sync.
const (
	EraByronBoundary = iota
	EraByron
	EraShelley
	eraAllegra
	EraMary
	EraAlonzo
	EraBabbage
	EraConway
	EraDijkstra
)

var EraNames = [...]string{"byron", "byron", "shelley", "allegra", "mary", "alonzo", "babbage", "conway", "dijkstra"}

// Header is the JSON of a block's header. Keys are in hex.
type Header struct {
	Era         string  `json:"era"`
	Boundary    bool    `json:"boundary,omitempty"` // Byron's block between two epochs
	Slot        uint64  `json:"slot"`
	Epoch       *uint64 `json:"epoch,omitempty"` // nil if only the network's name is known
	BlockNumber uint64  `json:"block_number"`

	IssuerVkey      string `json:"issuer_vkey,omitempty"` // 32 bytes, in Byron 64 with the chain code; none of a boundary
	VrfVkey         string `json:"vrf_vkey,omitempty"`    // since Shelley
	ProtocolVersion string `json:"protocol_version,omitempty"`
	BodySize        uint64 `json:"body_size,omitempty"` // since Shelley
}

// HeaderFields are the fields of a header that the decoder reads. Slices point into it.
type HeaderFields struct {
	Era          byte
	number, slot uint64
	parent       model.Hash
	Issuer, vrf  []byte
	major, minor uint64
	bodySize     uint64
	bodyHash     []byte // since Shelley, and of a boundary
	proof        byronProof
}

// ParseHeader reads [model.Block.Header]: the era's tag and the header's bytes.
func ParseHeader(n *genesis.Network, raw []byte) (*Header, error) {
	if err := checkHeader(raw); err != nil {
		return nil, err
	}
	w := cbor.Walker{Data: raw[1:]}
	f := readHeader(&w, n, raw[0])
	if w.Err == nil && w.Offset < len(w.Data) {
		w.Fail("%d bytes follow the header", len(w.Data)-w.Offset)
	}
	if w.Err != nil {
		return nil, w.Err
	}
	h := &Header{
		Era: EraNames[f.Era], Boundary: f.Era == EraByronBoundary,
		Slot: f.slot, BlockNumber: f.number,
		IssuerVkey: hex.EncodeToString(f.Issuer), VrfVkey: hex.EncodeToString(f.vrf),
		BodySize: f.bodySize,
	}
	if !n.IsUnnamed() {
		epoch := n.Epoch(f.slot)
		h.Epoch = &epoch
	}
	if !h.Boundary {
		h.ProtocolVersion = fmt.Sprintf("%d.%d", f.major, f.minor)
	}
	return h, nil
}

// HashHeader returns the hash of the block whose [model.Block.Header] is raw. Since Shelley it is the hash of the
// header, in Byron of an array of tag and header.
func HashHeader(raw []byte) (model.Hash, error) {
	if err := checkHeader(raw); err != nil {
		return model.Hash{}, err
	}
	if raw[0] > EraByron {
		return blake2b.Sum256(raw[1:]), nil
	}
	return blake2b.Sum256(append([]byte{cbor.Array<<5 | 2}, raw...)), nil
}

// PoolOf returns the hash of the key of the pool that made the block whose [model.Block.Header] is raw; nil in Byron. In
// the first epochs of Shelley, the key can be that of a genesis delegate.
func PoolOf(raw []byte) ([]byte, error) {
	if err := checkHeader(raw); err != nil || raw[0] <= EraByron {
		return nil, err
	}
	w := cbor.Walker{Data: raw[1:]}
	f := readHeader(&w, nil, raw[0])
	if w.Err != nil {
		return nil, w.Err
	}
	return address.Hash224(f.Issuer), nil
}

func checkHeader(raw []byte) error {
	if len(raw) == 0 {
		return fmt.Errorf("empty header")
	}
	return checkEra(uint64(raw[0]))
}

// unknownEra is the error code of forms of a later era, or of a later version of Dijkstra.
const unknownEra = "unknown_era"

// checkEra returns an error of the code unknown_era if this version cannot read the blocks of an era.
func checkEra(tag uint64) error {
	if tag > EraDijkstra {
		return model.Newer(unknownEra, "a block of an era after Dijkstra (tag %d, Dijkstra has %d)", tag, EraDijkstra)
	}
	return nil
}

// CheckTxEra returns an error of the code unknown_era if this version cannot read the transactions of an era, by its
// number: 1 Shelley, 7 Dijkstra.
func CheckTxEra(number uint64) error {
	if number < EraShelley-1 {
		return model.Errorf(model.BadSource, unknownEra, "a transaction of Byron: expected one since Shelley")
	}
	if number > EraDijkstra-1 {
		return model.Newer(unknownEra, "a transaction of an era after Dijkstra (number %d)", number)
	}
	return nil
}

// readHeader reads a header of any era.
func readHeader(w *cbor.Walker, n *genesis.Network, era byte) HeaderFields {
	switch era {
	case EraByronBoundary:
		return readBoundaryHeader(w, n)
	case EraByron:
		return readByronHeader(w, n)
	}
	f := HeaderFields{Era: era}
	whole := w.Fields("header")
	body := whole.Fields("header body")
	f.number = body.Uint("block number")
	f.slot = body.Uint("slot")
	f.parent = body.HashOrNull("hash of the parent") // the first block of a chain without Byron has none
	f.Issuer = body.BytesOf(32, "issuer's key")
	f.vrf = body.BytesOf(32, "VRF key")
	body.Skip("VRF result")
	if era < EraBabbage {
		body.Skip("leader's VRF result")
	}
	f.bodySize = body.Uint("body size")
	f.bodyHash = body.BytesOf(32, "body hash")
	if era < EraBabbage {
		for range 4 {
			body.Skip("operational certificate")
		}
		readVersion(&body, &f)
	} else {
		body.Skip("operational certificate")
		version := body.Fields("protocol version")
		readVersion(&version, &f)
		version.End()
	}
	if era >= EraDijkstra {
		body.SkipRest() // fields of Leios
	}
	body.End()
	whole.Skip("signature of the header")
	whole.End()
	return f
}

func readVersion(in *cbor.Fields, f *HeaderFields) {
	f.major = in.Uint("protocol version")
	f.minor = in.Uint("minor protocol version")
}

// People returns the fields that a page shows, as name and value, the most important first; a value is "" if the header
// does not have the field. The page has height and size from the block.
func (h *Header) People() [][2]string {
	era := h.Era
	if h.Boundary {
		era += ", boundary between two epochs"
	}
	epoch := ""
	if h.Epoch != nil {
		epoch = strconv.FormatUint(*h.Epoch, 10)
	}
	pool := ""
	if key, err := hex.DecodeString(h.IssuerVkey); err == nil && h.VrfVkey != "" {
		pool = address.FormatPool(key)
	}
	return [][2]string{
		{"pool", pool},
		{"era", era},
		{"epoch", epoch},
		{"slot", strconv.FormatUint(h.Slot, 10)},
		{"protocol version", h.ProtocolVersion},
		{"issuer key", h.IssuerVkey},
		{"VRF key", h.VrfVkey},
	}
}

// OperationalCertificate returns the hot key and the counter in the header of a block since Shelley, in the form of
// [model.Block.Header].
func OperationalCertificate(raw []byte) (hot []byte, counter uint64, err error) {
	if err := checkHeader(raw); err != nil {
		return nil, 0, err
	}
	if raw[0] < EraShelley {
		return nil, 0, fmt.Errorf("headers of Byron have no operational certificate")
	}
	w := cbor.Walker{Data: raw[1:]}
	whole := w.Fields("header")
	cert := whole.Fields("header body")
	before := 8 // block number, slot, parent, issuer, VRF key, VRF result, size and hash of the body
	if raw[0] < EraBabbage {
		before++ // the leader's VRF result
	}
	for range before {
		cert.Skip("header body")
	}
	if raw[0] >= EraBabbage {
		cert = cert.Fields("operational certificate")
	}
	hot, counter = cert.Bytes("hot key"), cert.Uint("counter")
	return hot, counter, w.Err
}
