package chaintest

import (
	"cmp"
	"testing"

	"birthmark/model"
)

// Measures checks the sizes up to each block of a source, within 2%: a file has some bytes between the blocks. Resumes
// reports whether the source measures from blocks after the first one too.
func Measures(t *testing.T, src model.Source, resumes bool) {
	t.Helper()
	var at []model.Point
	var sizes []uint64 // up to the block
	total := uint64(0)
	for e, err := range src.Follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		at, sizes = append(at, e.Block.Point()), append(sizes, total)
		total += uint64(cmp.Or(e.Block.SourceSize, e.Block.Size))
	}
	tip := at[len(at)-1]
	measure := func(after model.Point, done uint64) {
		t.Helper()
		got, err := src.(model.Measurer).Measure(t.Context(), after, tip.Height)
		if err != nil || !near(got.Total, total) || got.Done < done || !near(total-got.Done, total-done) {
			t.Errorf("after block %d: %+v (%v), expected %d of %d", after.Height, got, err, done, total)
		}
	}
	measure(model.Point{}, 0)
	unknown := []model.Point{{Height: 1, Slot: at[0].Slot, Hash: model.Hash{7}}}
	if resumes {
		for i, p := range at[:len(at)-1] {
			measure(p, sizes[i+1])
		}
	} else {
		unknown = append(unknown, at[0])
	}
	for _, p := range unknown {
		if got, err := src.(model.Measurer).Measure(t.Context(), p, tip.Height); err != nil || got.Total != 0 {
			t.Errorf("after block %v: %+v (%v), expected an unknown size", p, got, err)
		}
	}
}

func near(a, b uint64) bool { return 50*max(a, b) <= 51*min(a, b) }
