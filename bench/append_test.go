package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// recorded returns a recording of a chain.
func recorded(t testing.TB, c Chain) *Recording {
	t.Helper()
	dir := t.TempDir()
	if _, err := Record(context.Background(), dir, c, nil); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRecording(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryKindWritesTheSameRows(t *testing.T) {
	testrun.Slow(t)
	for _, c := range []Chain{
		{Name: "bitcoin", Txs: 5000, TxsPerBlock: 200, Indexes: bothIndexes},
		{Name: "cardano", Txs: 1500},
		{Name: "ergo", Txs: 1000},
		{
			Name: "bitcoin", Txs: 3000, TxsPerBlock: 200, Serialized: true, Raw: true,
			Indexes: []string{"address", "small"}, Definitions: someDefinitions[:1],
			Keep: map[string]model.IndexOptions{"address": {Balance: true, Unspent: true, History: true, Prefix: true}, "small": {Unspent: true}},
		},
	} {
		t.Run(c.Name, func(t *testing.T) {
			c.Seed = testseed.New(t)
			blocks := recorded(t, c)
			txs := c.Txs - 10 // a part of the last block
			const memory = 64 << 20
			var rows float64
			for _, k := range Kinds {
				told := false
				r, err := Append(context.Background(), k, blocks, txs, Options{
					Dir: t.TempDir(), BlockCache: 8 << 20, WriteBuffers: 32 << 20, Caches: 8 << 20, Memory: memory,
					Progress: func(p core.Progress) { told = told || p.Done && p.Txs == uint64(txs) },
				})
				if err != nil {
					t.Fatalf("%s: %v", k, err)
				}
				if !told {
					t.Errorf("%s: no progress report of the end", k)
				}
				if rows == 0 {
					rows = r.RowsPerTx
				}
				if r.RowsPerTx != rows {
					t.Errorf("%s writes %v rows per transaction, %s %v", k, r.RowsPerTx, Kinds[0], rows)
				}
				onDisk := k != Naive && k != Floor
				if bounded := r.WithinBound != nil; bounded != onDisk || bounded && r.PeakRSSBound != memory+300e6 ||
					bounded && *r.WithinBound != (r.PeakRSS <= r.PeakRSSBound) {
					t.Errorf("%s: a peak of %d bytes with a bound of %d", k, r.PeakRSS, r.PeakRSSBound)
				}
				if counted := r.LookupsPerTx > 0; counted != onDisk || onDisk && r.ReadsPerTx <= 0 || r.BytesWrittenPerTx < 0 || r.BytesReadPerTx < 0 {
					t.Errorf("%s: per transaction %v lookups, %v reads, bytes written %v, read %v", k, r.LookupsPerTx, r.ReadsPerTx, r.BytesWrittenPerTx, r.BytesReadPerTx)
				}
				if r.Txs != txs || r.SettledTxsPerSecond > r.TxsPerSecond {
					t.Errorf("%s: %+v", k, r)
				}
				plausible(t, string(k), r)
				expected := []string{"emit", "finish", "read", "resolve", "write", "compact", "replay"}
				switch k {
				case Naive:
					expected = []string{"append", "replay"}
				case Floor:
					expected = []string{"emit", "replay"}
				}
				for _, stage := range expected {
					// The kernel may count time in ticks: the time of a short replay can be 0.
					if s, there := r.Stages[stage]; !there || s <= 0 && stage != "replay" {
						t.Errorf("%s: no %s in %v", k, stage, r.Stages)
					}
				}
				if len(r.Stages) != len(expected) || r.Stages["emit"] > r.Stages["write"] && k != Floor {
					t.Errorf("%s: stages %v", k, r.Stages)
				}
			}
		})
	}
}

// plausible fails the test if a figure is not positive.
func plausible(t *testing.T, what string, r *Result) {
	t.Helper()
	figures := []float64{r.TxsPerSecond, r.SettledTxsPerSecond, r.BlocksPerSecond, r.EntitiesPerSecond, r.BytesPerTx, float64(r.PeakRSS)}
	// A short run reports several quarters at the same time. These have no rate, but one of them has.
	for i, f := range append(figures, slices.Max(r.Quarters[:])) {
		if !(f > 0) || math.IsInf(f, 0) {
			t.Errorf("%s: figure %d is %v in %+v", what, i, f, r)
		}
	}
}

func TestUnknownKindsAreReported(t *testing.T) {
	_, err := Append(context.Background(), "quick", recorded(t, Chain{Txs: 1}), 1, Options{Dir: t.TempDir()})
	if kind, code := model.KindOf(err); kind != model.Usage || code != "unknown_run" {
		t.Errorf("kind %v, code %s: %v", kind, code, err)
	}
}

func TestQuartersAreOfTheTransactions(t *testing.T) {
	second := time.Second
	for _, c := range []struct {
		marks    []mark
		expected [4]float64
	}{
		{[]mark{{}, {4 * second, 400}}, [4]float64{100, 100, 100, 100}},
		// twice as fast in the first half, reported late
		{[]mark{{}, {second, 200}, {3 * second, 400}}, [4]float64{200, 200, 100, 100}},
		{[]mark{{}, {second, 100}, {2 * second, 100}, {3 * second, 400}, {3 * second, 400}}, [4]float64{100, 75, 300, 300}},
	} {
		got := quarters(c.marks)
		for q := range got {
			if math.Abs(got[q]-c.expected[q]) > 1 {
				t.Errorf("%v: %v, expected %v", c.marks, got, c.expected)
			}
		}
	}
}

// The floor must apply the rows that it measured.
func TestFloorStoresItsRows(t *testing.T) {
	f, plain := newFloor(), memory.New()
	fill := func(_ storage.Reader, b storage.Batch) error {
		b.Put(1, []byte("a"), []byte("1"))
		b.Put(2, []byte("a"), nil)
		b.Put(700, []byte("gone"), []byte("x"))
		b.Delete(700, []byte("gone"))
		return nil
	}
	for _, s := range []storage.Store{f, plain} {
		if err := s.Declare(storage.Declaration{Family: 1, Name: "one"}, storage.Declaration{Family: 2, Name: "two"}, storage.Declaration{Family: 700, Name: "many"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Update(context.Background(), fill); err != nil {
			t.Fatal(err)
		}
	}
	if got, expected := rowsOf(t, f), rowsOf(t, plain); !slices.Equal(got, expected) || len(got) != 2 {
		t.Errorf("%v, expected %v", got, expected)
	}
	if f.bytes != int64(len("a1")+len("a")+len("gonex")+len("gone")) {
		t.Errorf("%d bytes were counted", f.bytes)
	}
	broken := errors.New("broken")
	if err := f.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		b.Put(1, []byte("b"), nil)
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("%v, expected %v", err, broken)
	}
	if got := rowsOf(t, f); len(got) != 2 {
		t.Errorf("after a failed update: %v", got)
	}
}

func rowsOf(t *testing.T, s storage.Store) (rows []string) {
	t.Helper()
	err := s.View(context.Background(), func(r storage.Reader) error {
		for _, f := range []storage.Family{1, 2, 700} {
			for kv, err := range r.Scan(f, nil, nil, false) {
				if err != nil {
					return err
				}
				rows = append(rows, fmt.Sprintf("%d %q %q", f, kv.Key, kv.Value))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
