package cache

import (
	"cmp"
	"math/bits"
	"slices"

	"birthmark/core/cache/run"
	"birthmark/model"
)

// Lookups are the lookups of one batch of blocks, divided by shard. Each goroutine fills other chunks. The chunks, and
// the lookups in each, are in the order of the chain.
type Lookups struct {
	Chunks []Chunk

	// Births has one entry per occurrence of a value or asset: the occurrence, which [Caches.Births] replaces by the
	// birth of the value.
	Births []model.BirthPk
	// Outputs has one entry per output, and Spent one per input, which [Caches.Outputs] fills.
	Outputs, Spent []Output
	// OutputOwners and SpentOwners have [Caches.Words] owners per entry of Outputs and Spent.
	OutputOwners, SpentOwners []Owner
}

// Output is an output in the table of unspent outputs. The pointer of a spent output that is not found is [NotFound].
type Output struct {
	Utxo  model.UtxoPk
	Value uint64
}

// NotFound is the pointer of an output that is not found.
const NotFound = ^model.UtxoPk(0)

// Chunk is a part of the lookups of a batch.
type Chunk struct {
	births  [][]birthLookup // by shard
	outputs [][]outputLookup
}

// birthLookup is the occurrence Lookups.Births[at]. once: a value occurs once.
type birthLookup struct {
	key  Fingerprint
	at   int32
	once bool
}

// outputLookup is the output Lookups.Outputs[at], or the input Lookups.Spent[at].
type outputLookup struct {
	key   Fingerprint
	at    int32
	spend bool
}

// Prepare returns lookups of the given numbers of chunks, births, outputs and inputs. The next call reuses their
// memory, except that of Births and Spent.
func (c *Caches) Prepare(chunks, births, outputs, inputs int) *Lookups {
	l, words := &c.lookups, len(c.owners)
	for len(l.Chunks) < chunks {
		l.Chunks = append(l.Chunks, Chunk{make([][]birthLookup, len(c.shards)), make([][]outputLookup, len(c.shards))})
	}
	l.Chunks = l.Chunks[:chunks]
	for i := range l.Chunks {
		of := &l.Chunks[i]
		for s := range c.shards {
			of.births[s], of.outputs[s] = of.births[s][:0], of.outputs[s][:0]
		}
	}
	l.Births, l.Spent = make([]model.BirthPk, births), make([]Output, inputs)
	l.Outputs = slices.Grow(l.Outputs[:0], outputs)[:outputs]
	l.OutputOwners = slices.Grow(l.OutputOwners[:0], outputs*words)[:outputs*words]
	l.SpentOwners = slices.Grow(l.SpentOwners[:0], inputs*words)[:inputs*words]
	clear(l.SpentOwners)
	return l
}

// AddBirth adds an occurrence of a value: entry at of Lookups.Births. once means that each value occurs once.
func (c *Caches) AddBirth(to *Chunk, key Fingerprint, at int, once bool) {
	s := &to.births[c.shardNumber(key)]
	*s = append(*s, birthLookup{key, int32(at), once})
}

// AddOutput adds an output: entry at of Lookups.Outputs.
func (c *Caches) AddOutput(to *Chunk, key Fingerprint, at int) {
	s := &to.outputs[c.shardNumber(key)]
	*s = append(*s, outputLookup{key, int32(at), false})
}

// AddSpend adds an input: entry at of Lookups.Spent.
func (c *Caches) AddSpend(to *Chunk, key Fingerprint, at int) {
	s := &to.outputs[c.shardNumber(key)]
	*s = append(*s, outputLookup{key, int32(at), true})
}

// Pending is an occurrence of a value that must be looked up in the database.
type Pending struct {
	Key Fingerprint
	At  int // in Lookups.Births
}

// Duplicate is the second occurrence of a value that may occur only once.
type Duplicate struct {
	At    int           // in Lookups.Births
	Birth model.BirthPk // the first occurrence
}

