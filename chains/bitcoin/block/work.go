package block

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/btcsuite/btcd/blockchain"
)

// Work is the expected number of hashes that a header or a chain took. 128 bits hold 2³² times the work of mainnet in
// 2025; sums saturate.
type Work struct{ Hi, Lo uint64 }

var maxWork = Work{^uint64(0), ^uint64(0)}

// WorkOf returns the work of one header: 2²⁵⁶ / (target + 1). The target is in compact form; a negative or zero target
// has no work.
func WorkOf(compact uint32) Work {
	n := blockchain.CalcWork(compact)
	if n.BitLen() > 128 {
		return maxWork
	}
	var b [16]byte
	n.FillBytes(b[:])
	return Work{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

// Add returns the sum of w and v.
func (w Work) Add(v Work) Work {
	lo, carry := bits.Add64(w.Lo, v.Lo, 0)
	hi, carry := bits.Add64(w.Hi, v.Hi, carry)
	if carry != 0 {
		return maxWork
	}
	return Work{hi, lo}
}

// Minus returns the difference between w and v, which is not more than w.
func (w Work) Minus(v Work) *big.Int {
	lo, borrow := bits.Sub64(w.Lo, v.Lo, 0)
	hi, _ := bits.Sub64(w.Hi, v.Hi, borrow)
	n := new(big.Int).SetUint64(hi)
	return n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(lo))
}

// More reports whether w is more than v.
func (w Work) More(v Work) bool { return w.Hi > v.Hi || w.Hi == v.Hi && w.Lo > v.Lo }
