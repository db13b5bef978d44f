package storage

import "slices"

// Read is one part of [ReadTogether]: rows of one family. Exactly one of Keys, Prefixes and Ranges is set.
type Read struct {
	Family   Family
	Keys     [][]byte // read as [Reader.GetMany] does
	Prefixes [][]byte // read as [Reader.Suffixes] does
	Ranges   []Range

	// The results, which the caller owns.
	Values [][]byte // one per key or prefix
	Rows   [][]KV   // one list per range; the rows do not change
}

// Range is the rows with From <= key < To in ascending order. A nil From or To leaves that end open.
type Range struct {
	From, To []byte
	Limit    int // the maximum number of rows; 0: no limit
}

// Empty reports whether nothing is read.
func (r *Read) Empty() bool { return len(r.Keys)+len(r.Prefixes)+len(r.Ranges) == 0 }

// TogetherReader is a [Reader] that reads keys and ranges of several families in one round trip, or with less work than
// one call per family.
type TogetherReader interface {
	// ReadTogether sets the results of reads, none of which is empty. After an error the results are undefined.
	ReadTogether(reads []*Read) error
}

// ReadTogether sets the results of reads: in one round trip if the reader can do so, else one after the other. It makes
// no call for reads that are empty.
func ReadTogether(r Reader, reads ...*Read) error {
	some := reads
	if slices.ContainsFunc(reads, (*Read).Empty) {
		some = slices.DeleteFunc(slices.Clone(reads), (*Read).Empty)
	}
	if len(some) == 0 {
		return nil
	}
	if t, ok := r.(TogetherReader); ok {
		return t.ReadTogether(some)
	}
	for _, read := range some {
		if err := read.from(r); err != nil {
			return err
		}
	}
	return nil
}

// from reads with the methods that every reader has.
func (r *Read) from(reader Reader) (err error) {
	switch {
	case len(r.Keys) > 0:
		r.Values, err = reader.GetMany(r.Family, r.Keys)
	case len(r.Prefixes) > 0:
		r.Values, err = reader.Suffixes(r.Family, r.Prefixes)
	default:
		r.Rows = make([][]KV, len(r.Ranges))
		for i, of := range r.Ranges {
			if r.Rows[i], err = of.scan(reader, r.Family); err != nil {
				return err
			}
		}
	}
	return err
}

func (r *Range) scan(reader Reader, f Family) (rows []KV, err error) {
	for kv, err := range reader.Scan(f, r.From, r.To, false) {
		if err != nil {
			return nil, err
		}
		both := append(append(make([]byte, 0, len(kv.Key)+len(kv.Value)), kv.Key...), kv.Value...)
		n := len(kv.Key)
		if rows = append(rows, KV{Key: both[:n:n], Value: both[n:]}); len(rows) == r.Limit {
			break
		}
	}
	return rows, nil
}
