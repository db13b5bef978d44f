package segment_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// discard is a store whose updates write nothing.
type discard struct {
	storage.Store
	inside bool
}

type nothing struct{}

func (nothing) Put(storage.Family, []byte, []byte) {}
func (nothing) Delete(storage.Family, []byte)      {}

func (s *discard) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	if !s.inside {
		return s.Store.Update(ctx, fn)
	}
	return s.View(ctx, func(r storage.Reader) error { return fn(r, nothing{}) })
}

// The cost of recording an update of 42,000 rows, as of a Bitcoin block of 2,500 transactions: a third of the keys are
// hashes in random order, the others are pointers in ascending order.
func BenchmarkRecord(b *testing.B) {
	s := &discard{Store: memory.New()}
	attached, err := segment.Attach(b.Context(), s, segment.Options{Dir: b.TempDir(), Mode: segment.Record})
	if err != nil {
		b.Fatal(err)
	}
	families := []storage.Family{schema.FamilyUtxo, schema.FamilySpentUtxo, schema.FamilyTxPk}
	for _, f := range families {
		if err := attached.Declare(schema.Schema[f].Declaration); err != nil {
			b.Fatal(err)
		}
	}
	s.inside = true
	rng := rand.New(rand.NewPCG(1, 1))
	n := uint64(0)
	for b.Loop() {
		err := attached.Update(b.Context(), func(_ storage.Reader, w storage.Batch) error {
			var key [16]byte
			for range 14_000 {
				n++
				binary.BigEndian.PutUint64(key[:], n<<20)
				binary.BigEndian.PutUint64(key[8:], rng.Uint64())
				w.Put(families[0], key[:8], key[:14])
				w.Put(families[1], key[:8], key[8:16])
				w.Put(families[2], key[8:], key[:0])
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
