package ergogen

import (
	"bytes"
	"slices"

	"birthmark/bench/generate/skeleton"
	"birthmark/chains/ergo/sigma"
)

// gather puts the inputs' tokens into the bag, each token once.
func (c *Chain) gather() {
	for i := range c.spent {
		c.bag = append(c.bag, c.spent[i].tokens...)
	}
	c.bag.Merge(func(a, b held) int { return bytes.Compare(a.Asset[:], b.Asset[:]) })
}

// burn burns some of the inputs' tokens, each in part or completely: more if boxes hold too many.
func (c *Chain) burn() {
	n := 0
	switch many := c.entries > 1.1*entriesPerBox; {
	case many && c.rng.Chance(relieveShare):
		n = 1 + c.rng.IntN(10)
	case c.rng.Chance(burnShare):
		n = 1
	}
	for range min(n, len(c.bag)) {
		i := c.rng.IntN(len(c.bag))
		c.counts.Burns++
		if c.bag[i].Amount > 1 && c.rng.Chance(0.3) {
			c.bag[i].Amount -= c.rng.Share(c.bag[i].Amount)
			c.payments[0].tokens.Give(c.bag[i]) // the rest goes to a box, so that no more of it is burned here
		}
		c.bag.Take(i, c.bag[i].Amount)
	}
}

// minted is a token that a transaction mints.
type minted struct {
	id     sigma.ID
	amount uint64 // 0: none
	spread bool   // over all its boxes
	whole  bool   // indivisible
}

// mint decides whether the transaction mints a token: more often if boxes hold too few. Its id is that of the first
// input.
func (c *Chain) mint(full bool) (m minted) {
	few, many := c.entries < 0.9*entriesPerBox, c.entries > 1.1*entriesPerBox
	first := c.hot == sigma.ID{}
	switch {
	case first, full:
	case few && c.rng.Chance(endowShare):
	case !many && c.rng.Chance(mintShare):
	default:
		return m
	}
	m.id = c.spent[0].id
	switch {
	case first:
		m.amount, c.hot = 1<<50, m.id
	case full:
		m.amount = 1 << 40
	case c.rng.Chance(0.3):
		m.amount, m.whole = 1, true
	default:
		m.amount = 1 + c.rng.Uint64N(1<<(10+c.rng.IntN(40)))
	}
	m.spread = m.amount > uint64(len(c.payments)) && c.rng.Chance(spreadShare)
	c.counts.Mints++
	return m
}

// deal distributes the bag to the boxes: parts to some, the rest to the last; and the minted token.
func (c *Chain) deal(m minted, full bool) {
	boxes := c.payments
	last := len(boxes) - 1
	if m.amount > 0 {
		left := m.amount
		for i := range boxes[:last] {
			if m.spread && left > 1 {
				part := c.rng.Share((left + 1) / 2)
				boxes[i].tokens.Give(held{Asset: m.id, Amount: part})
				left -= part
			}
		}
		at := last
		if !m.spread && !full {
			at = c.rng.IntN(len(boxes))
		}
		boxes[at].tokens.Give(held{Asset: m.id, Amount: left})
	}
	parts := skeleton.Parts[sigma.ID]{Counts: partCounts, Hot: c.hot, First: hotPart, Split: splitEntry}
	for i := range boxes[:last] {
		if len(c.bag) > 0 && c.rng.Chance(sharedBag) {
			c.bag.Part(c.rng, parts, &boxes[i].tokens)
		}
	}
	for _, h := range c.bag {
		i := last
		if c.rng.Chance(strayShare) {
			i = c.rng.IntN(len(boxes))
		}
		if len(boxes[i].tokens) >= mostEntries/2 {
			i = slices.IndexFunc(boxes, func(p payment) bool { return len(p.tokens) < mostEntries/2 })
		}
		if i < 0 { // no box has room; this may drop a part of it
			c.counts.Burns++
			continue
		}
		boxes[i].tokens.Give(h)
	}
}

// repeat makes some boxes hold a token twice, and fills the last to the maximum number of entries if required.
func (c *Chain) repeat(full bool) {
	for i := range c.payments {
		p := &c.payments[i]
		more := 0
		if len(p.tokens) > 0 && c.rng.Chance(twiceShare) {
			more = 1
		}
		if full && i == len(c.payments)-1 {
			more = mostEntries - len(p.tokens)
		}
		for range more {
			at := c.rng.IntN(len(p.tokens))
			if full {
				at = slices.IndexFunc(p.tokens, func(h held) bool { return h.Amount > 1 })
			}
			if at < 0 || p.tokens[at].Amount < 2 {
				break
			}
			half := c.rng.Share(p.tokens[at].Amount)
			if full {
				half = min(half, 1000)
			}
			p.tokens[at].Amount -= half
			p.tokens = append(p.tokens, held{Asset: p.tokens[at].Asset, Amount: half})
		}
	}
}
