package check

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// maxProblems bounds the problems that a check lists. If there are more, the last entry gives their number.
const maxProblems = 1000

// batchSize is the number of rows that the check looks up at once.
const batchSize = 4096

// Result is the result of a check.
type Result struct {
	OK       bool      `json:"ok"`
	Blocks   uint64    `json:"blocks"`
	Rows     uint64    `json:"rows"`
	Problems []Problem `json:"faults"`
}

// Problem is an inconsistency and the row at which the check found it.
type Problem struct {
	Family  string `json:"family"`
	Key     string `json:"key"` // hex
	Problem string `json:"fault"`
}

// Options control [Run].
type Options struct {
	Index    string                   // check only this index, which may be one that is being added; "": check everything
	Progress func(done, total uint64) // called with numbers of rows; may be nil
}

// Run checks a database for internal consistency. It reads every row of the snapshot r, or, for one index, the
// outputs and the families of the index. It needs a fixed amount of memory plus four bytes per block.
//
// The result lists the problems. A family that cannot be read is a problem too and ends the check. Run returns an
// error if it is interrupted, cannot read the state of the database, or does not find the index (unknown_index).
func Run(ctx context.Context, r storage.Reader, l *schema.Layout, o Options) (*Result, error) {
	c := &checker{Layout: l, ctx: ctx, r: reader{r}, progress: o.Progress, rows: map[storage.Family]uint64{},
		result: &Result{Problems: []Problem{}}}
	var err error
	if c.State, err = new(schema.StateReader).Read(c.r, l); err != nil {
		return nil, err
	}
	if o.Index != "" {
		if c.only = l.Entry(o.Index); c.only == nil {
			_, err := l.Lookup(o.Index, c.Tip, c.Change)
			return nil, err
		}
	}
	if err := c.run(); err != nil {
		return nil, err
	}
	if c.more > 0 {
		c.result.Problems = append(c.result.Problems, Problem{Problem: fmt.Sprintf("and %d more problems", c.more)})
	}
	c.result.OK = len(c.result.Problems) == 0
	return c.result, nil
}

type checker struct {
	*schema.Layout
	ctx      context.Context
	r        storage.Reader
	progress func(done, total uint64)
	result   *Result
	more     int // problems beyond maxProblems

	schema.State
	names   map[storage.Family]string
	total   uint64                    // expected rows
	rows    map[storage.Family]uint64 // rows read
	first   model.HeightPk            // the first block
	txCount []int32                   // by height from first
	only    *schema.Index             // the only index to check; nil: check everything
	builtTo *model.HeightPk           // the last block that was built of an index being added; nil if there is none

	unspentValue, checksum uint64
	assets                 uint64
}

func (c *checker) problem(f storage.Family, key []byte, format string, args ...any) {
	if len(c.result.Problems) >= maxProblems {
		c.more++
		return
	}
	c.result.Problems = append(c.result.Problems,
		Problem{c.names[f], hex.EncodeToString(key), fmt.Sprintf(format, args...)})
}

