package core

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

// checkBatch is how many rows a check looks up at once.
const checkBatch = 4096

// Check checks the database for internal consistency. It reads every row of one snapshot and needs a fixed amount of
// memory plus four bytes per block. The answer lists the problems. A family that cannot be read is a problem too and
// ends the check. Check returns an error if it is interrupted or cannot begin.
func (db *DB) Check(ctx context.Context, progress func(done, total uint64)) (*CheckAnswer, error) {
	return db.check(ctx, "", progress)
}

// CheckIndex checks the families of one index, which may be in the process of being added. It reads every output.
func (db *DB) CheckIndex(ctx context.Context, name string, progress func(done, total uint64)) (*CheckAnswer, error) {
	return db.check(ctx, name, progress)
}

func (db *DB) check(ctx context.Context, only string, progress func(done, total uint64)) (*CheckAnswer, error) {
	c := &checker{db: db, ctx: ctx, progress: progress, rows: map[storage.Family]uint64{}, answer: &CheckAnswer{Problems: []ProblemAnswer{}}}
	db.asking.RLock()
	defer db.asking.RUnlock()
	err := db.store.View(ctx, func(r storage.Reader) error {
		c.r = checkReader{r}
		if only != "" {
			if c.only = db.catalogue().Entry(only); c.only == nil {
				_, err := db.catalogue().Lookup(only, db.tip, db.work)
				return err
			}
		}
		return c.run()
	})
	if err != nil {
		return nil, err
	}
	if c.more > 0 {
		c.answer.Problems = append(c.answer.Problems, ProblemAnswer{Problem: fmt.Sprintf("and %d more problems", c.more)})
	}
	c.answer.OK = len(c.answer.Problems) == 0
	return c.answer, nil
}

type checker struct {
	db       *DB
	ctx      context.Context
	r        storage.Reader
	progress func(done, total uint64)
	answer   *CheckAnswer
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
	if len(c.answer.Problems) >= maxProblems {
		c.more++
		return
	}
	c.answer.Problems = append(c.answer.Problems, ProblemAnswer{c.names[f], hex.EncodeToString(key), fmt.Sprintf(format, args...)})
}

