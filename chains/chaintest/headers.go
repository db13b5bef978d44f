package chaintest

import (
	"encoding/json"
	"testing"

	"birthmark/model"
)

// headers checks that a header has JSON and hashes to its block, and that a truncated one does not.
func (f *Fixture) headers(t *testing.T) {
	for _, in := range f.Inputs {
		c := f.chain(t, in.Network)
		for i, b := range decode(t, c, in, nil) {
			header, err := c.Header(b.Header)
			if err != nil {
				t.Fatalf("%s: block %d: %v", in.Name, b.Height, err)
			}
			if text, err := json.Marshal(header); err != nil || len(text) < 10 {
				t.Fatalf("%s: block %d: header %s, %v", in.Name, b.Height, text, err)
			}
			hasher, ok := c.(model.HeaderHasher)
			if ok {
				if h, err := hasher.HashHeader(b.Header); err != nil || h != b.Hash {
					t.Fatalf("%s: block %d hashes to %s, %v", in.Name, b.Height, c.FormatHash(h), err)
				}
			}
			for n := 0; i < 3 && n < len(b.Header); n++ {
				if _, err := c.Header(b.Header[:n]); err == nil {
					t.Errorf("%s: a header of %d bytes instead of %d is valid", in.Name, n, len(b.Header))
				}
				if ok {
					if h, err := hasher.HashHeader(b.Header[:n]); err == nil && h == b.Hash {
						t.Errorf("%s: %d bytes of the header have its hash", in.Name, n)
					}
				}
			}
		}
	}
}
