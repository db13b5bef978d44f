package pointers

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Spend reports points of work to the meter of the request: see [birthmark/core/meter].
func (s *Scans) Spend(points int64) error { return s.meter.Spend(points) }

// ValueBirths returns the births of stored values of an index, in their order; nil for a value that no output has.
func (q *Reader) ValueBirths(x *schema.Index, values [][]byte) ([]*model.BirthPk, error) {
	births := make([]*model.BirthPk, len(values))
	var unknown [][]byte
	var at []int
	for i, v := range values {
		if births[i] = q.knownBirth(x.Number, v); births[i] == nil {
			unknown, at = append(unknown, v), append(at, i)
		}
	}
	found, err := q.Layout.Births(q.R, x.Number, unknown)
	if err != nil {
		return nil, err
	}
	for n, birth := range found {
		births[at[n]] = birth
		q.keepBirth(x.Number, unknown[n], birth)
	}
	return births, nil
}

// OccurrencesOf yields the outputs in s that contain one of several values, in order. The births are in order. An output
// with several of the values is yielded once.
func (q *Reader) OccurrencesOf(x *schema.Index, births []model.BirthPk, s setops.Span, descending bool) setops.Outputs {
	if len(births) == 1 {
		return q.Occurrences(x, births[0], s, descending)
	}
	m := q.outputMerger(x, schema.IndexRelations, s, descending)
	m.birth = func(b model.BirthPk) (model.UtxoPk, bool) { return b.Utxo, true }
	return distinctOutputs(m.all(births))
}

// StoredUnspentOf yields the unspent outputs in s of several values, as [Reader.OccurrencesOf] does, of an index that stores
// them.
func (q *Reader) StoredUnspentOf(x *schema.Index, births []model.BirthPk, s setops.Span, descending bool) setops.Outputs {
	if len(births) == 1 {
		return q.StoredUnspent(x, births[0], s, descending)
	}
	m := q.outputMerger(x, schema.IndexUnspent, s, descending)
	return distinctOutputs(m.all(births))
}

// outputMerger merges the outputs in a family of relations.
func (q *Reader) outputMerger(x *schema.Index, family storage.Family, s setops.Span, descending bool) merger[model.UtxoPk] {
	return merger[model.UtxoPk]{q: q, x: x, family: x.Family(family), span: s, descending: descending,
		parse: func(key, value []byte) (model.UtxoPk, error) {
			row, err := x.ParseRelationRow(key, value)
			return row.At, err
		},
		at: func(pk model.UtxoPk) model.UtxoPk { return pk },
	}
}

func distinctOutputs(all setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		last, begun := model.UtxoPk(0), false
		for pk, err := range all {
			if err == nil && begun && pk == last {
				continue
			}
			last, begun = pk, true
			if !yield(pk, err) || err != nil {
				return
			}
		}
	}
}

// StoredHistoryOf yields the transactions in s that pay to one of several values or spend from it, each once with the sums
// of all values, in order, of an index that stores histories. The births are in order.
func (q *Reader) StoredHistoryOf(
	x *schema.Index, births []model.BirthPk, s setops.Span, descending bool,
) iter.Seq2[schema.TxAmounts, error] {
	if len(births) == 1 {
		return q.StoredHistory(x, births[0], s, descending)
	}
	parse := func(key, value []byte) (schema.TxAmounts, error) {
		row, err := x.ParseHistoryRow(key, value)
		return row.TxAmounts, err
	}
	m := merger[schema.TxAmounts]{q: q, x: x, family: x.Family(schema.IndexHistory), span: s, descending: descending, parse: parse,
		at: func(t schema.TxAmounts) model.UtxoPk { return model.UtxoPk(t.Tx) }}
	return func(yield func(schema.TxAmounts, error) bool) {
		var sum schema.TxAmounts
		begun := false
		for t, err := range m.all(births) {
			switch {
			case err != nil:
				yield(sum, err)
				return
			case begun && t.Tx == sum.Tx:
				sum.Received, sum.Sent = sum.Received+t.Received, sum.Sent+t.Sent
				continue
			case begun && !yield(sum, nil):
				return
			}
			sum, begun = t, true
		}
		if begun {
			yield(sum, nil)
		}
	}
}

// merger merges the rows of several values in order. It reads a few rows of each value at a time, those of many values
// together, and has no scan open between two rows. In ascending order it reads nothing of a value before its birth is
// reached.
type merger[T any] struct {
	q          *Reader
	x          *schema.Index
	family     storage.Family
	span       setops.Span
	descending bool
	parse      func(key, value []byte) (T, error)
	at         func(T) model.UtxoPk
	birth      func(model.BirthPk) (T, bool) // the row of a birth, which the family does not have; nil: none

	heads []*rowsOf[T] // a heap by the position of the first row
}

// rowsOf is the next rows of a value.
type rowsOf[T any] struct {
	birth model.BirthPk
	rows  []T
	rest  setops.Span // not read yet
	ended bool        // nothing follows rows
	size  int         // of the next read
}

const (
	firstRows     = 8   // of a value, that are read together with those of other values
	mostRows      = 512 // of a value at once
	mergedAtOnce  = 256 // values that are read together
	mergedAtFirst = 16  // in ascending order
)

