package rocks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

// The writer numbers its Updates. Each one writes its number and a new row into every family, and deletes the row that
// is `kept` Updates old. A reader can therefore determine the last Update, and whether it is complete.
const (
	kept     = 30
	families = 5
	most     = families + 15 // including families that are created later
)

func declaration(i int) storage.Declaration {
	return storage.Declaration{Family: storage.Family(i), Name: fmt.Sprintf("family_%d", i), Access: storage.Access(i % 3)}
}

func declare(s storage.Store, count int) error {
	var ds []storage.Declaration
	for i := range count {
		ds = append(ds, declaration(i))
	}
	return s.Declare(ds...)
}

func rowKey(n int) []byte { return fmt.Appendf(nil, "row %08d", n) }

// updater is Update or UpdateBulk.
type updater func(context.Context, func(storage.Reader, storage.Batch) error) error

// rowValue returns about 1000 incompressible bytes that depend on the family and the row.
func rowValue(f, n int) []byte {
	var seed [32]byte
	copy(seed[:], fmt.Sprintf("family %d row %d", f, n))
	rng := rand.NewChaCha8(seed)
	value := make([]byte, 2000+rng.Uint64()%30_000)
	rng.Read(value)
	return value
}

// write performs Update n on a database with that many families.
func write(s storage.Store, n, families int) error { return writeBy(s.Update, n, families) }

func writeBy(update updater, n, families int) error {
	return update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for i := range families {
			f := storage.Family(i)
			b.Put(f, []byte("n"), []byte(strconv.Itoa(n)))
			b.Put(f, rowKey(n), rowValue(i, n))
			b.Delete(f, rowKey(n-kept))
		}
		b.Put(0, []byte("families"), []byte(strconv.Itoa(families)))
		return nil
	})
}

// moment returns the last Update of a database and the number of its families at that time. It fails if families
// disagree, a row is missing or wrong, or a later family is not empty.
func moment(s storage.Store, declared int) (n, count int, err error) {
	err = s.View(context.Background(), func(r storage.Reader) error {
		var err error
		if n, err = number(r, 0, "n"); err != nil {
			return err
		}
		if count, err = number(r, 0, "families"); err != nil {
			return err
		}
		for i := range declared {
			if err := checkFamily(r, i, n, i < count); err != nil {
				return fmt.Errorf("at update %d with %d families: %w", n, count, err)
			}
		}
		return nil
	})
	return n, count, err
}

// number returns 0 if there is no number.
func number(r storage.Reader, f storage.Family, key string) (int, error) {
	text, err := r.Get(f, []byte(key))
	if errors.Is(err, storage.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(text))
}

func checkFamily(r storage.Reader, i, n int, exists bool) error {
	f := storage.Family(i)
	here, err := number(r, f, "n")
	if err != nil {
		return err
	}
	if exists && here != n || !exists && here != 0 {
		return fmt.Errorf("family %d is at update %d", i, here)
	}
	// A family has the last rows without a gap, or all rows since it was created.
	last, rows := 0, 0
	for kv, err := range r.Scan(f, []byte("row "), []byte("row:"), false) {
		if err != nil {
			return err
		}
		var at int
		if _, err := fmt.Sscanf(string(kv.Key), "row %d", &at); err != nil {
			return fmt.Errorf("key %q: %w", kv.Key, err)
		}
		if rows > 0 && at != last+1 {
			return fmt.Errorf("family %d has row %d after row %d", i, at, last)
		}
		if !bytes.Equal(kv.Value, rowValue(i, at)) {
			return fmt.Errorf("family %d: row %d has another value", i, at)
		}
		last, rows = at, rows+1
	}
	switch {
	case last != here:
		return fmt.Errorf("family %d is at update %d and its last row is %d", i, here, last)
	case rows > kept, i < families && rows != min(n, kept):
		return fmt.Errorf("family %d has %d rows, want the last %d", i, rows, kept)
	}
	return nil
}

// writerRole writes the database in dir endlessly. It prints "ready", the number of each finished Update, and "durable"
// with the number of the last Update before each finished Flush.
//
//	writer DIR WAL SEED grow|steady never|sometimes|always
//
// A growing writer starts with a new database, and also creates families and compacts. The last argument selects the
// bulk Updates.
func writerRole(args []string) error {
	dir, wal, grow := args[0], args[1] == "true", args[3] == "grow"
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	s, err := rocks.Open(dir, small(wal))
	if err != nil {
		return err
	}
	if err := declare(s, families); err != nil {
		return err
	}
	n, _, err := moment(s, families)
	if err != nil {
		return err
	}
	count := families
	fmt.Println("ready")
	for {
		n++
		update := s.Update
		bulk := args[4] == "always" || args[4] == "sometimes" && rng.IntN(2) == 0
		if bulk {
			update = s.UpdateBulk
		}
		if err := writeBy(update, n, count); err != nil {
			return err
		}
		fmt.Println(n)
		if bulk {
			fmt.Println("durable", n)
		}
		switch what := rng.IntN(40); {
		case what == 0:
			if err := s.Flush(context.Background()); err != nil {
				return err
			}
			fmt.Println("durable", n)
		case what == 1 && grow:
			if err := s.Compact(context.Background()); err != nil {
				return err
			}
		case what < 4 && grow && count < most:
			if err := s.Declare(declaration(count)); err != nil {
				return err
			}
			count++
		}
	}
}
