package txset

import (
	"encoding/binary"
	"slices"

	"birthmark/model"
)

// freshTxs is how many transactions a txSet holds uncompressed.
const freshTxs = 1 << 14

// txSet counts different transactions. Beyond the first it holds them as sorted runs of the distances between them,
// about three bytes each, so that the totals of a value with millions of outputs take a few megabytes.
type Set struct {
	fresh []uint64
	runs  []run // each more than twice as long as the next
}

// txRun is transactions in ascending order: uvarints of how far each lies above the one before.
type run struct {
	count int
	bytes []byte
}

// Add adds a transaction, which may be in the set.
func (s *Set) Add(tx model.TxPk) {
	if s.fresh = append(s.fresh, uint64(tx)/(model.MaxIndex+1)); len(s.fresh) == freshTxs {
		s.pack(2)
	}
}

// Count is how many different transactions are in the set.
func (s *Set) Count() uint64 {
	if len(s.runs) == 0 {
		slices.Sort(s.fresh)
		s.fresh = slices.Compact(s.fresh)
		return uint64(len(s.fresh))
	}
	s.pack(0)
	return uint64(s.runs[0].count)
}

// pack makes a run of the fresh transactions, and merges runs until each is more than ratio times as long as the next;
// into one where the ratio is 0.
func (s *Set) pack(ratio int) {
	slices.Sort(s.fresh)
	var run run
	last := uint64(0)
	for _, tx := range slices.Compact(s.fresh) {
		run.add(&last, tx)
	}
	s.fresh = s.fresh[:0]
	s.runs = append(s.runs, run)
	for n := len(s.runs); n > 1 && (ratio == 0 || s.runs[n-2].count <= ratio*s.runs[n-1].count); n-- {
		s.runs[n-2] = merge(s.runs[n-2], s.runs[n-1])
		s.runs = s.runs[:n-1]
	}
}

func (r *run) add(last *uint64, tx uint64) {
	r.bytes = binary.AppendUvarint(r.bytes, tx-*last)
	r.count++
	*last = tx
}

// next takes the first transaction off the run. last is the one before it.
func (r *run) next(last uint64) (tx uint64, ok bool) {
	if r.count == 0 {
		return 0, false
	}
	distance, n := binary.Uvarint(r.bytes)
	r.bytes = r.bytes[n:]
	r.count--
	return last + distance, true
}

// merge is the transactions of two runs.
func merge(a, b run) (both run) {
	both.bytes = make([]byte, 0, len(a.bytes)+len(b.bytes))
	last := uint64(0)
	x, more := a.next(0)
	y, further := b.next(0)
	for more || further {
		at := x
		if !more || further && y < x {
			at = y
		}
		both.add(&last, at)
		if more && x == at {
			x, more = a.next(x)
		}
		if further && y == at {
			y, further = b.next(y)
		}
	}
	return both
}
