package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
)

// Remembered is how many clients h, which New made, remembers.
func Remembered(h http.Handler) (n int) {
	for i := range h.(*guard).clients.shards {
		s := &h.(*guard).clients.shards[i]
		s.mu.Lock()
		n += len(s.by)
		s.mu.Unlock()
	}
	return n
}

// Digest is a key as a line of the file has it behind sha256:.
func Digest(key string) string {
	d := sha256.Sum256([]byte(key))
	return hex.EncodeToString(d[:])
}

// LookNow has the next question look whether the file has changed, as if time had passed.
func (ks *Keys) LookNow() { ks.file.looked.Store(0) }
