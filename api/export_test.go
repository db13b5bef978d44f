package api

// CachedBytes returns the size of the caches of all chains.
func (a *API) CachedBytes() (n int) {
	for _, c := range a.chains {
		for _, k := range []*answerCache{&c.answers, &c.blocks} {
			k.mu.Lock()
			n += k.bytes
			k.mu.Unlock()
		}
	}
	return n
}

// FreeRowsOf sets the number of rows that a plain request may read. It returns a function that restores the number.
func FreeRowsOf(rows int) (restore func()) {
	before := freeRows
	freeRows = rows
	return func() { freeRows = before }
}
