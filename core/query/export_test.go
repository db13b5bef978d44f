package query

// SetMaxUndone sets the number of transactions that may be undone for an earlier balance, and returns the old number.
func SetMaxUndone(n int) int {
	old := maxUndone
	maxUndone = n
	return old
}

// SetAheadTxs sets the number of transactions that a list computes at once, until restore is called.
func SetAheadTxs(n int) (restore func()) {
	before := aheadTxs
	aheadTxs = n
	return func() { aheadTxs = before }
}
