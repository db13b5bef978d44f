package check

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// maxProblems bounds the problems that a check lists. If there are more, the last entry gives their number.
const maxProblems = 1000

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
	work, err := l.ReadChange(r)
	if err != nil {
		return nil, err
	}
	if work.OfRules() {
		r = withoutAssets{r}
	}
	c := &checker{Layout: l, ctx: ctx, r: reader{r}, progress: o.Progress, result: &Result{Problems: []Problem{}},
		rows: make([]uint64, l.FamilyCount()), scanned: make([]bool, l.FamilyCount())}
	if c.State, err = new(schema.StateReader).Read(c.r, l); err != nil {
		return nil, err
	}
	if o.Index != "" {
		if c.only = l.Entry(o.Index); c.only == nil {
			_, err := l.Lookup(o.Index, c.Tip, c.Change)
			return nil, err
		}
		if c.only.IsRules() {
			c.only = nil // assets are compared with all other rows
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
	schema.State
	ctx      context.Context
	r        storage.Reader
	progress func(done, total uint64)
	result   *Result
	more     int // problems beyond maxProblems

	total   uint64          // expected rows
	rows    []uint64        // rows read, by family
	scanned []bool          // by family
	joins   []*join         // lookups of the current scan
	only    *schema.Index   // the only index to check; nil: check everything
	builtTo *model.HeightPk // the last block that was built of an index being added; nil if there is none

	first   model.HeightPk // the first block
	txCount []int32        // by height from first

	// Counted from rows, to be compared with the totals.
	genesisTxs, genesisOutputs, assets, unspentValue, checksum, rawChecksum uint64
}

func (c *checker) problem(f storage.Family, key []byte, format string, args ...any) {
	if len(c.result.Problems) >= maxProblems {
		c.more++
		return
	}
	c.result.Problems = append(c.result.Problems,
		Problem{c.FamilyName(f), hex.EncodeToString(key), fmt.Sprintf(format, args...)})
}

func (c *checker) run() error {
	c.Totals = c.Totals.Clone()
	if work := c.Change; work != nil && !work.Index.IsRules() {
		maps.Copy(c.Totals.Rows, work.Rows)
		c.Totals.RawChecksum += work.RawChecksum
		if work.Index.Building != 0 && !work.BuiltTo.IsOrigin() {
			c.builtTo = &work.BuiltTo.Height
		}
	}
	for f, n := range c.Totals.Rows {
		if c.checks(f) || f == schema.FamilyUtxo {
			c.total += n
		}
	}
	passes := []func() error{c.outputs, c.sums, c.statistics}
	switch {
	case c.only != nil && c.only.IsRaw():
		passes = []func() error{c.raws, c.places}
	case c.only != nil && c.only.Kind == model.PerBlock:
		passes = []func() error{c.blockValues}
	case c.only != nil && c.only.Kind == model.Sums:
		passes = []func() error{c.statistics}
	}
	if c.result.Blocks = c.Totals.Rows[schema.FamilyBlock]; c.only == nil {
		passes = []func() error{
			c.meta, c.blocks, c.blockValues, c.txs, c.raws, c.places, c.inputs, c.outputs, c.assetEntries, c.sums, c.statistics,
			c.orphans,
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
			c.result.Problems = slices.Insert(c.result.Problems, 0, Problem{c.FamilyName(unread.family), "", text})
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
	return c.scan(schema.FamilyMeta, anyLayout)
}

// checks reports whether the check includes a family.
func (c *checker) checks(f storage.Family) bool {
	if c.only == nil {
		return true
	}
	return slices.ContainsFunc(c.only.DeclarationsOf(schema.AllFeatures), func(d storage.Declaration) bool { return d.Family == f })
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
	for _, n := range []struct {
		of          string
		total, rows uint64
	}{
		{"genesis transactions", c.Totals.GenesisTxs, c.genesisTxs},
		{"genesis outputs", c.Totals.GenesisOutputs, c.genesisOutputs},
		{"asset entries", c.Totals.Assets, c.assets},
		{"unspent value", c.Totals.UnspentValue, c.unspentValue},
		{"checksum", c.Totals.Checksum, c.checksum},
		{"checksum of raw transactions", c.Totals.RawChecksum, c.rawChecksum},
	} {
		if n.total != n.rows {
			c.problem(schema.FamilyMeta, schema.MetaTotals, "%s: the totals have %d, the rows have %d", n.of, n.total, n.rows)
		}
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