// Births finds the births of the values of a batch and adds new values. It returns the occurrences that must be looked
// up, in the order of the batch, and the first duplicate, if any.
func (c *Caches) Births(l *Lookups) (pending []Pending, duplicate *Duplicate) {
	c.each(func(s *shard) { s.resolveBirths(l) })
	lookups, hits, filtered, isNew := 0, 0, 0, 0
	for i := range c.shards {
		r := &c.shards[i].result
		lookups, hits, filtered, isNew = lookups+r.lookups, hits+r.hits, filtered+r.filtered, isNew+r.isNew
		pending = append(pending, r.pending...)
		if r.duplicate != nil && (duplicate == nil || r.duplicate.At < duplicate.At) {
			duplicate = r.duplicate
		}
	}
	c.Counters.Values.Add(lookups, hits)
	c.Counters.Filter.Add(filtered, isNew)
	slices.SortFunc(pending, func(a, b Pending) int { return cmp.Compare(a.At, b.At) })
	c.checkRuns()
	return pending, duplicate
}

// Outputs finds the outputs that the inputs of a batch spend, and adds its outputs. It returns the inputs that must be
// looked up in the database, in the order of the batch.
func (c *Caches) Outputs(l *Lookups) (missed []int32) {
	c.each(func(s *shard) { s.resolveOutputs(l) })
	for i := range c.shards {
		missed = append(missed, c.shards[i].missed...)
	}
	slices.Sort(missed)
	c.Counters.Outputs.Add(len(l.Spent), len(l.Spent)-len(missed))
	c.checkRuns()
	c.spill()
	return missed
}

// ahead is the number of lookups whose table entries are loaded from memory at once: the processor does not wait for
// them one by one.
const ahead = 256

// shardResult is the result of the lookups of a batch in one shard.
type shardResult struct {
	lookups, hits   int // in the table of births
	filtered, isNew int // values that missed it; values of them that are certainly new
	pending         []Pending
	duplicate       *Duplicate
}

// missing is a lookup that missed the table and is searched in overflow runs.
type missing struct {
	key  Fingerprint
	tag  uint64
	at   int32
	once bool // of a birth: the value occurs once
}

func (s *shard) resolveBirths(l *Lookups) {
	r := &s.result
	*r = shardResult{pending: r.pending[:0]}
	s.missing = s.missing[:0]
	for i := range l.Chunks {
		for all := l.Chunks[i].births[s.number]; len(all) > 0; {
			part := all[:min(ahead, len(all))]
			all = all[len(part):]
			for j := range part {
				s.touched += s.births.touch(part[j].key)
			}
			if s.c.births == birthsFiltered {
				for j := range part {
					s.touched += s.filter.touch(bits.RotateLeft64(part[j].key.a, s.births.rotation))
				}
			}
			for j := range part {
				s.resolveBirth(l, &part[j])
			}
		}
	}
	if len(s.missing) > 0 {
		s.searchBirths(l)
	}
}

// resolveBirth finds the birth of a value in the table, or adds it if it is certainly new.
func (s *shard) resolveBirth(l *Lookups, b *birthLookup) {
	r, state := &s.result, s.c.births
	if !b.once || state == birthsComplete {
		r.lookups++
		if pk, ordinal, ok := s.births.get(b.key); ok {
			r.hits++
			birth := model.BirthPk{Utxo: model.UtxoPk(pk), Ordinal: uint16(ordinal)}
			if b.once {
				s.duplicate(b.at, birth)
			}
			l.Births[b.at] = birth
			return
		}
	}
	r.filtered++
	switch tag, _ := s.births.key(b.key); {
	case state == birthsComplete && len(s.birthRuns) > 0:
		s.missing = append(s.missing, missing{b.key, tag, b.at, b.once})
		return
	case state == birthsComplete:
	case state == birthsUnknown || s.filter.has(tag):
		r.pending = append(r.pending, Pending{b.key, int(b.at)})
		return
	default:
		s.full = !s.filter.add(tag) || s.full
	}
	r.isNew++
	if !b.once || state == birthsComplete {
		s.putBirth(b.key, l.Births[b.at])
	}
}

func (s *shard) duplicate(at int32, birth model.BirthPk) {
	if d := s.result.duplicate; d == nil || int(at) < d.At {
		s.result.duplicate = &Duplicate{int(at), birth}
	}
}

// putBirth stores the birth of a value.
func (s *shard) putBirth(key Fingerprint, birth model.BirthPk) {
	if uint64(birth.Utxo) >= s.spilled {
		s.unspilled++
	}
	s.births.put(key, uint64(birth.Utxo), uint64(birth.Ordinal), nil)
}

