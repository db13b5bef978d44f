package ingest

import (
	"iter"
	"sync"

	"birthmark/internal/guard"
	"birthmark/storage"
)

// async runs fn concurrently. wait returns its result when it ends.
func async[T any](fn func() (T, error)) (wait func() (T, error)) {
	var v T
	var err error
	done := sync.OnceFunc(guard.Beside(func() { v, err = fn() }))
	return func() (T, error) {
		done()
		return v, err
	}
}

// blockRows are the rows of one block in families whose keys begin with a pointer. The families are read concurrently.
type blockRows map[storage.Family]func() (familyRows, error)

// familyRows are rows of one family, in descending order of their keys.
type familyRows struct {
	data []byte // keys and values
	ends []int  // the end of each key and each value in data
}

// readBlockRows starts to read the rows with from <= key < to of each family. The caller must call wait before r is
// closed.
func readBlockRows(r storage.Reader, families []storage.Family, from, to []byte) blockRows {
	rows := blockRows{}
	for _, family := range families {
		rows[family] = async(func() (f familyRows, err error) {
			for kv, err := range r.Scan(family, from, to, true) {
				if err != nil {
					return f, err
				}
				f.data = append(f.data, kv.Key...)
				f.ends = append(f.ends, len(f.data))
				f.data = append(f.data, kv.Value...)
				f.ends = append(f.ends, len(f.data))
			}
			return f, nil
		})
	}
	return rows
}

// of yields the rows of a family, then the read error, if any.
func (rows blockRows) of(family storage.Family) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		f, err := rows[family]()
		begin := 0
		for i := 0; i < len(f.ends); i += 2 {
			key, end := f.ends[i], f.ends[i+1]
			if !yield(storage.KV{Key: f.data[begin:key:key], Value: f.data[key:end:end]}, nil) {
				return
			}
			begin = end
		}
		if err != nil {
			yield(storage.KV{}, err)
		}
	}
}

// wait returns after all reads have ended.
func (rows blockRows) wait() {
	for _, read := range rows {
		read()
	}
}