// scan visits every row of a family. It reports an error of visit as a problem of the row, and returns it if it is a
// failed read.
func (c *checker) scan(f storage.Family, visit func(key, value []byte) error) error {
	for kv, err := range c.r.Scan(f, nil, nil, false) {
		if err != nil {
			return err
		}
		c.rows[f]++
		c.answer.Rows++
		if c.answer.Rows%checkBatch == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if c.progress != nil {
				c.progress(min(c.answer.Rows, c.total), c.total)
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
func (j *join) full() bool { return len(j.keys) >= checkBatch }

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
	var err error
	if c.State, err = c.db.states.Read(c.r, c.db.catalogue()); err != nil {
		return err
	}
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
	for _, d := range c.db.catalogue().Declarations() {
		c.names[d.Family] = d.Name
	}
	for f, n := range c.Totals.Rows {
		if c.checks(f) || f == schema.FamilyUtxo {
			c.total += n
		}
	}
	passes := []func() error{c.outputs, c.accounts}
	if c.answer.Blocks = c.Totals.Rows[schema.FamilyBlock]; c.only == nil {
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
			c.answer.Problems = slices.Insert(c.answer.Problems, 0, ProblemAnswer{c.names[unread.family], "", text})
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
	for _, x := range c.db.catalogue().All {
		if x.Dropped() && (c.Change == nil || c.Change.Index != x) {
			c.problem(schema.FamilyMeta, schema.MetaIndexes,
				"index %s is neither active nor being dropped: the next birthmark sync removes its remaining rows", x.Name)
		}
	}
	return c.scan(schema.FamilyMeta, func(_, _ []byte) error { return nil })
}

// blocks checks that heights have no gap, that each block is the parent of the next, that hashes and heights map to each
// other, and that the last block is the tip.
func (c *checker) blocks() error {
	hashes := c.join(schema.FamilyHeight)
	last := model.Point{}
	hasher, _ := c.db.chain.(model.HeaderHasher)
	err := c.scan(schema.FamilyBlock, func(k, v []byte) error {
		h, err := model.ParseHeightPk(k)
		if err != nil {
			return err
		}
		row, err := schema.ParseBlockRow(v)
		if err != nil {
			return err
		}
		c.checksum += row.Checksum()
		if hasher != nil {
			if hash, err := hasher.HashHeader(row.Header); err != nil || hash != row.Hash {
				c.problem(schema.FamilyBlock, k, "the header does not hash to the block's hash")
			}
		}
		switch {
		case len(c.txCount) == 0:
			c.first = h
			if h > 1 {
				c.problem(schema.FamilyBlock, k, "the height of the first block is %d, expected 0 or 1", h)
			}
		case h != last.Height+1:
			return fmt.Errorf("follows block %d", last.Height)
		case row.Parent != last.Hash:
			c.problem(schema.FamilyBlock, k, "its parent is not block %d", last.Height)
		}
		c.txCount = append(c.txCount, int32(row.TxCount))
		last = model.Point{Height: h, Hash: row.Hash, Slot: row.Slot}
		key := append([]byte(nil), k...)
		hashes.add(row.Hash[:], func(v []byte) {
			if at, time, err := schema.ParseHeightRow(v); err != nil || at != h || time != row.Time {
				c.problem(schema.FamilyBlock, key, "the row of its hash does not point back to it")
			}
		})
		return flushFull(hashes)
	})
	if err != nil {
		return err
	}
	c.answer.Blocks = uint64(len(c.txCount))
	if last != c.Tip {
		c.problem(schema.FamilyMeta, schema.MetaTip, "the tip is %d %s, the last block %d %s", c.Tip.Height, c.Tip.Hash, last.Height, last.Hash)
	}
	if err := hashes.flush(); err != nil {
		return err
	}
	return c.count(schema.FamilyHeight, uint64(len(c.txCount)), "blocks")
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

// txs checks that the transactions of a block have no gap and the number in the block's row, and that hashes and pointers
// map to each other.
func (c *checker) txs() error {
	hashes := c.join(schema.FamilyTxPk)
	seen := make([]int32, len(c.txCount))
	genesis, atZero := uint64(0), 0
	err := c.scan(schema.FamilyTxHash, func(k, v []byte) error {
		pk, err := model.ParseTxPk(k)
		if err != nil {
			return err
		}
		hash, fee, err := schema.ParseTxHashRow(v)
		if err != nil {
			return err
		}
		c.checksum += schema.HashChecksum(&hash) + fee.Amount
		index := pk.TxIndex()
		if pk.Height() == 0 {
			if index != atZero {
				c.problem(schema.FamilyTxHash, k, "the transaction before it is missing")
			}
			atZero++
			if uint64(index) < c.Totals.GenesisTxs {
				genesis++
			}
			index -= int(c.Totals.GenesisTxs)
		}
		if index >= 0 {
			switch at := int64(pk.Height()) - int64(c.first); {
			case at < 0 || at >= int64(len(seen)):
				c.problem(schema.FamilyTxHash, k, "there is no block at its height")
			case int32(index) != seen[at] && pk.Height() > 0:
				c.problem(schema.FamilyTxHash, k, "the transaction before it is missing")
				seen[at]++
			default:
				seen[at]++
			}
		}
		key := append([]byte(nil), k...)
		hashes.add(schema.AppendTxPkKey(nil, &hash, pk), func(v []byte) {
			if v == nil || len(v) > 0 {
				c.problem(schema.FamilyTxHash, key, "the row of its hash does not point back to it")
			}
		})
		return flushFull(hashes)
	})
	if err != nil {
		return err
	}
	if err := hashes.flush(); err != nil {
		return err
	}
	for i, n := range seen {
		if h := c.first + model.HeightPk(i); n != c.txCount[i] {
			c.problem(schema.FamilyBlock, h.AppendTo(nil), "the row counts %d transactions, there are %d", c.txCount[i], n)
		}
	}
	if genesis != c.Totals.GenesisTxs {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals count %d genesis transactions, there are %d", c.Totals.GenesisTxs, genesis)
	}
	return c.count(schema.FamilyTxPk, c.rows[schema.FamilyTxHash], "transactions")
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
	for _, d := range c.db.catalogue().Declarations() {
		if d.Family != schema.FamilyMeta && schema.Determined(d.Family) && c.checks(d.Family) && c.rows[d.Family] != c.Totals.Rows[d.Family] {
			c.problem(d.Family, nil, "%d rows, the totals count %d", c.rows[d.Family], c.Totals.Rows[d.Family])
		}
	}
	if c.only != nil {
		return
	}
	if c.assets != c.Totals.Assets {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals count %d asset entries, there are %d", c.Totals.Assets, c.assets)
	}
	if c.unspentValue != c.Totals.UnspentValue {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals have an unspent value of %d, the unspent outputs have %d", c.Totals.UnspentValue, c.unspentValue)
	}
	if c.checksum != c.Totals.Checksum {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals have checksum %d, the rows have %d", c.Totals.Checksum, c.checksum)
	}
	if c.Tip.IsOrigin() {
		return
	}
	issued, exact, ok := c.db.chain.Supply(c.Tip.Height)
	if ok && (c.unspentValue > issued || exact && c.unspentValue != issued) {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the unspent value is %d, the chain has issued %d at height %d", c.unspentValue, issued, c.Tip.Height)
	}
}
