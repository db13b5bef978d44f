package meter

import (
	"sync/atomic"

	"birthmark/model"
)

// Budget is a number of bytes that all answers share. The nil Budget has no limit.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of a number of bytes; nil if that is 0.
func NewBudget(bytes int64) *Budget {
	if bytes == 0 {
		return nil
	}
	return &Budget{limit: bytes}
}

// Used returns the bytes that are held.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// take takes bytes, or gives negative ones back. It returns false if the budget has fewer bytes left.
func (b *Budget) take(bytes int64) bool {
	if b == nil {
		return true
	}
	if used := b.used.Add(bytes); bytes > 0 && used > b.limit {
		b.used.Add(-bytes)
		return false
	}
	return true
}

// errMemory is returned if the budget has no more bytes.
var errMemory = model.Errorf(model.Refused, "overloaded",
	"the answers that are being sent need all memory for answers (a part of the setting memory): retry in a second")

// refusal returns the error of an answer that needs a number of bytes.
func (b *Budget) refusal(bytes int64) error {
	if bytes <= b.limit {
		return errMemory
	}
	return model.Errorf(model.Usage, "answer_too_large",
		"the answer has more than %d bytes, the memory for all answers (a part of the setting memory): request less at once", b.limit)
}
