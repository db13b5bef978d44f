package wallet

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"

	"birthmark/core/query/setops"
	"birthmark/model"
)

// Midstate is the state of the status hash after the confirmed history of a script up to a tip. It is valid while the
// block of that tip is in the chain, and nil if it is not known.
type Midstate struct {
	Tip     model.Point
	state   []byte // of the SHA-256
	entries bool   // the history is not empty
}

// Status returns the status hash of the Electrum protocol; ok is false for a script without history. The caller can
// keep the midstate of the confirmed part: see [Midstate].
func (s *Script) Status(known *Midstate) (status [32]byte, ok bool, next *Midstate, err error) {
	h := newStatusHash()
	span := s.afterGenesis()
	if known != nil {
		valid, err := s.v.Has(known.Tip)
		if err != nil {
			return status, false, nil, err
		}
		if valid {
			if err := h.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(known.state); err != nil {
				return status, false, nil, err
			}
			h.entries = known.entries
			span.First = max(span.First, model.UtxoPk(s.v.q.FirstPk(known.Tip.Height+1)))
		}
	}
	for e, err := range s.history(setops.Span{First: span.First, Last: s.v.q.LastPk(s.v.Tip.Height)}, false) {
		if err != nil {
			return status, false, nil, err
		}
		if e.Repeats && known != nil { // its earlier entry, which the midstate may have, is gone
			return s.Status(nil)
		}
		h.add(&e)
	}
	next = &Midstate{Tip: s.v.Tip, entries: h.entries}
	if next.state, err = h.sum.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
		return status, false, nil, err
	}
	if len(s.pool) > 0 {
		for e := range s.MempoolInStatusOrder() {
			h.add(&e)
		}
	}
	h.sum.Sum(status[:0])
	return status, h.entries, next, nil
}

// Has reports whether a block is in the chain of the view. The origin is.
func (v *View) Has(p model.Point) (bool, error) {
	if p.IsOrigin() {
		return true, nil
	}
	if v.Tip.IsOrigin() || p.Height > v.Tip.Height {
		return false, nil
	}
	row, err := v.q.BlockRow(p.Height)
	return row.Hash == p.Hash, err
}

// compareInStatus compares unconfirmed transactions in the order of get_history of the Electrum protocol, which the status
// depends on: those with unconfirmed parents last, then by displayed id.
func compareInStatus(a, b *model.Hash, parentA, parentB bool) int {
	if parentA != parentB {
		if parentA {
			return 1
		}
		return -1
	}
	for i := len(a) - 1; i >= 0; i-- { // ids are displayed reversed
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return 0
}

// statusHash is the hash of txid:height: for each transaction.
type statusHash struct {
	sum     hash.Hash
	line    []byte // scratch
	entries bool
}

func newStatusHash() *statusHash { return &statusHash{sum: sha256.New(), line: make([]byte, 0, 80)} }

func (h *statusHash) add(e *Entry) {
	id := e.Tx
	slices.Reverse(id[:])
	h.line = append(hex.AppendEncode(h.line[:0], id[:]), ':')
	height := int64(e.Height)
	if e.Height == 0 && e.UnconfirmedParent {
		height = -1
	}
	h.line = append(strconv.AppendInt(h.line, height, 10), ':')
	h.sum.Write(h.line)
	h.entries = true
}
