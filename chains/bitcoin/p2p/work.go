package p2p

import (
	"encoding/binary"
	"math/bits"

	"github.com/btcsuite/btcd/blockchain"
)

// work is how many hashes a chain took, in expectation. 128 bits hold 2³² times what all of mainnet took so far; a sum
// beyond that stays at the greatest.
type work struct{ hi, lo uint64 }

// workOf is the work of one header that states a target in its compact form.
func workOf(compact uint32) work {
	n := blockchain.CalcWork(compact)
	if n.BitLen() > 128 {
		return work{^uint64(0), ^uint64(0)}
	}
	var b [16]byte
	n.FillBytes(b[:])
	return work{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

func (w work) add(v work) work {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	hi, carry := bits.Add64(w.hi, v.hi, carry)
	if carry != 0 {
		return work{^uint64(0), ^uint64(0)}
	}
	return work{hi, lo}
}

func (w work) more(v work) bool { return w.hi > v.hi || w.hi == v.hi && w.lo > v.lo }
