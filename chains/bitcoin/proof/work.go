package proof

import (
	"encoding/binary"
	"math/bits"

	"github.com/btcsuite/btcd/blockchain"
)

// Work is how many hashes a header or a chain took, in expectation. 128 bits hold 2³² times what all of mainnet took so
// far; a sum beyond that stays at the greatest. The zero Work is none.
type Work struct{ Hi, Lo uint64 }

var most = Work{^uint64(0), ^uint64(0)}

// WorkOf is the work of one header: 2²⁵⁶ / (target + 1), where the target is stated in its compact form; none where that
// is negative or zero.
func WorkOf(compact uint32) Work {
	n := blockchain.CalcWork(compact)
	if n.BitLen() > 128 {
		return most
	}
	var b [16]byte
	n.FillBytes(b[:])
	return Work{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

// Add is the work of both.
func (w Work) Add(v Work) Work {
	lo, carry := bits.Add64(w.Lo, v.Lo, 0)
	hi, carry := bits.Add64(w.Hi, v.Hi, carry)
	if carry != 0 {
		return most
	}
	return Work{hi, lo}
}

// More reports whether w is more than v.
func (w Work) More(v Work) bool { return w.Hi > v.Hi || w.Hi == v.Hi && w.Lo > v.Lo }
