package pending

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Template is the next blocks of a chain whose miners fill blocks by fee rate, as they would be mined now. A miner takes
// the transaction with the highest fee rate, which is that of the package of the transaction and its ancestors that are
// not in a block yet. The zero value has no blocks.
type Template struct {
	Blocks []ProjectedBlock // at most [TemplateBlocks]
	Rest   ProjectedBlock   // the transactions after these blocks, without rates
	known  map[*Tx]*member
}

// ProjectedBlock is the transactions of a block. Fee rates are those of packages, per virtual byte, in the chain's
// smallest unit.
type ProjectedBlock struct {
	Count   int
	VSize   uint64
	Fees    uint64
	Highest float64
	Median  float64 // of half of its bytes
	Lowest  float64
}

const (
	// TemplateBlocks is the maximum number of projected blocks.
	TemplateBlocks = 8

	coinbaseVSize = 1000 // virtual bytes of a block that a miner reserves
	mostSkipped   = 100  // packages that do not fit before a block is full
	templateEvery = 2 * time.Second
	templateShare = 20 // a template is made again after this multiple of the time that it took
)

// mostVisits is the maximum number of ancestors and descendants that a template visits. Nodes accept 25 of a transaction.
var mostVisits = 1_000_000

// Place returns the projected block of a transaction, from 0, and the fee rate of its package. ok is false if none of
// the blocks has it.
func (t *Template) Place(tx *Tx) (block int, rate float64, ok bool) {
	n := t.known[tx]
	if n == nil || n.block == nowhere {
		return 0, 0, false
	}
	return int(n.block), n.placedRate, true
}

