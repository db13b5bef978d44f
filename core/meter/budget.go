package meter

import "sync/atomic"

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
