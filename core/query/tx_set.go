package query

import (
	"encoding/binary"
	"slices"

	"birthmark/model"
)

// freshTxs is the number of transactions that a txSet holds uncompressed.
const freshTxs = 1 << 14

// txSet counts distinct transactions. Beyond freshTxs it stores them as sorted, delta-encoded runs of about three bytes
// per transaction, so the set of a value with millions of outputs takes a few megabytes.
type txSet struct {
	fresh []uint64
	runs  []txRun // each more than twice as long as the next
}

// txRun is transactions in ascending order, as uvarints of the differences between neighbors.
type txRun struct {
	count int
	bytes []byte
}

// add adds a transaction. Duplicates are ignored.
func (s *txSet) add(tx model.TxPk) {
	if s.fresh = append(s.fresh, uint64(tx)/(model.MaxWideIndex+1)); len(s.fresh) == freshTxs {
		s.pack(2)
	}
}

// addSet adds the transactions of another set.
func (s *txSet) addSet(other *txSet) {
	for _, tx := range other.fresh {
		s.add(model.TxPk(tx * (model.MaxWideIndex + 1)))
	}
	for _, r := range other.runs {
		for last, ok := r.next(0); ok; last, ok = r.next(last) {
			s.add(model.TxPk(last * (model.MaxWideIndex + 1)))
		}
	}
}

// count returns the number of distinct transactions in the set.
func (s *txSet) count() uint64 {
	if len(s.runs) == 0 {
		slices.Sort(s.fresh)
		s.fresh = slices.Compact(s.fresh)
		return uint64(len(s.fresh))
	}
	s.pack(0)
	return uint64(s.runs[0].count)
}

// pack makes a run of the fresh transactions and merges runs until each is more than ratio times as long as the next.
// A ratio of 0 merges all runs into one.
func (s *txSet) pack(ratio int) {
	slices.Sort(s.fresh)
	var run txRun
	last := uint64(0)
	for _, tx := range slices.Compact(s.fresh) {
		run.add(&last, tx)
	}
	s.fresh = s.fresh[:0]
	s.runs = append(s.runs, run)
	for n := len(s.runs); n > 1 && (ratio == 0 || s.runs[n-2].count <= ratio*s.runs[n-1].count); n-- {
		s.runs[n-2] = mergeTxRuns(s.runs[n-2], s.runs[n-1])
		s.runs = s.runs[:n-1]
	}
}

func (r *txRun) add(last *uint64, tx uint64) {
	r.bytes = binary.AppendUvarint(r.bytes, tx-*last)
	r.count++
	*last = tx
}

// next removes and returns the first transaction of the run. last is the previous one.
func (r *txRun) next(last uint64) (tx uint64, ok bool) {
	if r.count == 0 {
		return 0, false
	}
	distance, n := binary.Uvarint(r.bytes)
	r.bytes = r.bytes[n:]
	r.count--
	return last + distance, true
}

// mergeTxRuns returns the union of two runs.
func mergeTxRuns(a, b txRun) (both txRun) {
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
