package distribution

import (
	"maps"
	"testing"

	"birthmark/internal/testseed"
)

// twin is a set of unspent outputs, which are numbers, and a map as the reference.
type twin struct {
	t *testing.T
	Unspent[int]
	made map[int]int // the block of each output
	next int
	at   int // the current block
}

// step puts or takes an output, or begins a block.
func (w *twin) step(r Random) {
	w.t.Helper()
	switch {
	case r.Chance(0.1):
		w.Begin()
		w.at++
	case r.Chance(0.55):
		for range 1 + r.IntN(3) {
			w.Put(w.next)
			w.made[w.next] = w.at
			w.next++
		}
	default:
		back := r.IntN(2 * (w.at + 1))
		p, ok := w.Find(r, func(Random) int { return back })
		if ok != (len(w.made) > 0) {
			w.t.Fatalf("found %t with %d unspent", ok, len(w.made))
		}
		if !ok {
			return
		}
		found := w.At(p)
		block, known := w.made[found]
		if !known {
			w.t.Fatalf("%d was found but is not unspent", found)
		}
		if back <= w.at && block != w.at-back {
			for n, of := range w.made {
				if of == w.at-back {
					w.t.Fatalf("%d of block %d was found, block %d has %d", found, block, of, n)
				}
			}
		}
		if r.Chance(0.2) { // found but not taken
			return
		}
		if taken := w.Take(p); taken != found {
			w.t.Fatalf("%d was taken, found was %d", taken, found)
		}
		delete(w.made, found)
	}
	if w.Len() != len(w.made) {
		w.t.Fatalf("%d are unspent, expected %d", w.Len(), len(w.made))
	}
}

func TestFindReturnsUnspentOutputsOfAnAge(t *testing.T) {
	r := NewRandom(testseed.New(t), 0)
	w := &twin{t: t, made: map[int]int{}}
	w.Begin()
	for range 20_000 {
		w.step(r)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	r := NewRandom(testseed.New(t), 0)
	w := &twin{t: t, made: map[int]int{}}
	w.Begin()
	for range 500 {
		w.step(r)
	}
	fork := &twin{t: t, Unspent: w.Clone(), made: maps.Clone(w.made), next: w.next, at: w.at}
	for range 2000 {
		w.step(r)
		fork.step(r)
	}
}

func TestNothingIsUnspentBeforeTheFirstBlock(t *testing.T) {
	var u Unspent[int]
	if _, ok := u.Find(NewRandom(testseed.New(t), 0), func(Random) int { return 0 }); ok {
		t.Error("an output was found in an empty set")
	}
}
