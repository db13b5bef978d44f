package rocks

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"birthmark/storage"
)

// A long scan returns the rows of its snapshot in both directions, whatever is written meanwhile, and leaves most of the
// block cache to others.
func TestLongScansReturnTheRowsOfTheirSnapshot(t *testing.T) {
	const rows, size = 40_000, 400
	cache := NewCache(64 << 20)
	defer cache.Close()
	s, err := Open(t.TempDir(), Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(storage.Declaration{Family: 1, Name: "family", Access: storage.Ordered}); err != nil {
		t.Fatal(err)
	}
	key := func(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }
	values := make([][]byte, rows)
	noise := rand.NewChaCha8([32]byte{})
	err = s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
		for i := range values {
			values[i] = make([]byte, i%(2*size)) // rows of many sizes, 16 MB in all
			_, _ = noise.Read(values[i])
			b.Put(1, key(i), values[i])
		}
		return nil
	})
	if err == nil {
		err = s.Compact(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	scan := func(r storage.Reader, from, to int, reverse bool, during func(n int) error) error {
		n := 0
		for kv, err := range r.Scan(1, key(from), key(to), reverse) {
			if err != nil {
				return err
			}
			i := from + n
			if reverse {
				i = to - 1 - n
			}
			if !bytes.Equal(kv.Key, key(i)) || !bytes.Equal(kv.Value, values[i]) {
				return fmt.Errorf("row %d has key %x and %d bytes", i, kv.Key, len(kv.Value))
			}
			n++
			if err := during(n); err != nil {
				return err
			}
		}
		if n != to-from {
			return fmt.Errorf("%d rows, expected %d", n, to-from)
		}
		return nil
	}
	nothing := func(int) error { return nil }
	before := cache.Used()
	err = s.View(t.Context(), func(r storage.Reader) error {
		for _, reverse := range []bool{false, true} {
			if err := scan(r, 100, rows-100, reverse, nothing); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if used := cache.Used() - before; used < long/2 || used > 3*long {
		t.Errorf("two scans of 16 MB cached %d bytes, expected about %d", used, 2*long)
	}
	err = s.View(t.Context(), func(r storage.Reader) error {
		return scan(r, 0, rows, false, func(n int) error {
			if n%1000 != 0 {
				return nil
			}
			return s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
				for i := range 100 {
					b.Put(1, key((n*7+i*31)%rows), []byte("new"))
					b.Delete(1, key((n*11+i*37)%rows))
				}
				return nil
			})
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// long is the size of rows after which a scan is long.
const long = 4 << 20
