package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"birthmark/core/cache/run"
)

// spill moves entries of full tables to runs. Without a folder for runs, the caches use the filter instead.
//
// Spilling a shard takes up to a second if its runs are merged. The shards fill at the same rate, so that after a first
// sync only few of them spill after a batch, unless more are filled to the brim.
func (c *Caches) spill() {
	if c.runs.folder == "" {
		c.leaveFullBirths()
		return
	}
	var permits atomic.Int64
	permits.Store(int64(runtime.GOMAXPROCS(0)))
	c.each(func(s *shard) {
		if !s.isFull() || c.births != birthsComplete && permits.Add(-1) < 0 && !s.unspent.isBrimming() {
			return
		}
		if err := s.spill(); err != nil {
			s.fail(err)
			return
		}
		s.divide() // maps the filters of merged runs before other shards make theirs
	})
	c.checkRuns()
}

// leaveFullBirths uses the filter for births that no longer fit into their tables.
func (c *Caches) leaveFullBirths() {
	for i := range c.shards {
		if c.births == birthsComplete && c.shards[i].births.isFull() {
			c.leaveBirthRuns()
		}
	}
}

// isFull reports whether the shard has entries to spill.
func (s *shard) isFull() bool { return s.hasFullBirths() || s.unspent.isFull() }

func (s *shard) hasFullBirths() bool {
	return s.c.births == birthsComplete && s.births.isFull() && s.unspilled > s.births.capacity/4
}

// isFull reports whether the table is at its bound and filled so that it spills.
func (t *table) isFull() bool {
	return t.used > t.capacity*spillLoad/16 && len(t.entries) >= t.capacity*15/16
}

// isBrimming reports whether the table will soon grow above its bound, because entries that are spilled are not evicted.
func (t *table) isBrimming() bool { return t.used > t.capacity*brimmingLoad/16 }

func (s *shard) spill() error {
	if s.hasFullBirths() {
		if err := s.spillBirths(); err != nil {
			return err
		}
	}
	if s.unspent.isFull() {
		return s.spillOutputs()
	}
	return nil
}

// spillBirths writes all births of committed batches that are in no run.
func (s *shard) spillBirths() error {
	from, to := s.spilled, uint64(s.c.pinned)
	var payload [birthPayload]byte
	r, err := s.write("births", s.births, from, to, birthPayload, func(e *entry, _ int) []byte {
		binary.LittleEndian.PutUint16(payload[:], uint16(s.births.number(e)))
		return payload[:]
	})
	if err != nil {
		return err
	}
	s.spilled = max(from, to)
	s.unspilled = s.births.used - s.births.count(func(pk uint64) bool { return pk < s.spilled })
	s.pin()
	s.birthRuns, err = s.merge("births", append(s.birthRuns, r...))
	return err
}

// spillOutputs moves the older half of the unspent outputs of committed batches to a run.
func (s *shard) spillOutputs() error {
	middle := s.unspent.newest(s.unspent.used/2, func(*entry) bool { return true })
	to := min(middle, uint64(s.c.pinned))
	payload := make([]byte, outputPayload+8*s.unspent.words)
	r, err := s.write("outputs", s.unspent, 0, to, len(payload), func(e *entry, slot int) []byte {
		binary.LittleEndian.PutUint64(payload, s.unspent.number(e))
		for i := range s.unspent.words {
			binary.LittleEndian.PutUint64(payload[outputPayload+8*i:], s.unspent.at(slot)[i])
		}
		return payload
	})
	if err != nil {
		return err
	}
	s.unspent.retain(func(pk uint64) bool { return pk >= to })
	s.outputRuns, err = s.merge("outputs", append(s.outputRuns, r...))
	return err
}

// count returns the number of entries for which the function is true.
func (t *table) count(want func(pk uint64) bool) (n int) {
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && want(e.pk) {
			n++
		}
	}
	return n
}

// path returns the path of a new run.
func (s *shard) path(kind string) string {
	return filepath.Join(s.c.runs.folder, fmt.Sprintf("%s-%d-%x", kind, s.number, s.c.runs.next.Add(1)))
}

// write writes the entries of a table with from <= pointer < to to a run; none if there are none.
func (s *shard) write(kind string, t *table, from, to uint64, payload int, payloadOf func(e *entry, slot int) []byte) ([]*overflow, error) {
	n := t.count(func(pk uint64) bool { return pk >= from && pk < to })
	if n == 0 {
		return nil, nil
	}
	if err := errors.Join(s.c.runs.mayOpen(), os.MkdirAll(s.c.runs.folder, 0o755)); err != nil {
		return nil, err
	}
	w, err := run.Create(s.path(kind), payload, n)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	var slots []int // entries with the same tag
	for i := range t.entries {
		e := &t.entries[i]
		if e.tag == 0 || e.pk < from || e.pk >= to {
			continue
		}
		if len(slots) > 0 && t.entries[slots[0]].tag != e.tag {
			if err := addAll(w, t, slots, payloadOf); err != nil {
				return nil, err
			}
			slots = slots[:0]
		}
		slots = append(slots, i)
	}
	if err := addAll(w, t, slots, payloadOf); err != nil {
		return nil, err
	}
	r, err := w.Finish()
	if err != nil {
		return nil, err
	}
	s.c.runs.spilt.Add(r.Bytes())
	return []*overflow{s.c.runs.add(r, 0)}, nil
}

// addAll adds entries with the same tag to a run, in the order of their further bits.
func addAll(w *run.Writer, t *table, slots []int, payloadOf func(e *entry, slot int) []byte) error {
	if len(slots) > 1 {
		slices.SortFunc(slots, func(a, b int) int { return int(t.runBits(t.entries[a].rest)) - int(t.runBits(t.entries[b].rest)) })
	}
	for _, slot := range slots {
		e := &t.entries[slot]
		if err := w.Add(e.tag, t.runBits(e.rest), e.pk, payloadOf(e, slot)); err != nil {
			return err
		}
	}
	return nil
}

// merge merges the newest runs while mergedRuns of them are of the same level.
func (s *shard) merge(kind string, all []*overflow) ([]*overflow, error) {
	for {
		n := len(all) - mergedRuns
		if n < 0 || all[n].level != all[len(all)-1].level {
			return all, nil
		}
		old := make([]*run.Run, 0, mergedRuns)
		for _, r := range all[n:] {
			old = append(old, r.Run)
		}
		merged, err := run.Merge(s.path(kind), old, nil)
		if err != nil {
			return all, err
		}
		s.c.runs.spilt.Add(merged.Bytes())
		level := all[n].level + 1
		all = append(all[:n:n], s.c.runs.add(merged, level))
		for _, r := range old {
			s.c.runs.retire(r)
		}
	}
}
