package chaintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/model"
)

// memory checks that decoding other blocks does not change a block.
func (f *Fixture) memory(t *testing.T) {
	for _, in := range f.Inputs {
		c := f.chain(t, in.Network)
		input := bytes.Clone(in.Data)
		var blocks []*model.Block
		var before []string
		for b, err := range c.Decode(t.Context(), bytes.NewReader(input), names(c), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if blocks, before = append(blocks, b), append(before, fmt.Sprint(*b)); len(blocks) == 20 {
				break
			}
		}
		clear(input)
		for i, b := range blocks {
			if fmt.Sprint(*b) != before[i] {
				t.Errorf("%s: block %d has changed", in.Name, b.Height)
			}
		}
	}
}

// hostile checks that a damaged input yields an error of the source, or blocks, but never panics.
func (f *Fixture) hostile(t *testing.T) {
	ds, _ := f.fieldIndexes(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, in := range f.Inputs {
		data := in.Data[:min(len(in.Data), 100_000)]
		c := f.chain(t, in.Network, ds...)
		all := names(c)
		for round := range max(300/len(f.Inputs), 5) {
			bad := bytes.Clone(data)
			for range 1 + r.IntN(4) {
				at := r.IntN(len(bad))
				switch end := min(at+r.IntN(50), len(bad)); r.IntN(4) {
				case 0:
					bad[at] ^= 1 << r.IntN(8)
				case 1:
					bad = slices.Delete(bad, at, end)
				case 2:
					bad = slices.Insert(bad, at, bytes.Clone(bad[at:end])...)
				default:
					bad = bad[:at+1]
				}
				if len(bad) == 0 {
					bad = []byte{0}
				}
			}
			for _, err := range c.Decode(t.Context(), bytes.NewReader(bad), all, 0) {
				if kind, code := model.KindOf(err); err != nil && (kind != model.BadSource || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s, round %d: kind %v, code %s: %v", in.Name, round, kind, code, err)
				}
			}
		}
	}
}

// stop checks that decoding ends with its context and with its consumer.
func (f *Fixture) stop(t *testing.T) {
	in := f.Inputs[0]
	c := f.chain(t, in.Network)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range c.Decode(ctx, bytes.NewReader(in.Data), nil, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v after the context was cancelled", err)
		}
	}
	for range c.Decode(t.Context(), bytes.NewReader(in.Data), nil, 0) {
		break
	}
}
