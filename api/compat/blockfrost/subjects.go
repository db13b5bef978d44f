package blockfrost

import (
	"iter"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// entry is a part of a transaction that a list has.
type entry[T any] struct {
	tx    model.TxPk
	place int // among the parts of the transaction that belong to the list
	part  T
	hash  string // of the transaction; set in pages
}

// before reports whether an entry precedes another one in the order of the chain.
func (e *entry[T]) before(other *entry[T]) bool {
	return e.tx < other.tx || e.tx == other.tx && e.place < other.place
}

// position returns the entry without its part, which can hold the bytes of the whole transaction.
func (e entry[T]) position() entry[T] { return entry[T]{tx: e.tx, place: e.place} }

// subjectBirth returns the index of subjects, and the birth of one; nil: no transaction has it.
func subjectBirth(v *view, subject string) (*schema.Index, *model.BirthPk, error) {
	x, err := v.optional(Subjects, 0)
	if err != nil {
		return nil, nil, err
	}
	birth, err := v.Q.Birth(x, []byte(subject))
	return x, birth, err
}

// named returns an argument of the path that transactions name. Another one is not found.
func (v *view) named(arg string) (string, error) {
	id := v.arg(arg)
	_, birth, err := subjectBirth(v, id)
	if err == nil && birth == nil {
		err = errNotFound
	}
	return id, err
}

// entriesOf yields the parts of transactions with a subject, after an entry. parts returns those of one transaction.
func entriesOf[T any](
	v *view, subject string, parts func(*decoded) []T, after *entry[T], descending bool,
) iter.Seq2[entry[T], error] {
	return func(yield func(entry[T], error) bool) {
		x, birth, err := subjectBirth(v, subject)
		if err != nil {
			yield(entry[T]{}, err)
			return
		}
		if birth == nil {
			return
		}
		span := setops.Everywhere
		if after != nil && descending {
			span.Last = after.tx.Last() // the other parts of its transaction can follow
		} else if after != nil {
			span.First = model.UtxoPk(after.tx)
		}
		for pk, err := range v.Q.Occurrences(x, *birth, span, descending) {
			var d *decoded
			if err == nil {
				err = v.ctx().Err()
			}
			if err == nil {
				d, err = v.decodeTx(pk.Tx())
			}
			if err != nil {
				yield(entry[T]{}, err)
				return
			}
			all := parts(d)
			for i := range all {
				if descending {
					i = len(all) - 1 - i
				}
				e := entry[T]{tx: pk.Tx(), place: i, part: all[i]}
				if after != nil && (!descending && !after.before(&e) || descending && !e.before(after)) {
					continue
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// listOf answers the entries of a page of a list.
func listOf[T, V any](v *view, subject string, parts func(*decoded) []T, value func(*entry[T]) V) (any, error) {
	found, err := pageOfEntries(v, subject, parts)
	all := make([]V, len(found))
	for i := range found {
		all[i] = value(&found[i])
	}
	return all, err
}

// pageOfEntries returns the entries of a page of a list. The points of their blocks have been read.
func pageOfEntries[T any](v *view, subject string, parts func(*decoded) []T) ([]entry[T], error) {
	all, err := pageOf(v, func(after *entry[T]) iter.Seq2[entry[T], error] {
		return entriesOf(v, subject, parts, after, v.page.descending)
	})
	if err != nil {
		return nil, err
	}
	txs := make([]model.TxPk, len(all))
	heights := make([]model.HeightPk, len(all))
	for i, e := range all {
		txs[i], heights[i] = e.tx, e.tx.Height()
	}
	if err := v.ReadPoints(heights...); err != nil {
		return nil, err
	}
	hashes, err := v.hashes(txs)
	for i, hash := range hashes {
		all[i].hash = hash
	}
	return all, err
}
