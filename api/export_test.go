package api

// KeptBytes is how many bytes of answers are kept for all chains.
func (a *API) KeptBytes() (n int) {
	for _, c := range a.chains {
		c.kept.mu.Lock()
		n += c.kept.bytes
		c.kept.mu.Unlock()
	}
	return n
}
