package query

// SetMaxUndone sets the number of transactions that are undone for an earlier balance, and returns the old one.
func SetMaxUndone(n int) int {
	old := maxUndone
	maxUndone = n
	return old
}