// Txs returns the transactions of a projected block, from 0, in the order of arrival.
func (t *Template) Txs(block int) (list []*Tx) {
	for tx, n := range t.known {
		if int(n.block) == block {
			list = append(list, tx)
		}
	}
	slices.SortFunc(list, func(a, b *Tx) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return list
}

// templates keeps the newest template.
type templates struct {
	last   atomic.Pointer[madeTemplate]
	making sync.Mutex
}

type madeTemplate struct {
	of   *Overlay
	at   time.Time // of its end
	took time.Duration
	Template
}

// Template returns the projected blocks of a chain with [model.Traits.BlockVSize]. They are at most two seconds old, or
// a multiple of the time that it takes to make them. The caller must not change them.
func (f *Follower) Template() *Template {
	if f.Traits.BlockVSize == 0 {
		return &Template{}
	}
	o := f.Standing().Overlay
	last := f.templates.last.Load()
	if last != nil && (last.of == o || time.Since(last.at) < max(templateEvery, templateShare*last.took)) {
		return &last.Template
	}
	if !f.templates.making.TryLock() {
		if last != nil {
			return &last.Template
		}
		f.templates.making.Lock()
	}
	defer f.templates.making.Unlock()
	if newer := f.templates.last.Load(); newer != nil && newer != last {
		return &newer.Template
	}
	began := time.Now()
	made := &madeTemplate{of: o, Template: *o.template(f.Traits.BlockVSize)}
	made.at = time.Now()
	made.took = made.at.Sub(began)
	f.templates.last.Store(made)
	return &made.Template
}

// member is a transaction that a template has read.
type member struct {
	tx       *Tx
	vsize    uint64    // of the transaction and its ancestors that are not placed
	fee      uint64    // likewise
	children []*member // that spend its outputs; repeated if they spend several

	block      int32   // nowhere: it is not placed
	placedRate float64 // of the package that it was placed with
	skipped    bool    // its package does not fit into the block
	parents    bool    // it has unconfirmed parents
	few        bool    // vsize and fee lack ancestors
	round      uint32  // of the walk that visited it last
}

// nowhere is the block of a transaction that is not placed.
const nowhere = -1

func (n *member) rate() float64 { return float64(n.fee) / float64(max(1, n.vsize)) }

// candidate is a transaction with the fee rate of its package. It is outdated after a part of the package was placed.
type candidate struct {
	*member
	at float64
}

// candidates is a heap: highest rate first, those of one rate in the order of arrival.
type candidates []candidate

func (c candidates) less(i, j int) bool {
	return c[i].at > c[j].at || c[i].at == c[j].at && c[i].tx.Arrival < c[j].tx.Arrival
}

func (c *candidates) push(n *member) {
	h := append(*c, candidate{n, n.rate()})
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	*c = h
}

func (c *candidates) pop() candidate {
	h := *c
	first, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		next := 2*i + 1
		if next >= n {
			break
		}
		if next+1 < n && h.less(next+1, next) {
			next++
		}
		if !h.less(next, i) {
			break
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
	*c = h
	return first
}

// templating makes a template.
type templating struct {
	*Overlay
	Template
	size    uint64 // of a block
	open    candidates
	skipped []*member
	sizes   []packageSize
	block   ProjectedBlock
	visits  int
	round   uint32
	fresh   []member // not used yet
	stack   []*member

	uncounted []*member // skipped: they and their ancestors, which are not counted, do not fit into a block
}

type packageSize struct {
	vsize uint64
	rate  float64
}

// template returns the projected blocks of a maximum size.
//
// A package has a transaction whose own rate is at least that of the package. So the transactions are read by their own
// rates, each with its descendants, and a package is taken when no transaction that was not read has a higher rate. If
// the mempool has chains so long that the work exceeds its limit, the template ends early.
func (o *Overlay) template(size int) *Template {
	s := &templating{Overlay: o, size: uint64(max(0, size-coinbaseVSize))}
	s.known = make(map[*Tx]*member, min(o.Count(), TemplateBlocks*int(s.size)/usualVSize))
	for t := range o.ByRate(nil) {
		for len(s.open) > 0 && s.open[0].at >= t.Rate() {
			if !s.takeBest() {
				return s.end()
			}
		}
		if s.known[t] != nil {
			continue
		}
		n := s.learn(t)
		if s.visits > mostVisits {
			return s.end()
		}
		switch { // most transactions have no unconfirmed relatives, and are next
		case n.parents || len(n.children) > 0:
			s.open.push(n)
		case !s.consider(n):
			return s.end()
		}
	}
	for {
		if len(s.open) > 0 {
			if !s.takeBest() {
				break
			}
		} else if len(s.skipped) == 0 && (len(s.uncounted) == 0 || s.block.Count == 0) || !s.close() {
			break
		}
	}
	return s.end()
}

const (
	usualVSize = 250 // of a transaction
	chunk      = 512 // members that are allocated together
)

// add returns the member of a transaction that is not known.
func (s *templating) add(t *Tx) *member {
	if len(s.fresh) == 0 {
		s.fresh = make([]member, chunk)
	}
	n := &s.fresh[0]
	s.fresh = s.fresh[1:]
	a := s.Ancestors(t)
	*n = member{tx: t, vsize: a.VSize, fee: a.Fee, block: nowhere, parents: a.Count > 1, few: a.Few}
	s.known[t] = n
	return n
}

// learn adds a transaction that is not known, and its descendants, which become candidates.
func (s *templating) learn(t *Tx) *member {
	n := s.add(t)
	for stack := append(s.stack[:0], n); len(stack) > 0; s.stack = stack {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for in := range s.Spenders(top.tx.ID) {
			s.visits++
			child := s.known[in.Tx]
			if child == nil {
				child = s.add(in.Tx)
				s.open.push(child)
				stack = append(stack, child)
			}
			top.children = append(top.children, child)
		}
	}
	return n
}

// takeBest takes the best candidate. It returns false if the template is complete.
func (s *templating) takeBest() bool {
	c := s.open.pop()
	if c.block != nowhere || c.skipped || c.rate() != c.at { // a newer candidate has the present rate
		return true
	}
	return s.consider(c.member)
}

// consider takes a package if it fits. It returns false if the template is complete.
func (s *templating) consider(n *member) bool {
	switch {
	case n.few:
		s.count(n)
		return s.visits <= mostVisits
	case n.vsize > s.size: // no block has it
		return true
	case s.block.VSize+n.vsize > s.size:
		n.skipped = true
		s.skipped = append(s.skipped, n)
		return len(s.skipped) < mostSkipped || s.close()
	}
	s.take(n)
	return s.visits <= mostVisits
}

// count counts a transaction and its ancestors that are not placed, if they fit into a block. It is then a candidate.
// Otherwise it waits for the next block.
func (s *templating) count(n *member) {
	s.round++
	n.round = s.round
	var all Ancestors
	for stack := []*member{n}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if all.add(only(top.tx)); all.VSize > s.size {
			n.skipped = true
			s.uncounted = append(s.uncounted, n)
			return
		}
		for i := range top.tx.inputs {
			s.visits++
			t := s.Tx(top.tx.inputs[i].Outpoint.Tx)
			if t == nil {
				continue
			}
			parent := s.known[t]
			if parent == nil {
				parent = s.learn(t)
			}
			if parent.block == nowhere && parent.round != s.round {
				parent.round = s.round
				stack = append(stack, parent)
			}
		}
	}
	n.vsize, n.fee, n.few = all.VSize, all.Fee, false
	s.open.push(n)
}

// take adds the package of a transaction to the block.
func (s *templating) take(n *member) {
	rate, b := n.rate(), &s.block
	if b.Count == 0 {
		b.Highest, b.Lowest = rate, rate
	}
	b.Highest, b.Lowest = max(b.Highest, rate), min(b.Lowest, rate)
	b.VSize, b.Fees = b.VSize+n.vsize, b.Fees+n.fee
	s.sizes = append(s.sizes, packageSize{n.vsize, rate})
	place := func(n *member) { n.block, n.placedRate = int32(len(s.Blocks)), rate }
	place(n)
	for wait := []*member{n}; len(wait) > 0; {
		top := wait[len(wait)-1]
		wait = wait[:len(wait)-1]
		b.Count++
		s.lighten(top)
		if !top.parents {
			continue
		}
		for i := range top.tx.inputs {
			s.visits++
			t := s.Tx(top.tx.inputs[i].Outpoint.Tx)
			if t == nil {
				continue
			}
			parent := s.known[t]
			if parent == nil {
				parent = s.learn(t) // so that all descendants of placed transactions are known
			}
			if parent.block == nowhere {
				place(parent)
				wait = append(wait, parent)
			}
		}
	}
}

// lighten removes a placed transaction from the packages of its descendants.
func (s *templating) lighten(n *member) {
	s.round++
	for stack := append(s.stack[:0], n); len(stack) > 0; s.stack = stack {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, child := range top.children {
			if s.visits++; child.round == s.round {
				continue
			}
			child.round = s.round
			stack = append(stack, child)
			if child.block == nowhere && !child.few {
				child.vsize, child.fee = child.vsize-uint64(n.tx.VSize), child.fee-n.tx.Fee
				s.open.push(child)
			}
		}
	}
}

// close ends a block. It returns false if the template is complete.
func (s *templating) close() bool {
	if s.block.Count > 0 {
		slices.SortStableFunc(s.sizes, func(a, b packageSize) int { return cmp.Compare(b.rate, a.rate) })
		half := s.block.VSize / 2
		for _, p := range s.sizes {
			if s.block.Median = p.rate; half <= p.vsize {
				break
			}
			half -= p.vsize
		}
		s.Blocks = append(s.Blocks, s.block)
	}
	s.block, s.sizes = ProjectedBlock{}, s.sizes[:0]
	for _, list := range []*[]*member{&s.skipped, &s.uncounted} {
		for _, n := range *list {
			if n.skipped = false; n.block == nowhere {
				s.open.push(n)
			}
		}
		*list = (*list)[:0]
	}
	return len(s.Blocks) < TemplateBlocks
}

// end returns the template.
func (s *templating) end() *Template {
	if len(s.Blocks) < TemplateBlocks {
		s.close()
	}
	i := s.Info()
	s.Rest = ProjectedBlock{Count: i.Count, VSize: i.VSize, Fees: i.Fees}
	for _, b := range s.Blocks {
		s.Rest.Count, s.Rest.VSize, s.Rest.Fees = s.Rest.Count-b.Count, s.Rest.VSize-b.VSize, s.Rest.Fees-b.Fees
	}
	return &s.Template
}
