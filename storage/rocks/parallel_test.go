package rocks

import (
	"context"
	"encoding/binary"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage"
)

// Reads of any size return the same values with the threads of hot and of waiting reads.
func TestThreadsDoNotChangeReads(t *testing.T) {
	rng := testseed.Rand(t)
	s, err := Open(testrun.TempDir(t), Options{WriteBuffers: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, d := range []storage.Declaration{
		{Family: 1, Name: "values", Access: storage.Lookup}, {Family: 2, Name: "prefixes", Access: storage.Hashed},
	} {
		if err := s.Declare(d); err != nil {
			t.Fatal(err)
		}
	}
	const rows = 3000 // the odd numbers; prefix n has two suffixes if n is divisible by 3, otherwise one
	err = s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for n := uint64(1); n < 2*rows; n += 2 {
			key := binary.BigEndian.AppendUint64(nil, n)
			b.Put(1, key, append(key, 'v'))
			b.Put(2, append(key, 'a'), nil)
			if n%3 == 0 {
				b.Put(2, append(key, 'b'), nil)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{0, 1, 2*keysPerPart - 1, 2 * keysPerPart, 3 * keysPerThread, rows} {
		for _, waiting := range []bool{false, true} {
			values, prefixes := storage.Read{Family: 1}, storage.Read{Family: 2}
			numbers := make([]uint64, count)
			for i := range numbers {
				numbers[i] = rng.Uint64N(2 * rows)
				key := binary.BigEndian.AppendUint64(nil, numbers[i])
				values.Keys, prefixes.Prefixes = append(values.Keys, key), append(prefixes.Prefixes, key)
			}
			s.waiting.Store(waiting)
			if err := s.View(context.Background(), func(r storage.Reader) error {
				return storage.ReadTogether(r, &values, &prefixes)
			}); err != nil {
				t.Fatal(err)
			}
			for i, n := range numbers {
				value, suffixes := string(values.Keys[i])+"v", "a"
				switch {
				case n%2 == 0:
					value, suffixes = "", ""
				case n%3 == 0:
					suffixes = "ab"
				}
				if string(values.Values[i]) != value || string(prefixes.Values[i]) != suffixes {
					t.Fatalf("%d keys, waiting %t, key %d: %q and %q, expected %q and %q",
						count, waiting, n, values.Values[i], prefixes.Values[i], value, suffixes)
				}
			}
		}
	}
}
