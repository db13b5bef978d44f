package segment

import "crypto/sha256"

// SetSteps makes logs call step before each of their steps; an error of step fails the log. It returns a function that
// restores the default.
func SetSteps(step func(name string) error) (restore func()) {
	before := stepOf
	stepOf = func(*Log) func(string) error { return step }
	return func() { stepOf = before }
}

// SetMost sets the maximum size in bytes of the rows of a segment.
func (r *Recorder) SetMost(bytes int) { r.most = bytes }

// Resealed returns a segment with a correct hash, so that a decoder reads its content.
func Resealed(b []byte) []byte {
	if len(b) < hashSize {
		return b
	}
	body := b[:len(b)-hashSize]
	sum := sha256.Sum256(body)
	return append(append([]byte{}, body...), sum[:]...)
}
