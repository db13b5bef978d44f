package export

import (
	"fmt"

	"birthmark/model"
)

// piecesPerPartition is the number of pieces of a partition that is not final. Only the newest piece changes with a new
// block, so that an export of a day rewrites a hundredth of a partition.
const piecesPerPartition = 100

// span is the blocks of a part.
type span struct {
	from, to  model.HeightPk
	partition model.HeightPk // the first block of its partition
	whole     bool           // it is the whole partition
	final     bool           // its last block is deep enough
}

// plan returns the parts of the chain from its lowest block, at height 0 or 1, up to a tip, in ascending order. The genesis
// has height 0, and is in the first part even if there is no block at that height.
func plan(lowest, tip model.HeightPk, o *Options) (parts []span) {
	last := tip
	if o.To != nil {
		last = min(last, *o.To)
	}
	size, begin := model.HeightPk(o.Partition), o.From
	add := func(s span) {
		if s.to < max(begin, lowest) {
			return
		}
		s.from = begin
		s.final = s.final && tip-s.to >= model.HeightPk(o.Confirmations)
		parts = append(parts, s)
		begin = s.to + 1
	}
	for first := o.From / size * size; first <= last; first += size {
		end := first + size - 1
		if o.To != nil {
			end = min(end, *o.To)
		}
		if end <= last && tip-end >= model.HeightPk(o.Confirmations) {
			add(span{to: end, partition: first, whole: true, final: true})
			continue
		}
		piece := max(1, size/piecesPerPartition)
		for at := first; at <= min(end, last); at += piece {
			to := min(at+piece-1, end)
			add(span{to: min(to, last), partition: first, final: to <= last})
		}
	}
	return parts
}

// path returns the name of the file of a table.
func (s *span) path(table, format string) string {
	name := "part"
	if !s.whole {
		name = fmt.Sprintf("part-%09d", s.from)
	}
	return fmt.Sprintf("%s/from=%09d/%s.%s", table, s.partition, name, format)
}
