package api

// CachedBytes returns the size of the caches of all chains.
func (a *API) CachedBytes() (n int) {
	for _, c := range a.chains {
		n += c.answers.Used() + c.blocks.Used()
	}
	return n
}

// FreeRowsOf sets the number of rows that a plain request may read. It returns a function that restores the number.
func FreeRowsOf(rows int) (restore func()) {
	before := freeRows
	freeRows = rows
	return func() { freeRows = before }
}
