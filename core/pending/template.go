package pending

import (
	"container/heap"
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
	placed map[*Tx]placed
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

// placed is the place of a transaction in a template.
type placed struct {
	block int
	rate  float64 // of its package
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
	p, ok := t.placed[tx]
	return p.block, p.rate, ok
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

// candidate is a transaction with the fee rate of its package. It is outdated after a part of the package was placed.
type candidate struct {
	tx   *Tx
	rate float64
}

// candidates is a heap: highest rate first, those of one rate in the order of arrival.
type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return c[i].rate > c[j].rate || c[i].rate == c[j].rate && c[i].tx.Arrival < c[j].tx.Arrival
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// templating makes a template.
type templating struct {
	*Overlay
	Template
	size    uint64 // of a block
	known   map[*Tx]totals
	open    candidates
	skipped map[*Tx]bool // their packages do not fit into the block
	sizes   []packageSize
	block   ProjectedBlock
	visits  int
}

// totals are those of a transaction and its ancestors that are not placed.
type totals struct{ vsize, fee uint64 }

func (t totals) rate() float64 { return float64(t.fee) / float64(max(1, t.vsize)) }

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
	s := &templating{Overlay: o, size: uint64(max(0, size-coinbaseVSize)), known: map[*Tx]totals{}, skipped: map[*Tx]bool{}}
	s.placed = map[*Tx]placed{}
	for t := range o.ByRate(nil) {
		for len(s.open) > 0 && s.open[0].rate >= t.Rate() {
			if !s.takeBest() {
				return s.end()
			}
		}
		if s.learn(t); s.visits > mostVisits {
			return s.end()
		}
	}
	for {
		if len(s.open) > 0 {
			if !s.takeBest() {
				break
			}
		} else if len(s.skipped) == 0 || !s.close() {
			break
		}
	}
	return s.end()
}

// learn adds a transaction and its descendants as candidates.
func (s *templating) learn(t *Tx) {
	if _, ok := s.known[t]; ok {
		return
	}
	add := func(t *Tx) {
		a := s.Ancestors(t)
		s.known[t] = totals{a.VSize, a.Fee}
		s.push(t)
	}
	add(t)
	for stack := []*Tx{t}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for in := range s.Spenders(top.ID) {
			s.visits++
			if _, ok := s.known[in.Tx]; !ok {
				add(in.Tx)
				stack = append(stack, in.Tx)
			}
		}
	}
}

func (s *templating) push(t *Tx) { heap.Push(&s.open, candidate{t, s.known[t].rate()}) }

// takeBest takes the best candidate. It returns false if the template is complete.
func (s *templating) takeBest() bool {
	c := heap.Pop(&s.open).(candidate)
	rest := s.known[c.tx]
	_, done := s.placed[c.tx]
	switch {
	case done || s.skipped[c.tx] || rest.rate() != c.rate: // a newer candidate has the present rate
		return true
	case rest.vsize > s.size: // no block has it
		return true
	case s.block.VSize+rest.vsize > s.size:
		s.skipped[c.tx] = true
		return len(s.skipped) < mostSkipped || s.close()
	}
	s.take(c.tx, rest)
	return s.visits <= mostVisits
}

// take adds the package of a transaction to the block.
func (s *templating) take(t *Tx, all totals) {
	rate, b := all.rate(), &s.block
	if b.Count == 0 {
		b.Highest, b.Lowest = rate, rate
	}
	b.Highest, b.Lowest = max(b.Highest, rate), min(b.Lowest, rate)
	b.VSize, b.Fees = b.VSize+all.vsize, b.Fees+all.fee
	s.sizes = append(s.sizes, packageSize{all.vsize, rate})
	s.placed[t] = placed{len(s.Blocks), rate}
	for stack := []*Tx{t}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		b.Count++
		s.lighten(top)
		if s.Ancestors(top).Count == 1 {
			continue
		}
		for i := range top.inputs {
			s.visits++
			parent := s.Tx(top.inputs[i].Outpoint.Tx)
			if _, done := s.placed[parent]; parent != nil && !done {
				s.learn(parent) // so that all descendants of placed transactions are known
				s.placed[parent] = placed{len(s.Blocks), rate}
				stack = append(stack, parent)
			}
		}
	}
}

// lighten removes a placed transaction from the packages of its descendants.
func (s *templating) lighten(t *Tx) {
	var seen map[*Tx]bool
	for stack := []*Tx{t}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for in := range s.Spenders(top.ID) {
			if s.visits++; seen[in.Tx] {
				continue
			}
			if seen == nil {
				seen = map[*Tx]bool{}
			}
			seen[in.Tx] = true
			stack = append(stack, in.Tx)
			if _, done := s.placed[in.Tx]; done {
				continue
			}
			rest := s.known[in.Tx]
			rest.vsize, rest.fee = rest.vsize-uint64(t.VSize), rest.fee-t.Fee
			s.known[in.Tx] = rest
			s.push(in.Tx)
		}
	}
}

// close ends a block. It returns false if the template is complete.
func (s *templating) close() bool {
	if s.block.Count > 0 {
		slices.SortStableFunc(s.sizes, func(a, b packageSize) int {
			switch {
			case a.rate > b.rate:
				return -1
			case a.rate < b.rate:
				return 1
			}
			return 0
		})
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
	for t := range s.skipped {
		if _, done := s.placed[t]; !done {
			s.push(t)
		}
	}
	clear(s.skipped)
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
