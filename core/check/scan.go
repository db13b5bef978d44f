package check

import (
	"bytes"
	"fmt"

	"birthmark/core/schema"
	"birthmark/storage"
)

// batchSize is the number of rows that the check looks up at once.
const batchSize = 4096

// scan visits every row of a family, and flushes the joins that visit adds to. The first scan of a family counts its
// rows and reports errors of visit as problems of the row. Later scans ignore these errors.
func (c *checker) scan(f storage.Family, visit func(key, value []byte) error) error {
	first := !c.scanned[f]
	c.scanned[f] = true
	n := uint64(0)
	for kv, err := range c.r.Scan(f, nil, nil, false) {
		if err != nil {
			return err
		}
		if n++; n%batchSize == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if c.progress != nil {
				c.progress(min(c.result.Rows, c.total), c.total)
			}
		}
		if first {
			c.rows[f]++
			c.result.Rows++
		}
		if err := visit(kv.Key, kv.Value); err != nil && first {
			c.problem(f, kv.Key, "%v", err)
		}
		if err := c.flush(batchSize); err != nil {
			return err
		}
	}
	err := c.flush(1)
	c.joins = nil
	return err
}

// flush looks up the batches with at least n keys, in the order in which the joins were created.
func (c *checker) flush(n int) error {
	for _, j := range c.joins {
		if len(j.keys) >= n {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// join looks up rows of one family for the rows of another, in batches.
type join struct {
	c      *checker
	family storage.Family
	keys   [][]byte
	then   []func(value []byte)
}

// join returns a join for the next scan.
func (c *checker) join(f storage.Family) *join {
	j := &join{c: c, family: f}
	c.joins = append(c.joins, j)
	return j
}

// add requests a call of then with the value at key, or with nil if there is none. It keeps key.
func (j *join) add(key []byte, then func(value []byte)) {
	j.keys, j.then = append(j.keys, key), append(j.then, then)
}

// expect reports a problem of the row of f at rowKey unless the value at key is as expected. It keeps both keys.
func (j *join) expect(key []byte, as func(value []byte) bool, f storage.Family, rowKey []byte, problem string) {
	j.add(key, func(v []byte) {
		if !as(v) {
			j.c.problem(f, rowKey, "%s (row %x of %s)", problem, key, j.c.FamilyName(j.family))
		}
	})
}

func present(value []byte) bool { return value != nil }

func presentAndEmpty(value []byte) bool { return value != nil && len(value) == 0 }

func equal(want []byte) func(value []byte) bool {
	return func(value []byte) bool { return bytes.Equal(value, want) }
}

// flush looks up the batch and empties it.
func (j *join) flush() error {
	values, err := j.c.r.GetMany(j.family, j.keys)
	if err == nil {
		for i, then := range j.then {
			then(values[i])
		}
	}
	j.keys, j.then = j.keys[:0], j.then[:0]
	return err
}

func anyLayout(_, _ []byte) error { return nil }

// count counts the rows of a family and checks their layout. A join with another family found want of them, so equal
// counts mean equal rows.
func (c *checker) count(f storage.Family, want uint64, of string, layout func(key, value []byte) error) error {
	first := !c.scanned[f]
	if err := c.scan(f, layout); err != nil {
		return err
	}
	if first && c.rows[f] != want {
		c.problem(f, nil, "%d rows for %d %s", c.rows[f], want, of)
	}
	return nil
}

// noValue returns an error unless the value of a row is empty.
func noValue(value []byte) error {
	if len(value) > 0 {
		return fmt.Errorf("%w: it must not have a value", schema.ErrRow)
	}
	return nil
}
