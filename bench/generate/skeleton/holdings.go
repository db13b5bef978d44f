package skeleton

import (
	"slices"

	"birthmark/bench/generate/distribution"
)

// Holding is an amount of an asset; K identifies assets.
type Holding[K comparable] struct {
	Asset  K
	Amount uint64
}

// Holdings are the assets of an output or of a transaction's inputs.
type Holdings[K comparable] []Holding[K]

// Index returns the position of an asset, -1 if it is absent.
func (h Holdings[K]) Index(asset K) int {
	return slices.IndexFunc(h, func(has Holding[K]) bool { return has.Asset == asset })
}

// Give adds amounts.
func (h *Holdings[K]) Give(some ...Holding[K]) {
	for _, given := range some {
		if i := h.Index(given.Asset); i >= 0 {
			(*h)[i].Amount += given.Amount
		} else {
			*h = append(*h, given)
		}
	}
}

// Take removes an amount, which is at most the amount there, from the holding at a position.
func (h *Holdings[K]) Take(i int, amount uint64) {
	s := *h
	if s[i].Amount -= amount; s[i].Amount == 0 {
		s[i] = s[len(s)-1]
		*h = s[:len(s)-1]
	}
}

// Merge sorts the holdings of several outputs and adds those of the same asset.
func (h *Holdings[K]) Merge(compare func(a, b Holding[K]) int) {
	slices.SortFunc(*h, compare)
	sums := (*h)[:0]
	for _, next := range *h {
		if n := len(sums); n > 0 && sums[n-1].Asset == next.Asset {
			sums[n-1].Amount += next.Amount
		} else {
			sums = append(sums, next)
		}
	}
	*h = sums
}

// Parts are the shares by which [Holdings.Part] draws.
type Parts[K comparable] struct {
	Counts distribution.Spans // assets of a part
	Hot    K                  // the asset that the most outputs hold
	First  float64            // parts that begin with the hot asset
	Split  float64            // assets of a part of which only some of the amount is given
}

// Part moves some holdings to an output.
func (h *Holdings[K]) Part(r distribution.Random, p Parts[K], to *Holdings[K]) {
	for i := range p.Counts.Draw(r) {
		if len(*h) == 0 {
			return
		}
		at := r.IntN(len(*h))
		if i == 0 && r.Chance(p.First) {
			if hot := h.Index(p.Hot); hot >= 0 {
				at = hot
			}
		}
		given := (*h)[at]
		if given.Amount > 1 && r.Chance(p.Split) {
			given.Amount = r.Share(given.Amount)
		}
		h.Take(at, given.Amount)
		to.Give(given)
	}
}
