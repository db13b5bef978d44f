package query

// SetMaxUndone sets the number of transactions that may be undone for an earlier balance, and returns the old number.
func SetMaxUndone(n int) int {
	old := maxUndone
	maxUndone = n
	return old
}
