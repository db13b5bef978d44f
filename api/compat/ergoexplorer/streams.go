package ergoexplorer

import (
	"iter"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
	"birthmark/model"
)

const maxSpan = 1536 // blocks

// spanOf returns a function that returns the heights of the parameters minHeight and maxHeight, which are required.
func spanOf(r *request) func(*view) (from, to model.HeightPk) {
	from, to := required(r, "minHeight"), required(r, "maxHeight")
	if to < from || to-from > maxSpan {
		r.Refuse(bad("maxHeight: expected at least minHeight, and at most %d more", maxSpan))
	}
	return func(v *view) (model.HeightPk, model.HeightPk) {
		tip := v.Height()
		return model.HeightPk(min(from, tip+1)), model.HeightPk(min(to, tip))
	}
}

// numbersOf returns the parameters minGix and limit, which are required.
func numbersOf(r *request, most int) (first uint64, limit int) {
	first, limit = uint64(required(r, "minGix")), required(r, "limit")
	if limit > most {
		r.Refuse(bad("limit: expected at most %d", most))
	}
	return first, limit
}

// stream sends boxes of the chain, or the unspent ones among them.
func (v *view) stream(pks iter.Seq2[model.UtxoPk, error], of kind) any {
	read := v.AllBoxes
	if of == unspentBoxes {
		read = v.AmongUnspent
	}
	return exchange.Values(v.boxes(v.StreamedBoxes(pks, read), confirmedForm))
}

// inHeights yields the boxes of the blocks from a height to another one.
func (v *view) inHeights(from, to model.HeightPk) iter.Seq2[model.UtxoPk, error] {
	return v.BoxesBetween(v.Q.FirstPk(from).AppendTo(nil), v.Q.FirstPk(to+1).AppendTo(nil))
}

func boxesInSpan(of kind) func(*request) answer {
	return func(r *request) answer {
		span := spanOf(r)
		return func(v *view) (any, error) { return v.stream(v.inHeights(span(v)), of), nil }
	}
}

func unspentOfEpochs(r *request) answer {
	n, given := number(r, "lastEpochs")
	if !given || n*epochBlocks > maxSpan {
		r.Refuse(bad("lastEpochs: expected a number up to %d", maxSpan/epochBlocks))
	}
	return func(v *view) (any, error) {
		tip := v.Height()
		return v.stream(v.inHeights(model.HeightPk(max(0, tip-n*epochBlocks)), model.HeightPk(tip)), unspentBoxes), nil
	}
}

func boxesFrom(of kind) func(*request) answer {
	return func(r *request) answer {
		first, limit := numbersOf(r, maxItems)
		return func(v *view) (any, error) {
			total := v.Boxes()
			first := min(first, total)
			pks, err := v.BoxNumbers(first, min(uint64(limit), total-first))
			all := valuesOf(pks, func(pk model.UtxoPk) (model.UtxoPk, error) { return pk, nil })
			return v.stream(all, of), err
		}
	}
}

func templateInSpan(of kind) func(*request) answer {
	return func(r *request) answer {
		span := spanOf(r)
		find := ofTemplate(r)
		return func(v *view) (any, error) {
			h, err := find(v)
			if err != nil {
				return nil, err
			}
			from, to := span(v)
			if h.Birth == nil || to < from {
				return exchange.JSON(nil), nil
			}
			return v.stream(v.All(v.Within(v.boxList(h, allBoxes, false), from, to)), of), nil
		}
	}
}

func txsFrom(r *request) answer {
	first, limit := numbersOf(r, maxItems)
	return func(v *view) (any, error) {
		total := v.TxCount()
		first := min(first, total)
		pks, err := v.TxNumbers(first, min(uint64(limit), total-first))
		return exchange.Values(v.txs(pks, nil)), err
	}
}

// blocksIn sends blocks from the one whose number is minGix on: numbers begin with the first block.
func blocksIn[T any](r *request, value func(*view, *boxes.Block) (T, error)) answer {
	first, limit := numbersOf(r, maxSpan)
	return func(v *view) (any, error) {
		return exchange.Values(func(yield func(T, error) bool) {
			from := int(min(first, model.MaxHeight)) + 1
			for h := from; h < from+limit && h <= v.Height(); h++ {
				var to T
				b, err := v.Block(model.HeightPk(h))
				if err == nil {
					to, err = value(v, b)
				}
				if !yield(to, err) || err != nil {
					return
				}
			}
		}), nil
	}
}

func blocksFrom(r *request) answer    { return blocksIn(r, (*view).blockOf) }
func summariesFrom(r *request) answer { return blocksIn(r, (*view).fullBlockOf) }
