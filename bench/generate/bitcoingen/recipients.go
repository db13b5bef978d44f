package bitcoingen

import (
	"math"

	"birthmark/bench/generate/distribution"
)

// HotAddress is the number of the address that more outputs pay than any other.
const HotAddress = 0

// Recipients picks to whom outputs go. An address is a number: the hot one's is 0, those of the most used
// follow, and any other's is how many there were before it. [NewRecipients] makes one.
type Recipients struct {
	head   *distribution.Table
	births uint64
	before []uint64 // by block: births when it began
}

// NewRecipients is before the first block, which [Recipients.Begin] begins.
func NewRecipients() *Recipients {
	w := make([]float64, headSize)
	for rank := range w {
		w[rank] = math.Pow(float64(rank+1), -headExponent)
	}
	return &Recipients{head: distribution.NewTable(w...), births: headSize + 1}
}

// Begin begins a block.
func (a *Recipients) Begin() { a.before = append(a.before, a.births) }

// Births is how many addresses there are: the next new one's number.
func (a *Recipients) Births() uint64 { return a.births }

// Draw is the address of an output of the block under way. Not ok where it pays nobody, as a share of outputs, at most
// 0.39, does that carries data instead: these take the place of outputs to addresses used before, as most on mainnet
// repeat a script.
func (a *Recipients) Draw(r distribution.Random, data float64) (address uint64, ok bool) {
	u := r.Float64()
	switch {
	case u < hotOutputs:
		return HotAddress, true
	case u < hotOutputs+headOutputs:
		return 1 + uint64(a.head.Draw(r)), true
	case u < hotOutputs+headOutputs+freshOutputs:
		return a.fresh(), true
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
		return a.fresh(), true
	}
	return first + r.Uint64N(after-first), true
}

// fresh is an address never used before.
func (a *Recipients) fresh() uint64 {
	a.births++
	return a.births - 1
}
