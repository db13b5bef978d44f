package distribution

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"birthmark/internal/testseed"
)

func TestSpanShares(t *testing.T) {
	const draws = 100_000
	r, spans := NewRandom(testseed.New(t), 0), Spans{{0.5, 1, 1}, {0.3, 2, 5}, {0.2, 6, 60}}
	found := make([]int, 61)
	for range draws {
		found[spans.Draw(r)]++
	}
	for _, span := range spans {
		from, to, sum := int(span[1]), int(span[2]), 0
		for n := from; n <= to; n++ {
			sum += found[n]
			if found[n] == 0 || n > from && found[n] > found[from] {
				t.Errorf("%d was drawn %d times, %d %d times", n, found[n], from, found[from])
			}
		}
		if share := float64(sum) / draws; math.Abs(share-span[0]) > 0.01 {
			t.Errorf("%.3f of the draws are from %d to %d, expected %.3f", share, from, to, span[0])
		}
	}
}

func TestLogNormalShares(t *testing.T) {
	const draws = 100_000
	r, l := NewRandom(testseed.New(t), 0), LogNormal{Median: 17, Sigma: 1.87}
	below, far := 0.0, 0.0
	for range draws {
		x := l.Draw(r)
		if x < l.Median {
			below++
		}
		if x < l.Median/math.Exp(l.Sigma) {
			far++
		}
	}
	if math.Abs(below/draws-0.5) > 0.01 || math.Abs(far/draws-0.1587) > 0.01 {
		t.Errorf("%.3f and %.3f of the draws are below", below/draws, far/draws)
	}
}

func TestZipfShares(t *testing.T) {
	const draws = 200_000
	r, z := NewRandom(testseed.New(t), 0), Zipf{Size: 1000, Flat: 0.1}
	found := make([]float64, z.Size) // a rank out of range panics
	for range draws {
		found[z.Draw(r)]++
	}
	// A rank covers the interval up to the next one, so shares match the integral.
	for _, rank := range []int{1, 2, 10, 100} {
		p := func(n int) float64 { return math.Pow(float64(n), z.Flat) }
		expected := (p(2*rank) - p(rank)) / (p(z.Size+1) - 1)
		sum := 0.0
		for _, n := range found[rank-1 : 2*rank-1] {
			sum += n
		}
		if got := sum / draws; math.Abs(got-expected) > 0.01 {
			t.Errorf("ranks %d to %d are %.3f of the draws, expected %.3f", rank, 2*rank-1, got, expected)
		}
	}
}

func TestPartsAddUp(t *testing.T) {
	r := NewRandom(testseed.New(t), 0)
	for range 10_000 {
		amount, least, n := 1+r.Uint64N(1<<r.IntN(60)), 1+r.Uint64N(1000), 1+r.IntN(50)
		parts := slices.Collect(r.Parts(amount, least, n))
		sum := uint64(0)
		for _, p := range parts {
			sum += p
		}
		if sum != amount || len(parts) < 1 || len(parts) > n || len(parts) > 1 && amount/uint64(len(parts)) < least {
			t.Fatalf("%d is split into %d parts with a sum of %d; up to %d of %d were requested", amount, len(parts), sum, n, least)
		}
		if share := r.Share(amount); share < 1 || share > amount || share == amount && amount > 1 {
			t.Fatalf("a share of %d is %d", amount, share)
		}
	}
}

func TestPartsAreDrawnOnDemand(t *testing.T) {
	r := NewRandom(testseed.New(t), 0)
	for range r.Parts(1000, 1, 10) {
		break
	}
	state := *r.Rand
	for p := range r.Parts(1000, 1, 1) {
		if p != 1000 || state != *r.Rand {
			t.Errorf("a single part is %d, or uses a draw", p)
		}
	}
}

func TestFillDependsOnTheNumberOnly(t *testing.T) {
	r := NewRandom(testseed.New(t), 0)
	long := make([]byte, 100)
	number := r.Uint64()
	Fill(long, number)
	for n := range 100 {
		short := make([]byte, n)
		if Fill(short, number); !bytes.Equal(short, long[:n]) {
			t.Fatalf("the first %d bytes differ with the length", n)
		}
	}
	other := make([]byte, 100)
	if Fill(other, number+1); bytes.Equal(other[:8], long[:8]) {
		t.Error("two numbers have the same bytes")
	}
	if b := r.Filler([]byte("begin"), 20); len(b) != 25 || !bytes.HasPrefix(b, []byte("begin")) || bytes.Equal(b[5:], make([]byte, 20)) {
		t.Errorf("%x was appended", b)
	}
}
