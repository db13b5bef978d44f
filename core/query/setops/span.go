package setops

import (
	"iter"

	"birthmark/model"
)

// Span is the positions from First to Last, both included; it is empty if First > Last.
type Span struct{ First, Last model.UtxoPk }

// Everywhere contains every position.
var Everywhere = Span{0, 1<<64 - 1}

func (s Span) Empty() bool { return s.First > s.Last }

func (s Span) Has(pk model.UtxoPk) bool { return s.First <= pk && pk <= s.Last }

// HasTx reports whether s, which starts and ends at transaction boundaries, contains a transaction.
func (s Span) HasTx(tx model.TxPk) bool { return s.Has(model.UtxoPk(tx)) }

// After returns the part of s that follows pk in the given order.
func (s Span) After(pk model.UtxoPk, descending bool) Span {
	switch {
	case descending && pk == 0, !descending && pk == Everywhere.Last:
		return Span{1, 0}
	case descending:
		s.Last = min(s.Last, pk-1)
	default:
		s.First = max(s.First, pk+1)
	}
	return s
}

// AfterTx returns the part of s that follows a transaction in the given order.
func (s Span) AfterTx(tx model.TxPk, descending bool) Span {
	if descending {
		return s.After(model.UtxoPk(tx), true)
	}
	return s.After(tx.Last(), false)
}

// Keys returns the range of keys that are the positions of s, each after a prefix.
func (s Span) Keys(prefix []byte) (from, to []byte) {
	prefix = prefix[:len(prefix):len(prefix)]
	return s.First.AppendTo(prefix), append(s.Last.AppendTo(prefix), 0)
}

// Outputs yields outputs; it ends after the first error.
type Outputs = iter.Seq2[model.UtxoPk, error]

// Scan yields positions in a span, in order. A scan for an ascending stream may ignore descending.
type Scan func(s Span, descending bool) Outputs
