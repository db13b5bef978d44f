package ergoexplorer

import (
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/model"
)

// streamEndpoints write a list as it is read, in the order of the chain.
var streamEndpoints = []endpoint{
	{http.MethodGet, "boxes/unspent/stream", boxesInSpan(true), false},
	{http.MethodGet, "boxes/unspent/byLastEpochs/stream", unspentOfEpochs, false},
	{http.MethodGet, "boxes/byGlobalIndex/stream", boxesFrom(false), false},
	{http.MethodGet, "boxes/unspent/byGlobalIndex/stream", boxesFrom(true), false},
	{http.MethodGet, "boxes/byErgoTreeTemplateHash/*/stream", templateInSpan(false), false},
	{http.MethodGet, "boxes/unspent/byErgoTreeTemplateHash/*/stream", templateInSpan(true), false},
	{http.MethodGet, "transactions/byGlobalIndex/stream", txsFrom, false},
	{http.MethodGet, "blocks/byGlobalIndex/stream", blocksFrom, false},
	{http.MethodGet, "blocks/stream/summary", summariesFrom, false},
}

// span reads minHeight and maxHeight, which are required.
func (q *request) span() (from, to int, err error) {
	for name, at := range map[string]*int{"minHeight": &from, "maxHeight": &to} {
		there, err := q.number(name, at)
		if err != nil {
			return 0, 0, err
		}
		if !there {
			return 0, 0, bad("%s is missing", name)
		}
	}
	if to < from || to-from > maxSpan {
		return 0, 0, bad("maxHeight: expected at least minHeight, and at most %d more", maxSpan)
	}
	tip := q.v.Height()
	return min(from, tip+1), min(to, tip), nil
}

// numbers reads minGix and limit, which are required.
func (q *request) numbers(most int) (first uint64, limit int, err error) {
	n := 0
	for name, at := range map[string]*int{"minGix": &n, "limit": &limit} {
		there, err := q.number(name, at)
		if err != nil {
			return 0, 0, err
		}
		if !there {
			return 0, 0, bad("%s is missing", name)
		}
	}
	if limit > most {
		return 0, 0, bad("limit: expected at most %d", most)
	}
	return uint64(n), limit, nil
}

// stream writes the boxes that visit yields, unspent ones only if unspent is set.
func (q *request) stream(unspent bool, visit func(take func(model.UtxoPk) (bool, error)) error) error {
	q.Add("[")
	n := 0
	batch := make([]model.UtxoPk, 0, rows)
	flush := func() error {
		pks := batch
		batch = batch[:0]
		if unspent {
			spenders, err := q.v.Q.SpendersOf(pks)
			if err != nil {
				return err
			}
			kept := pks[:0]
			for i, by := range spenders {
				if by == nil {
					kept = append(kept, pks[i])
				}
			}
			pks = kept
		}
		err := q.addBoxes(pks, n, unspent)
		n += len(pks)
		return err
	}
	err := visit(func(pk model.UtxoPk) (bool, error) {
		if batch = append(batch, pk); len(batch) < rows {
			return true, nil
		}
		return true, flush()
	})
	if err == nil {
		err = flush()
	}
	q.Add("]")
	return err
}

// inHeights visits the boxes of the blocks from a height to another one.
func (q *request) inHeights(from, to int) func(func(model.UtxoPk) (bool, error)) error {
	return func(take func(model.UtxoPk) (bool, error)) error {
		first, end := model.HeightPk(from).First().AppendTo(nil), (model.HeightPk(to) + 1).First().AppendTo(nil)
		return q.v.BoxesBetween(first, end, take)
	}
}

func boxesInSpan(unspent bool) func(*request, []string) error {
	return func(q *request, _ []string) error {
		from, to, err := q.span()
		if err != nil {
			return err
		}
		return q.stream(unspent, q.inHeights(from, to))
	}
}

func unspentOfEpochs(q *request, _ []string) error {
	n := 0
	there, err := q.number("lastEpochs", &n)
	if err != nil {
		return err
	}
	if !there || n*epochBlocks > maxSpan {
		return bad("lastEpochs: expected a number up to %d", maxSpan/epochBlocks)
	}
	tip := q.v.Height()
	return q.stream(true, q.inHeights(max(0, tip-n*epochBlocks), tip))
}

func boxesFrom(unspent bool) func(*request, []string) error {
	return func(q *request, _ []string) error {
		first, limit, err := q.numbers(maxItems)
		if err != nil {
			return err
		}
		total := q.v.Boxes()
		return q.stream(unspent, func(take func(model.UtxoPk) (bool, error)) error {
			first = min(first, total)
			pks, err := q.v.BoxNumbers(first, min(uint64(limit), total-first))
			for _, pk := range pks {
				if _, err := take(pk); err != nil {
					return err
				}
			}
			return err
		})
	}
}

func templateInSpan(unspent bool) func(*request, []string) error {
	return func(q *request, args []string) error {
		from, to, err := q.span()
		if err != nil {
			return err
		}
		h, err := q.ofTemplate(args[0])
		if err != nil {
			return err
		}
		return q.stream(unspent, func(take func(model.UtxoPk) (bool, error)) error {
			if h.Birth == nil || to < from {
				return nil
			}
			l := q.v.BoxList(h.Index, *h.Birth, true, false).Within(model.HeightPk(from), model.HeightPk(to))
			return q.v.Each(l, take)
		})
	}
}

func txsFrom(q *request, _ []string) error {
	first, limit, err := q.numbers(maxItems)
	if err != nil {
		return err
	}
	total := q.v.TxCount()
	first = min(first, total)
	pks, err := q.v.TxNumbers(first, min(uint64(limit), total-first))
	if err != nil {
		return err
	}
	q.Add("[")
	if err := q.addTxs(pks, nil); err != nil {
		return err
	}
	q.Add("]")
	return nil
}

// eachBlock writes blocks from the one whose number is minGix on: numbers begin with the first block.
func (q *request) eachBlock(write func(*boxes.Block) error) error {
	first, limit, err := q.numbers(maxSpan)
	if err != nil {
		return err
	}
	q.Add("[")
	for i := range limit {
		h := int(min(first, model.MaxHeight)) + i + 1
		if h > q.v.Height() {
			break
		}
		b, err := q.v.Block(model.HeightPk(h))
		if err != nil {
			return err
		}
		q.Comma(i)
		if err := write(b); err != nil {
			return err
		}
		if err := q.Flush(); err != nil {
			return err
		}
	}
	q.Add("]")
	return nil
}

func blocksFrom(q *request, _ []string) error    { return q.eachBlock(q.addBlockInfo) }
func summariesFrom(q *request, _ []string) error { return q.eachBlock(q.addSummary) }
