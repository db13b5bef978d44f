package api

// KeptBytes is how many bytes of answers are kept for all chains.
func (a *API) KeptBytes() (n int) {
	for _, c := range a.chains {
		for _, k := range []*keptAnswers{&c.kept, &c.blocks} {
			k.mu.Lock()
			n += k.bytes
			k.mu.Unlock()
		}
	}
	return n
}

// FreeRowsOf lets a plain request go through so few rows, until restore is called.
func FreeRowsOf(rows int) (restore func()) {
	before := freeRows
	freeRows = rows
	return func() { freeRows = before }
}
