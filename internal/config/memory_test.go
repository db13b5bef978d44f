package config

import (
	"strings"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/model"
)

func sum(d Division) int64 {
	return d.BlockCache + d.WriteBuffers + d.Caches + d.Source + d.Window + d.Collector + d.TxIDs
}

// The parts add up to the configured memory.
func TestPartsOfTheMemorySumUpToIt(t *testing.T) {
	sizes := []Size{LeastMemory, LeastMemory + 1, 100e6, 512 * MiB, 2 * GiB, 4*GiB + 7, 16 * GiB, TiB, TiB - 1}
	r := testseed.Rand(t)
	for range 1000 {
		sizes = append(sizes, LeastMemory+Size(r.Int64N(int64(256*GiB))))
	}
	for _, size := range sizes {
		for name, d := range map[string]Division{"writing": Divide(size), "reading": DivideReading(size)} {
			if sum(d) != int64(size) {
				t.Errorf("%s: the parts of %d sum up to %d: %+v", name, size, sum(d), d)
			}
			if d.Go()+d.Caches+d.BlockCache+d.WriteBuffers != int64(size) {
				t.Errorf("%s: Go's part %d, RocksDB's and the caches do not make up %d", name, d.Go(), size)
			}
			for _, part := range []int64{d.BlockCache, d.WriteBuffers, d.Caches, d.Source, d.Window, d.Collector, d.TxIDs} {
				if part < 0 {
					t.Errorf("%s: a part of %d is negative: %+v", name, size, d)
				}
			}
		}
	}
}

// The parts of an export add up to its memory, and Go's heap exceeds its part by little.
func TestPartsOfAnExportSumUpToItsMemory(t *testing.T) {
	r := testseed.Rand(t)
	for range 1000 {
		size, jobs := LeastMemory/16+Size(r.Int64N(int64(64*GiB))>>r.IntN(12)), 1+r.IntN(9)
		database, tables, heap := DivideExport(size, jobs)
		part := int64(size-database) - tables
		if database <= 0 || tables <= 0 || part <= 0 || heap < part || heap > part+exportPages || heap > int64(jobs)*exportHeap {
			t.Errorf("%d, %d jobs: %d for the database, %d for tables, %d for the heap", size, jobs, database, tables, heap)
		}
		if n := Size(ExportJobs(size)); n > 1 && n*exportJob > size {
			t.Errorf("%d jobs in %d", n, size)
		}
	}
}

// Below the limits of the parts, the shares are percentages.
func TestSharesOfTheMemory(t *testing.T) {
	m := int64(MiB)
	want := Division{
		BlockCache: 8 * m, WriteBuffers: 12 * m, Caches: 30 * m, Source: 8 * m, Window: 30 * m, Collector: 10 * m, TxIDs: 2 * m,
	}
	if d := Divide(100 * MiB); d != want {
		t.Errorf("writing: %+v, expected %+v", d, want)
	}
	want = Division{BlockCache: 73 * m, Collector: 25 * m, TxIDs: 2 * m}
	if d := DivideReading(100 * MiB); d != want {
		t.Errorf("reading: %+v, expected %+v", d, want)
	}
}

// With the minimum of memory a batch still has space for a few of the largest possible blocks.
func TestLeastMemoryFitsABatch(t *testing.T) {
	d := Divide(LeastMemory)
	if got := d.WindowBytes(); got < int64(900*KiB) {
		t.Errorf("a batch has space for %d bytes of blocks", got)
	}
	if _, err := ParseMemory("67108863"); err == nil || !strings.Contains(err.Error(), "at least 64MiB") {
		t.Errorf("one byte less than the minimum: %v", err)
	}
	if got := DefaultMemory(); got < LeastMemory || got > usual {
		t.Errorf("the default is %v", got)
	}
}

func TestSizesAreRead(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "4GiB": 4 * GiB, "4gib": 4 * GiB, "4 GiB": 4 * GiB, "512MB": 512e6, "512M": 512 * MiB, "1.5G": GiB + 512*MiB,
		"2147483648": 2 * GiB, "7B": 7, "1kB": 1000, "1KB": 1000, "1KiB": 1024, "9223372036854775807": 1<<63 - 1, "0.5TiB": 512 * GiB,
	} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "four", "-1", "+1", "1XB", "1e9", "0x10", "1.2.3", "1,5G", "9223372036854775808",
		"99999999999TiB", "1 2", "NaN", "1GiBs"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q was parsed as %d", text, got)
		}
	}
}

func FuzzSize(f *testing.F) {
	for _, seed := range []string{"4GiB", "512MB", "1.5G", "0", "-1", "9999999999999999999TiB", ".", "1."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSize(text)
		if err != nil {
			return
		}
		if again, err := ParseSize(s.String()); err != nil || again != s || s < 0 {
			t.Errorf("%q is %d, formatted as %s, parsed as %d, %v", text, s, s, again, err)
		}
	})
}

func TestApportionGivesEachChainItsPart(t *testing.T) {
	parts, err := Apportion(GiB, []int{2, 1, 1})
	if err != nil || parts[0] != 512*MiB || parts[1] != 256*MiB || parts[2] != 256*MiB {
		t.Errorf("%v, %v", parts, err)
	}
	if _, err = Apportion(GiB, []int{15, 1, 1}); err == nil || err.Error() != "1GiB of memory is too small for 3 chains: one of them would have 63161283B, the least is 64MiB" {
		t.Error(err)
	}
}

// The memory that the error of a large block names is enough for it, and is the least in steps of 512 MiB.
func TestTheErrorOfALargeBlockNamesTheMemory(t *testing.T) {
	for _, total := range []Size{LeastMemory, GiB, 3*GiB + 5*MiB, 4 * GiB} {
		for _, need := range []Size{MiB, 400 * MiB, 2 * GiB, 4 * GiB, 9 * GiB} {
			err := total.Room(true)(int64(need))
			if err == nil {
				continue
			}
			if kind, code := model.KindOf(err); kind != model.Machine || code != "block_too_large" {
				t.Errorf("%v of %v: %v", need, total, err)
			}
			_, text, _ := strings.Cut(err.Error(), "set memory to at least ")
			text, _, _ = strings.Cut(text, " ")
			named, parseErr := ParseMemory(text)
			if parseErr != nil || named <= total {
				t.Fatalf("%v names %q: %v", err, text, parseErr)
			}
			if err := named.Room(true)(int64(need)); err != nil {
				t.Errorf("%v is not enough: %v", named, err)
			}
			if less := named - GiB/2; less > total && less.Room(true)(int64(need)) == nil {
				t.Errorf("%v is enough for %v, but %v is named", less, need, named)
			}
		}
	}
}
