package valueset_test

import (
	"encoding/binary"
	"sync"
	"testing"

	"birthmark/core/query/valueset"
	"birthmark/internal/testseed"
)

// The set contains exactly the added values, for any lengths and common prefixes, while other goroutines read it.
func TestSetIsExact(t *testing.T) {
	rng := testseed.Rand(t)
	s, want := valueset.New(), map[string]bool{}
	value := func() []byte {
		v := make([]byte, rng.IntN(40))
		for i := range v {
			v[i] = byte(rng.IntN(3))
		}
		return v
	}
	stop, readers := make(chan struct{}), sync.WaitGroup{}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Has([]byte{1, 2})
				}
			}
		})
	}
	for range 30_000 {
		v := value()
		added, err := s.Add(v)
		if err != nil || added == want[string(v)] {
			t.Fatalf("add %x: %t, %v; in the set before: %t", v, added, err, want[string(v)])
		}
		want[string(v)] = true
		if v = value(); s.Has(v) != want[string(v)] {
			t.Fatalf("has %x: %t", v, !want[string(v)])
		}
	}
	close(stop)
	readers.Wait()
	for v := range want {
		if !s.Has([]byte(v)) {
			t.Fatalf("%x is missing", v)
		}
	}
	if s.Count() != len(want) {
		t.Errorf("%d values, expected %d", s.Count(), len(want))
	}
	s.Clear()
	if s.Count() != 0 || s.Size() != 0 || s.Has([]byte{1}) {
		t.Errorf("after Clear: %d values, %d bytes", s.Count(), s.Size())
	}
	if added, err := s.Add([]byte{1}); !added || err != nil || !s.Has([]byte{1}) {
		t.Errorf("after Clear: %t, %v", added, err)
	}
}

// A million addresses of 21 bytes take at most 33 bytes each.
func TestSetIsCompact(t *testing.T) {
	s := fill(t, 1_000_000)
	if each := float64(s.Size()) / float64(s.Count()); each > 33 {
		t.Errorf("%.1f bytes per value", each)
	}
}

func fill(t testing.TB, n int) *valueset.Set {
	t.Helper()
	s := valueset.New()
	for i := range n {
		if added, err := s.Add(address(uint64(i))); !added || err != nil {
			t.Fatal(added, err)
		}
	}
	return s
}

// address returns 21 bytes that look like those of an address of Bitcoin: a type and a hash.
func address(n uint64) []byte {
	const spread = 0x9e3779b97f4a7c15
	b := make([]byte, 1, 21)
	for range 2 {
		n = (n + spread) * spread
		b = binary.BigEndian.AppendUint64(b, n^n>>29)
	}
	return binary.BigEndian.AppendUint32(b, uint32(n>>32))
}

func BenchmarkTenMillionValues(b *testing.B) {
	s := fill(b, 10_000_000)
	n := uint64(0)
	for b.Loop() {
		n += 7
		if s.Has(address(n)) != (n < 10_000_000) {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(s.Size())/float64(s.Count()), "bytes/value")
}
