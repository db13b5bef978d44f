package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/storage"
)

var sumsGuarantees = []guarantee{
	{"additions to sums answer like rows that were read and replaced", func(t *testing.T, s storage.Store) {
		rng, rows := testseed.Rand(t), map[string]sums{}
		for range 60 {
			addSums(t, s, rng, rows)
			if f, ok := s.(storage.Flusher); ok && rng.IntN(4) == 0 {
				if err := f.Flush(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if c, ok := s.(storage.Compactor); ok && rng.IntN(10) == 0 {
				if err := c.Compact(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			wantSums(t, s, rows)
		}
	}},
}

// sums are the numbers of a row of [storage.SumsBatch].
type sums struct {
	counts  [3]uint64
	amounts [2]*big.Int // below 2^128
}

func randomSums(rng *rand.Rand) sums {
	r := sums{amounts: [2]*big.Int{new(big.Int), new(big.Int)}}
	for i := range r.counts {
		r.counts[i] = rng.Uint64() >> rng.IntN(64)
	}
	for i := range r.amounts {
		var b [16]byte
		binary.BigEndian.PutUint64(b[:], rng.Uint64())
		binary.BigEndian.PutUint64(b[8:], rng.Uint64())
		r.amounts[i].SetBytes(b[:rng.IntN(17)])
	}
	return r
}

func (r sums) plus(o sums) sums {
	sum := sums{amounts: [2]*big.Int{new(big.Int), new(big.Int)}}
	for i := range r.counts {
		sum.counts[i] = r.counts[i] + o.counts[i]
	}
	modulus := new(big.Int).Lsh(big.NewInt(1), 128)
	for i := range r.amounts {
		sum.amounts[i].Add(r.amounts[i], o.amounts[i])
		sum.amounts[i].Mod(sum.amounts[i], modulus)
	}
	return sum
}

func (r sums) encode() (b []byte) {
	for _, n := range r.counts {
		b = binary.AppendUvarint(b, n)
	}
	b = append(b, byte(len(r.amounts[0].Bytes())))
	return append(append(b, r.amounts[0].Bytes()...), r.amounts[1].Bytes()...)
}

// addSums changes random rows: by additions if the store's batches have them.
func addSums(t *testing.T, s storage.Store, rng *rand.Rand, rows map[string]sums) {
	t.Helper()
	update(t, s, func(b storage.Batch) {
		adder, _ := b.(storage.SumsBatch)
		for _, n := range rng.Perm(20)[:rng.IntN(10)] {
			key, change := fmt.Sprintf("key %02d", n), randomSums(rng)
			row, there := rows[key]
			switch {
			case there && rng.IntN(10) == 0:
				b.Delete(lookup, []byte(key))
				delete(rows, key)
				continue
			case !there:
				rows[key] = change
			default:
				rows[key] = row.plus(change)
			}
			if adder != nil && rng.IntN(3) > 0 {
				adder.AddSums(lookup, []byte(key), change.encode())
			} else {
				b.Put(lookup, []byte(key), rows[key].encode())
			}
		}
	})
}

func wantSums(t *testing.T, s storage.Store, rows map[string]sums) {
	t.Helper()
	view(t, s, func(r storage.Reader) {
		for n := range 20 {
			key := fmt.Sprintf("key %02d", n)
			if row, there := rows[key]; there {
				wantGet(t, r, lookup, key, string(row.encode()))
			} else if _, err := r.Get(lookup, []byte(key)); !errors.Is(err, storage.ErrNotFound) {
				t.Fatalf("Get(%q): %v, want %v", key, err, storage.ErrNotFound)
			}
		}
		found := 0
		for kv, err := range r.Scan(lookup, nil, nil, false) {
			if err != nil {
				t.Fatal(err)
			}
			row, there := rows[string(kv.Key)]
			if !there || string(kv.Value) != string(row.encode()) {
				t.Fatalf("the scan has %q: %x, want %+v, there %t", kv.Key, kv.Value, row, there)
			}
			found++
		}
		if found != len(rows) {
			t.Fatalf("the scan has %d rows, want %d", found, len(rows))
		}
	})
}
