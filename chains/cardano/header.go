package cardano

import (
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// The eras as the outer array of a block tells them, in chunk files and over chain-sync alike.
const (
	eraByronBoundary = iota
	eraByron
	eraShelley
	eraAllegra
	eraMary
	eraAlonzo
	eraBabbage
	eraConway
)

var eraNames = [...]string{"byron", "byron", "shelley", "allegra", "mary", "alonzo", "babbage", "conway"}

// Header is what a block's header tells, as the block's JSON shows it. Keys are in hex.
type Header struct {
	Era         string  `json:"era"`
	Boundary    bool    `json:"boundary,omitempty"` // Byron's block between two epochs
	Slot        uint64  `json:"slot"`
	Epoch       *uint64 `json:"epoch,omitempty"` // none where only the network's name is known
	BlockNumber uint64  `json:"block_number"`

	IssuerVkey      string `json:"issuer_vkey,omitempty"` // 32 bytes, in Byron 64 with the chain code; none of a boundary
	VrfVkey         string `json:"vrf_vkey,omitempty"`    // since Shelley
	ProtocolVersion string `json:"protocol_version,omitempty"`
	BodySize        uint64 `json:"body_size,omitempty"` // since Shelley
}

// fields are what is read of a header. Slices point into it.
type fields struct {
	era          byte
	number, slot uint64
	parent       model.Hash
	issuer, vrf  []byte
	major, minor uint64
	bodySize     uint64
	bodyHash     []byte // since Shelley, and of a boundary
	proof        byronProof
}

// parseHeader reads [model.Block.Header]: the era's tag and the header's bytes.
func parseHeader(n *network, raw []byte) (*Header, error) {
	if err := checkHeader(raw); err != nil {
		return nil, err
	}
	w := walker{b: raw[1:]}
	f := readHeader(&w, n, raw[0])
	if w.err == nil && w.at < len(w.b) {
		w.fail("%d bytes follow the header", len(w.b)-w.at)
	}
	if w.err != nil {
		return nil, w.err
	}
	h := &Header{
		Era: eraNames[f.era], Boundary: f.era == eraByronBoundary,
		Slot: f.slot, BlockNumber: f.number,
		IssuerVkey: hex.EncodeToString(f.issuer), VrfVkey: hex.EncodeToString(f.vrf),
		BodySize: f.bodySize,
	}
	if !n.isNameless() {
		epoch := n.epochOf(f.slot)
		h.Epoch = &epoch
	}
	if !h.Boundary {
		h.ProtocolVersion = fmt.Sprintf("%d.%d", f.major, f.minor)
	}
	return h, nil
}

// hashHeader is the hash of the block whose [model.Block.Header] is raw. Byron's is of the header and its tag in an
// array.
func hashHeader(raw []byte) (model.Hash, error) {
	if err := checkHeader(raw); err != nil {
		return model.Hash{}, err
	}
	if raw[0] > eraByron {
		return blake2b.Sum256(raw[1:]), nil
	}
	return blake2b.Sum256(append([]byte{majorArray<<5 | 2}, raw...)), nil
}

func checkHeader(raw []byte) error {
	if len(raw) == 0 {
		return fmt.Errorf("a header without bytes")
	}
	return checkEra(uint64(raw[0]))
}

// checkEra returns an error of the code unknown_era if this version cannot read the blocks of an era.
func checkEra(tag uint64) error {
	if tag > eraConway {
		return model.Errorf(model.BadSource, "unknown_era",
			"block of an era after Conway (tag %d), which this version cannot read: it reads tags 0 (Byron) to %d (Conway); "+
				"install a newer version of birthmark", tag, eraConway)
	}
	return nil
}

// header walks over a header of any era.
func readHeader(w *walker, n *network, era byte) fields {
	switch era {
	case eraByronBoundary:
		return readBoundaryHeader(w, n)
	case eraByron:
		return readByronHeader(w, n)
	}
	f := fields{era: era}
	whole := w.array("header")
	w.field(&whole, "header body")
	body := w.array("header body")
	w.field(&body, "block number")
	f.number = w.uint("block number")
	w.field(&body, "slot")
	f.slot = w.uint("slot")
	w.field(&body, "hash of the parent")
	if !w.null() { // the first block of a chain without Byron has none
		f.parent = w.hash("hash of the parent")
	}
	w.field(&body, "issuer's key")
	f.issuer = w.sized(32, "issuer's key")
	w.field(&body, "VRF key")
	f.vrf = w.sized(32, "VRF key")
	w.field(&body, "VRF result")
	w.skip("VRF result")
	if era < eraBabbage {
		w.field(&body, "leader's VRF result")
		w.skip("leader's VRF result")
	}
	w.field(&body, "body size")
	f.bodySize = w.uint("body size")
	w.field(&body, "body hash")
	f.bodyHash = w.sized(32, "body hash")
	if era < eraBabbage {
		for range 4 {
			w.field(&body, "operational certificate")
			w.skip("operational certificate")
		}
		w.field(&body, "protocol version")
		f.major = w.uint("protocol version")
		w.field(&body, "minor protocol version")
		f.minor = w.uint("minor protocol version")
	} else {
		w.field(&body, "operational certificate")
		w.skip("operational certificate")
		w.field(&body, "protocol version")
		version := w.array("protocol version")
		w.field(&version, "protocol version")
		f.major = w.uint("protocol version")
		w.field(&version, "minor protocol version")
		f.minor = w.uint("minor protocol version")
		w.end(&version, "protocol version")
	}
	w.end(&body, "header body")
	w.field(&whole, "signature of the header")
	w.skip("signature of the header")
	w.end(&whole, "header")
	return f
}
