package ingest

import (
	"iter"

	"birthmark/storage"
)

// blockRows are the rows of one block in families whose keys begin with a pointer. The families are read concurrently.
type blockRows map[storage.Family]*familyRows

// familyRows are rows of one family, in descending order of their keys.
type familyRows struct {
	read chan struct{} // closed after the last row
	data []byte        // keys and values
	ends []int         // the end of each key and each value in data
	err  error
}

// readBlockRows starts to read the rows with from <= key < to of each family. The caller must call wait before r is
// closed.
func readBlockRows(r storage.Reader, families []storage.Family, from, to []byte) blockRows {
	rows := blockRows{}
	for _, f := range families {
		rows[f] = &familyRows{read: make(chan struct{})}
		go rows[f].scan(r.Scan(f, from, to, true))
	}
	return rows
}

func (f *familyRows) scan(rows iter.Seq2[storage.KV, error]) {
	defer close(f.read)
	for kv, err := range rows {
		if err != nil {
			f.err = err
			return
		}
		f.data = append(f.data, kv.Key...)
		f.ends = append(f.ends, len(f.data))
		f.data = append(f.data, kv.Value...)
		f.ends = append(f.ends, len(f.data))
	}
}

// of yields the rows of a family, then the read error, if any.
func (rows blockRows) of(family storage.Family) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		f := rows[family]
		<-f.read
		begin := 0
		for i := 0; i < len(f.ends); i += 2 {
			key, end := f.ends[i], f.ends[i+1]
			if !yield(storage.KV{Key: f.data[begin:key:key], Value: f.data[key:end:end]}, nil) {
				return
			}
			begin = end
		}
		if f.err != nil {
			yield(storage.KV{}, f.err)
		}
	}
}

// wait returns after all reads have ended.
func (rows blockRows) wait() {
	for _, f := range rows {
		<-f.read
	}
}
