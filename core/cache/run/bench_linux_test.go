package run

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// The payload of the benchmarks is that of births.
const benchPayload = 2

// cpu returns the processor time of the process in nanoseconds: it does not depend on the load of the machine.
func cpu(b *testing.B) (ns int64) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// report reports the processor time since from for n of a thing.
func report(b *testing.B, from int64, n int, thing string) {
	b.ReportMetric(float64(cpu(b)-from)/float64(n), "cpu-ns/"+thing)
}

func dropPages(b *testing.B, r *Run) {
	if err := unix.Fadvise(int(r.file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		b.Fatal(err)
	}
}

func sortedTags(seed uint64, n int) []uint64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	tags := make([]uint64, n)
	for i := range tags {
		tags[i] = max(rng.Uint64(), 1)
	}
	slices.Sort(tags)
	return tags
}

func writeTags(b testing.TB, path string, tags []uint64) *Run {
	w, err := Create(path, benchPayload, len(tags))
	if err != nil {
		b.Fatal(err)
	}
	payload := make([]byte, benchPayload)
	for i, tag := range tags {
		if err := w.Add(tag, uint16(tag), uint64(i), payload); err != nil {
			b.Fatal(err)
		}
	}
	r, err := w.Finish()
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func BenchmarkWrite(b *testing.B) {
	const n = 1_000_000
	tags := sortedTags(1, n)
	path := filepath.Join(b.TempDir(), "a")
	from := cpu(b)
	for b.Loop() {
		_ = writeTags(b, path, tags).Close()
	}
	report(b, from, b.N*n, "entry")
}

func BenchmarkMay(b *testing.B) {
	for _, n := range []int{200_000, 20_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, f := NewFilter(blocksFor(n))
			defer m.Resize(0)
			for _, tag := range sortedTags(1, n) {
				f.Add(tag)
			}
			r := &Run{filter: f}
			absent := sortedTags(2, 2000)
			found := 0
			b.ResetTimer()
			from := cpu(b)
			for range b.N {
				for _, tag := range absent {
					if r.May(tag, 0) {
						found++
					}
				}
			}
			report(b, from, b.N*len(absent), "query")
			b.ReportMetric(100*float64(found)/float64(b.N*len(absent)), "%found")
		})
	}
}

// BenchmarkLookup searches batches of 2000 sorted queries in 4,000,000 entries.
func BenchmarkLookup(b *testing.B) {
	tags := sortedTags(1, 4_000_000)
	r := writeTags(b, filepath.Join(b.TempDir(), "a"), tags)
	defer r.Close()
	if err := r.Sync(); err != nil { // dirty pages cannot be dropped from the page cache
		b.Fatal(err)
	}
	const batch, batches = 2000, 50
	for _, kind := range []string{"present", "absent", "cold"} {
		rng := rand.New(rand.NewPCG(3, 0))
		var qs [batches][]Query
		for i := range qs {
			absent := sortedTags(uint64(100+i), batch)
			for j := range batch {
				tag := tags[rng.IntN(len(tags))]
				if kind == "absent" {
					tag = absent[j]
				}
				qs[i] = append(qs[i], Query{Tag: tag, Extra: uint16(tag)})
			}
			slices.SortFunc(qs[i], func(a, b Query) int {
				if a.Tag < b.Tag {
					return -1
				}
				return 1
			})
		}
		b.Run(kind, func(b *testing.B) {
			s := &Scratch{}
			from := cpu(b)
			for n := range b.N {
				q := qs[n%batches]
				for i := range q {
					q[i].Found = false
				}
				if kind == "cold" {
					b.StopTimer()
					before := cpu(b)
					dropPages(b, r)
					from += cpu(b) - before
					b.StartTimer()
				}
				s.Reset()
				if err := r.Lookup(q, s); err != nil {
					b.Fatal(err)
				}
			}
			report(b, from, b.N*batch, "query")
			b.ReportMetric(float64(s.Pages)/float64(b.N*batch), "pages/query")
			b.ReportMetric(float64(s.Cold)/float64(b.N*batch), "cold/query")
		})
	}
}

func BenchmarkAll(b *testing.B) {
	const n = 1_000_000
	r := writeTags(b, filepath.Join(b.TempDir(), "a"), sortedTags(1, n))
	defer r.Close()
	from := cpu(b)
	for b.Loop() {
		for _, err := range r.All() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, from, b.N*n, "entry")
}

func BenchmarkMerge(b *testing.B) {
	const n, k = 500_000, 4
	dir := b.TempDir()
	var runs []*Run
	for i := range uint64(k) {
		runs = append(runs, writeTags(b, filepath.Join(dir, fmt.Sprint(i)), sortedTags(i, n)))
	}
	from := cpu(b)
	for b.Loop() {
		r, err := Merge(filepath.Join(dir, "merged"), runs, nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = r.Remove()
	}
	report(b, from, b.N*n*k, "entry")
}