// all yields the rows. The births are in order.
func (m *merger[T]) all(births []model.BirthPk) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		m.heads = nil
		var zero T
		if m.span.Empty() {
			return
		}
		lowest := func(b model.BirthPk) model.UtxoPk { // on some chains a transaction can spend a later one of its block
			return model.UtxoPk(b.Utxo.Tx().Pointers().First(b.Utxo.Height()))
		}
		if n := slices.IndexFunc(births, func(b model.BirthPk) bool { return lowest(b) > m.span.Last }); n >= 0 {
			births = births[:n]
		}
		chunk := mergedAtOnce
		if !m.descending {
			chunk = mergedAtFirst
		}
		for {
			for len(births) > 0 && (len(m.heads) == 0 || m.descending || m.at(m.heads[0].rows[0]) >= lowest(births[0])) {
				n := min(chunk, len(births))
				if err := m.begin(births[:n]); err != nil {
					yield(zero, err)
					return
				}
				births, chunk = births[n:], min(2*chunk, mergedAtOnce)
			}
			if len(m.heads) == 0 {
				return
			}
			head := m.heads[0]
			if !yield(head.rows[0], nil) {
				return
			}
			head.rows = head.rows[1:]
			if len(head.rows) == 0 {
				if err := m.read(head); err != nil {
					yield(zero, err)
					return
				}
			}
			if len(head.rows) == 0 {
				heap.Pop(m)
			} else {
				heap.Fix(m, 0)
			}
		}
	}
}

// begin reads the first rows of values. The range of a value with few rows is read whole, since the store reads ranges
// together in ascending order only.
func (m *merger[T]) begin(births []model.BirthPk) error {
	ranges := make([]storage.Range, len(births))
	for i, b := range births {
		ranges[i].From, ranges[i].To = m.keys(b, m.span)
		ranges[i].Limit = firstRows
	}
	var found [][]storage.KV
	l := m.q.NewLoad()
	l.Ranges(m.family, ranges, func(rows [][]storage.KV) error { found = rows; return nil })
	if err := l.Read(); err != nil {
		return err
	}
	if err := m.q.Ctx.Err(); err != nil {
		return err
	}
	for i, b := range births {
		r := &rowsOf[T]{birth: b, rest: m.span, size: 2 * firstRows}
		switch {
		case len(found[i]) < firstRows:
			r.ended = true
		case m.descending:
			found[i] = nil // its last rows are needed
		}
		for _, kv := range found[i] {
			row, err := m.parse(kv.Key, kv.Value)
			if err != nil {
				return err
			}
			r.rows = append(r.rows, row)
		}
		if n := len(r.rows); n > 0 && !r.ended {
			r.rest = r.rest.After(m.at(r.rows[n-1]), false)
		}
		if m.descending {
			slices.Reverse(r.rows)
		}
		if m.descending && !r.ended {
			if err := m.read(r); err != nil {
				return err
			}
		} else {
			m.addBirth(r)
		}
		if len(r.rows) > 0 {
			heap.Push(m, r)
		}
	}
	return nil
}

// addBirth adds the row of a birth in the span: in descending order it is the last one.
func (m *merger[T]) addBirth(r *rowsOf[T]) {
	if m.birth == nil || !m.span.Has(r.birth.Utxo) {
		return
	}
	if row, ok := m.birth(r.birth); ok && m.descending {
		r.rows = append(r.rows, row)
	} else if ok {
		r.rows = slices.Insert(r.rows, 0, row)
	}
}

// read reads the next rows of a value.
func (m *merger[T]) read(r *rowsOf[T]) error {
	if r.ended || r.rest.Empty() {
		return nil
	}
	from, to := m.keys(r.birth, r.rest)
	r.rows, r.ended = nil, true
	for row, err := range schema.Rows(m.q.R, m.family, from, to, m.descending, m.parse) {
		if err != nil {
			return err
		}
		if r.rows = append(r.rows, row); len(r.rows) == r.size {
			r.rest, r.ended = r.rest.After(m.at(row), m.descending), false
			break
		}
	}
	r.size = min(2*r.size, mostRows)
	if m.descending && r.ended {
		m.addBirth(r)
	}
	return nil
}

func (m *merger[T]) keys(b model.BirthPk, s setops.Span) (from, to []byte) {
	return s.Keys(b.AppendTo(nil, m.x.Kind.HasOrdinal()))
}

// Len implements [heap.Interface].
func (m *merger[T]) Len() int { return len(m.heads) }

// Less implements [heap.Interface].
func (m *merger[T]) Less(i, j int) bool {
	order := cmp.Compare(m.at(m.heads[i].rows[0]), m.at(m.heads[j].rows[0]))
	return order < 0 && !m.descending || order > 0 && m.descending
}

// Swap implements [heap.Interface].
func (m *merger[T]) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

// Push implements [heap.Interface].
func (m *merger[T]) Push(r any) { m.heads = append(m.heads, r.(*rowsOf[T])) }

// Pop implements [heap.Interface].
func (m *merger[T]) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}