// scan visits every row of a family. It reports an error of visit as a problem of the row, and returns it if it is a
// failed read.
func (c *checker) scan(f storage.Family, visit func(key, value []byte) error) error {
	for kv, err := range c.r.Scan(f, nil, nil, false) {
		if err != nil {
			return err
		}
		c.rows[f]++
		c.result.Rows++
		if c.result.Rows%batchSize == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if c.progress != nil {
				c.progress(min(c.result.Rows, c.total), c.total)
			}
		}
		if err := visit(kv.Key, kv.Value); isUnread(err) {
			return err
		} else if err != nil {
			c.problem(f, kv.Key, "%v", err)
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

func (c *checker) join(f storage.Family) *join { return &join{c: c, family: f} }

// add requests a call of then with the value at key, or with nil if there is none. It keeps key.
func (j *join) add(key []byte, then func(value []byte)) {
	j.keys, j.then = append(j.keys, key), append(j.then, then)
}

// full reports whether a batch is complete.
func (j *join) full() bool { return len(j.keys) >= batchSize }

// flush looks up the batch and empties it, also if it returns an error.
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

func flushFull(joins ...*join) error {
	for _, j := range joins {
		if j.full() {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func flushAll(joins ...*join) error {
	for _, j := range joins {
		if err := j.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) run() error {
	c.Totals = c.Totals.Clone()
	if work := c.Change; work != nil {
		for f, n := range work.Rows {
			c.Totals.Rows[f] = n
		}
		if work.Index.Building != 0 && !work.BuiltTo.IsOrigin() {
			c.builtTo = &work.BuiltTo.Height
		}
	}
	c.names = map[storage.Family]string{}
	for _, d := range c.Declarations() {
		c.names[d.Family] = d.Name
	}
	for f, n := range c.Totals.Rows {
		if c.checks(f) || f == schema.FamilyUtxo {
			c.total += n
		}
	}
	passes := []func() error{c.outputs, c.accounts}
	if c.result.Blocks = c.Totals.Rows[schema.FamilyBlock]; c.only == nil {
		passes = []func() error{
			c.meta, c.blocks, c.txs, c.raws, c.inputs, c.outputs,
			c.assetEntries, c.supplies, c.assetAggregates, c.assetSums, c.accounts, c.forks,
		}
	}
	for _, pass := range passes {
		err := pass()
		if err == nil {
			err = c.ctx.Err()
		}
		if unread, ok := errors.AsType[*unreadError](err); ok {
			// Other families cannot be compared with this one, so the check ends.
			text := "cannot be read, so the check stopped: " + unread.Error()
			c.result.Problems = slices.Insert(c.result.Problems, 0, Problem{c.names[unread.family], "", text})
			return nil
		}
		if err != nil {
			return err
		}
	}
	c.compareTotals()
	if c.progress != nil {
		c.progress(c.total, c.total)
	}
	return nil
}

// meta checks that every index of the catalogue is active, being added or being dropped.
func (c *checker) meta() error {
	for _, x := range c.All {
		if x.Dropped() && (c.Change == nil || c.Change.Index != x) {
			c.problem(schema.FamilyMeta, schema.MetaIndexes,
				"index %s is neither active nor being dropped: the next birthmark sync removes its remaining rows", x.Name)
		}
	}
	return c.scan(schema.FamilyMeta, func(_, _ []byte) error { return nil })
}

// count counts the rows of a family. A join with another family found want of them, so equal counts mean equal rows.
func (c *checker) count(f storage.Family, want uint64, of string) error {
	if err := c.scan(f, func(_, _ []byte) error { return nil }); err != nil {
		return err
	}
	if c.rows[f] != want {
		c.problem(f, nil, "%d rows for %d %s", c.rows[f], want, of)
	}
	return nil
}

// checks reports whether the check includes a family.
func (c *checker) checks(f storage.Family) bool {
	if c.only == nil {
		return true
	}
	first := c.only.Family(0)
	return f >= first && f < first+schema.FamiliesPerIndex
}

// compareTotals compares the totals of meta with the rows, and the unspent value with the supply of the chain.
func (c *checker) compareTotals() {
	for _, d := range c.Declarations() {
		if d.Family != schema.FamilyMeta && schema.Determined(d.Family) && c.checks(d.Family) &&
			c.rows[d.Family] != c.Totals.Rows[d.Family] {
			c.problem(d.Family, nil, "%d rows, the totals count %d", c.rows[d.Family], c.Totals.Rows[d.Family])
		}
	}
	if c.only != nil {
		return
	}
	if c.assets != c.Totals.Assets {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals count %d asset entries, there are %d",
			c.Totals.Assets, c.assets)
	}
	if c.unspentValue != c.Totals.UnspentValue {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals have an unspent value of %d, the unspent outputs have %d",
			c.Totals.UnspentValue, c.unspentValue)
	}
	if c.checksum != c.Totals.Checksum {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals have checksum %d, the rows have %d",
			c.Totals.Checksum, c.checksum)
	}
	if c.Tip.IsOrigin() {
		return
	}
	issued, exact, ok := c.Chain.Supply(c.Tip.Height)
	if ok && (c.unspentValue > issued || exact && c.unspentValue != issued) {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the unspent value is %d, the chain has issued %d at height %d",
			c.unspentValue, issued, c.Tip.Height)
	}
}