// search sorts the missing lookups and searches each key once in runs, the newest run first. It calls found for each
// key with all lookups of the key, in the order of the batch, and the run that has it. After an error of a run, q is
// nil for all keys.
func (s *shard) search(t *table, runs []*overflow, found func(same []missing, q *run.Query, in *overflow)) {
	slices.SortFunc(s.missing, func(a, b missing) int {
		return cmp.Or(cmp.Compare(a.tag, b.tag), cmp.Compare(a.key.b, b.key.b), cmp.Compare(a.at, b.at))
	})
	s.queries = s.queries[:0]
	for i := range s.missing {
		m := &s.missing[i]
		if i > 0 && m.key == s.missing[i-1].key {
			continue
		}
		s.queries = append(s.queries, run.Query{Tag: m.tag, Extra: t.runBits(m.key.b >> 1), Index: int32(i)})
	}
	s.in = slices.Grow(s.in[:0], len(s.queries))[:len(s.queries)]
	clear(s.in)
	s.scratch.Reset()
	var err error
	for i := len(runs) - 1; i >= 0 && err == nil; i-- {
		err = runs[i].Lookup(s.queries, &s.scratch)
		runs[i].ReleaseFilter(len(s.queries))
		for j := range s.queries {
			if s.queries[j].Found && s.in[j] == nil {
				s.in[j] = runs[i]
			}
		}
	}
	if err != nil {
		s.fail(err)
	}
	for j := range s.queries {
		q, end := &s.queries[j], len(s.missing)
		if j+1 < len(s.queries) {
			end = int(s.queries[j+1].Index)
		}
		same := s.missing[q.Index:end]
		if err != nil {
			q = nil
		}
		found(same, q, s.in[j])
	}
}

// searchBirths finds the births of the missing values in overflow runs. Values that they lack are new.
func (s *shard) searchBirths(l *Lookups) {
	r := &s.result
	hits := 0
	s.search(s.births, s.birthRuns, func(same []missing, q *run.Query, _ *overflow) {
		first := same[0]
		if q == nil { // all of them are looked up in the database
			for _, m := range same {
				r.pending = append(r.pending, Pending{m.key, int(m.at)})
			}
			return
		}
		birth, later := l.Births[first.at], same[1:]
		if q.Found {
			hits++
			birth, later = s.parseBirth(q), same
		} else {
			r.isNew++
		}
		for _, m := range later {
			if m.once {
				s.duplicate(m.at, birth)
			}
			l.Births[m.at] = birth
		}
		s.putBirth(first.key, birth)
	})
	s.c.Counters.Runs.Add(len(s.queries), hits)
}

func (s *shard) resolveOutputs(l *Lookups) {
	s.missed, s.missing = s.missed[:0], s.missing[:0]
	words := s.unspent.words
	for i := range l.Chunks {
		for all := l.Chunks[i].outputs[s.number]; len(all) > 0; {
			part := all[:min(ahead, len(all))]
			all = all[len(part):]
			for j := range part {
				s.touched += s.unspent.touch(part[j].key)
			}
			for j := range part {
				o := &part[j]
				at := int(o.at)
				if !o.spend {
					out := &l.Outputs[at]
					s.unspent.put(o.key, uint64(out.Utxo), out.Value, uint64s(l.OutputOwners[at*words:(at+1)*words]))
					continue
				}
				pk, value, ok := s.unspent.take(o.key, uint64s(l.SpentOwners[at*words:(at+1)*words]))
				if ok {
					l.Spent[at] = Output{model.UtxoPk(pk), value}
					continue
				}
				l.Spent[at] = Output{Utxo: NotFound}
				if len(s.outputRuns) == 0 {
					s.missed = append(s.missed, o.at)
					continue
				}
				tag, _ := s.unspent.key(o.key)
				s.missing = append(s.missing, missing{key: o.key, tag: tag, at: o.at})
			}
		}
	}
	if len(s.missing) == 0 {
		return
	}
	hits := 0
	s.search(s.unspent, s.outputRuns, func(same []missing, q *run.Query, in *overflow) {
		if q != nil && q.Found {
			hits++
			at := int(same[0].at)
			l.Spent[at] = s.parseOutput(q, uint64s(l.SpentOwners[at*words:(at+1)*words]))
			in.MarkDead(q.Slot)
			same = same[1:] // another input of the batch spends the same output: the caller finds the error
		}
		for _, m := range same {
			s.missed = append(s.missed, m.at)
		}
	})
	s.c.Counters.Runs.Add(len(s.queries), hits)
}
