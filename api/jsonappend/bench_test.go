package jsonappend

import "testing"

// BenchmarkValues appends a list of values that append themselves.
func BenchmarkValues(b *testing.B) {
	list := make([]struct {
		A digits `json:"a"`
		B Hex    `json:"b"`
		C uint64 `json:"c"`
	}, 100)
	var out []byte
	for b.Loop() {
		out = Append(out[:0], &list)
	}
}
