package ergogen

import (
	"bytes"
	"slices"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/ergo/sigma"
)

// gather puts the inputs' tokens into the bag, each token once.
func (c *Chain) gather() {
	for i := range c.spent {
		c.bag = append(c.bag, c.spent[i].tokens...)
	}
	byID := func(a, b sigma.Token) int { return bytes.Compare(a.ID[:], b.ID[:]) }
	c.bag = distribution.Sum(c.bag, byID, func(h *sigma.Token) *uint64 { return &h.Amount })
}

// drop removes a token from the bag.
func (c *Chain) drop(i int) {
	c.bag[i] = c.bag[len(c.bag)-1]
	c.bag = c.bag[:len(c.bag)-1]
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
			c.payments[0].give(c.bag[i]) // the rest goes to a box, so that no more of it is burned here
		}
		c.drop(i)
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
				boxes[i].give(sigma.Token{ID: m.id, Amount: part})
				left -= part
			}
		}
		at := last
		if !m.spread && !full {
			at = c.rng.IntN(len(boxes))
		}
		boxes[at].give(sigma.Token{ID: m.id, Amount: left})
	}
	for i := range boxes[:last] {
		if len(c.bag) > 0 && c.rng.Chance(sharedBag) {
			c.part(&boxes[i])
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
		boxes[i].give(h)
	}
}

// part gives a box some tokens of the bag.
func (c *Chain) part(to *payment) {
	for i := range partCounts.Draw(c.rng) {
		if len(c.bag) == 0 {
			return
		}
		at := c.rng.IntN(len(c.bag))
		if i == 0 && c.rng.Chance(hotPart) {
			if hot := slices.IndexFunc(c.bag, func(h sigma.Token) bool { return h.ID == c.hot }); hot >= 0 {
				at = hot
			}
		}
		given := c.bag[at]
		if given.Amount > 1 && c.rng.Chance(splitEntry) {
			given.Amount = c.rng.Share(given.Amount)
		}
		to.give(given)
		if c.bag[at].Amount -= given.Amount; c.bag[at].Amount == 0 {
			c.drop(at)
		}
	}
}

// give adds tokens to a box.
func (p *payment) give(h sigma.Token) {
	if i := slices.IndexFunc(p.tokens, func(has sigma.Token) bool { return has.ID == h.ID }); i >= 0 {
		p.tokens[i].Amount += h.Amount
		return
	}
	p.tokens = append(p.tokens, h)
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
				at = slices.IndexFunc(p.tokens, func(h sigma.Token) bool { return h.Amount > 1 })
			}
			if at < 0 || p.tokens[at].Amount < 2 {
				break
			}
			half := c.rng.Share(p.tokens[at].Amount)
			if full {
				half = min(half, 1000)
			}
			p.tokens[at].Amount -= half
			p.tokens = append(p.tokens, sigma.Token{ID: p.tokens[at].ID, Amount: half})
		}
	}
}
