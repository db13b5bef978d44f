package bitcoingen

import (
	"math"

	"birthmark/bench/generate/distribution"
)

// HotAddress is the number of the most used address.
const HotAddress = 0

// Recipients chooses the addresses of outputs. An address is a number: the hot one is 0, the most used ones follow, and
// any other is the number of addresses before it. [NewRecipients] makes one.
type Recipients struct {
	head   *distribution.Table
	births uint64
	before []uint64 // by block: births before it

	hot, fresh float64 // shares of outputs
}

// NewRecipients returns the state before the first block, which [Recipients.Begin] begins.
func NewRecipients() *Recipients {
	w := make([]float64, headSize)
	for rank := range w {
		w[rank] = math.Pow(float64(rank+1), -headExponent)
	}
	return &Recipients{head: distribution.NewTable(w...), births: headSize + 1, hot: hotOutputs, fresh: freshOutputs}
}

// Begin begins a block.
func (a *Recipients) Begin() { a.before = append(a.before, a.births) }

// Births is the number of addresses so far: the number of the next new one.
func (a *Recipients) Births() uint64 { return a.births }

// Draw returns the address of an output of the current block. ok is false for outputs that carry data, at most a share
// of 0.39: they replace outputs to ordinary used addresses, since most data scripts on mainnet repeat.
func (a *Recipients) Draw(r distribution.Random, data float64) (address uint64, ok bool) {
	u := r.Float64()
	switch {
	case u < a.hot:
		return HotAddress, true
	case u < a.hot+headOutputs:
		return 1 + uint64(a.head.Draw(r)), true
	case u < a.hot+headOutputs+a.fresh:
		return a.born(), true
	case u >= 1-data:
		return 0, false
	}
	h := len(a.before) - 1
	first, after := a.before[h], a.births
	if !r.Chance(reuseInBlock) && h > 0 {
		back := age(r)
		if back > h {
			back = 1 + r.IntN(h)
		}
		first, after = a.before[h-back], a.before[h-back+1]
	}
	if first == after {
		return a.born(), true
	}
	return first + r.Uint64N(after-first), true
}

func (a *Recipients) born() uint64 {
	a.births++
	return a.births - 1
}
