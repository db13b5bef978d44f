package core

import "birthmark/model"

// span is the places in the chain from first up to and including last; none where first stands behind last.
type span struct{ first, last model.UtxoPk }

// everywhere is every place there can be.
var everywhere = span{0, 1<<64 - 1}

func (s span) empty() bool { return s.first > s.last }

func (s span) has(pk model.UtxoPk) bool { return s.first <= pk && pk <= s.last }

// behind is the part of s that comes after pk in an order.
func (s span) behind(pk model.UtxoPk, descending bool) span {
	switch {
	case descending && pk == 0, !descending && pk == everywhere.last:
		return span{1, 0}
	case descending:
		s.last = min(s.last, pk-1)
	default:
		s.first = max(s.first, pk+1)
	}
	return s
}

// Spans of transactions begin and end where a transaction does.

func (s span) hasTx(tx model.TxPk) bool { return s.has(model.UtxoPk(tx)) }

// behindTx is the part of s that comes after a transaction in an order.
func (s span) behindTx(tx model.TxPk, descending bool) span {
	if descending {
		return s.behind(model.UtxoPk(tx), true)
	}
	return s.behind(model.UtxoPk(tx)|model.MaxIndex, false)
}
