package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"birthmark/core/ingest"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Options control [Run].
type Options struct {
	Sample   int                      // number of random blocks in addition to the first and the last
	Seed     uint64                   // the same seed chooses the same blocks, and most of them after the chain has grown
	Progress func(done, total uint64) // in blocks
}

// DefaultSample is the default of Options.Sample. It finds an error in one block of fifty in 87 of 100 cases.
const DefaultSample = 100

// maxDifferences bounds the differences that an answer lists.
const maxDifferences = 100

// Run compares a database with a source. r reads a snapshot of the database. Run checks that the tip is on the source's
// chain, compares the rows of a sample of blocks with the rows that ingest derives from the source's blocks, and
// compares the unspent outputs if the source counts them ([model.UnspentCounter]). The result lists the differences.
//
// The source must provide single blocks ([model.BlockReader] or [model.ChildReader]), otherwise Run returns an error
// of kind [model.Usage] (bad_source). It must have been opened with the indexes of the database, and with raw
// transactions if the database keeps them. Other errors come from the source and the snapshot, or have the codes
// source_empty, source_moved and unknown_block.
func Run(ctx context.Context, r storage.Reader, l *schema.Layout, src model.Source, o Options) (*Result, error) {
	s, err := newSource(src)
	if err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(_, _ uint64) {}
	}
	v := &verifier{Layout: l, ctx: ctx, r: r, src: s, o: o}
	if v.State, err = new(schema.StateReader).Read(r, l); err != nil {
		return nil, err
	}
	if err := v.run(); err != nil {
		return nil, err
	}
	v.result.OK = len(v.result.Differences) == 0
	return v.result, nil
}

type verifier struct {
	*schema.Layout
	schema.State
	ctx     context.Context
	r       storage.Reader
	src     *source
	o       Options
	result  *Result
	first   model.HeightPk // the first block of the chain
	last    model.HeightPk // the last block that both have
	derived *blockRows     // rows of the current block
	tokens  ingest.Tokens  // state of derived assets before the block at next
	next    model.HeightPk
}

// report reports a difference if both sides are not equal.
func (v *verifier) report(d Difference, source, database string) {
	if source == database {
		return
	}
	if len(v.result.Differences) == maxDifferences {
		v.result.More++
		return
	}
	d.Source, d.Database = source, database
	v.result.Differences = append(v.result.Differences, d)
}

func (v *verifier) run() error {
	if v.Tip.IsOrigin() {
		return model.Errorf(model.NotFound, "unknown_block", "nothing to verify: the database has no blocks yet")
	}
	tip, err := v.src.Tip(v.ctx)
	if err != nil {
		return err
	}
	// The totals give the first block even if its row is missing.
	v.first = v.Tip.Height + 1 - model.HeightPk(v.Totals.Rows[schema.FamilyBlock])
	if tip.IsOrigin() || tip.Height < v.first {
		return model.Errorf(model.BadSource, "source_empty", "nothing to verify with: the source has no blocks yet")
	}
	v.result = &Result{
		Chain: v.Chain.Name(), Network: v.Chain.Network(), Seed: v.o.Seed,
		Tip: v.point(v.Tip), SourceTip: v.point(tip), Differences: []Difference{},
	}
	if tip.Height > v.Tip.Height {
		v.result.Behind = uint32(tip.Height - v.Tip.Height)
	} else {
		v.result.Ahead = uint32(v.Tip.Height - tip.Height)
	}
	end, err := v.firstDifference(v.first, min(tip.Height, v.Tip.Height))
	if err != nil {
		return err
	}
	if err := v.unspent(tip); err != nil {
		return err
	}
	heights := chooseHeights(v.first, end, v.o.Sample, v.o.Seed)
	done := uint64(0)
	for f := range v.sourceBlocks(heights) {
		v.o.Progress(done, uint64(len(heights)))
		done++
		b, err := v.blockOf(f, heights)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		if err := v.block(b); err != nil {
			return fmt.Errorf("verify block %d: %w", f.height, err)
		}
	}
	v.o.Progress(done, uint64(len(heights)))
	return nil
}

func (v *verifier) point(p model.Point) Point {
	return Point{uint32(p.Height), v.Chain.FormatHash(p.Hash)}
}

// firstDifference returns the first height between first and last at which the blocks of the database and of the
// source differ; last+1 if there is none.
func (v *verifier) firstDifference(first, last model.HeightPk) (model.HeightPk, error) {
	same, err := v.sharesBlock(last)
	if err != nil {
		return 0, err
	}
	if same {
		v.last = last
		return last + 1, nil
	}
	parts := first + model.HeightPk(sort.Search(int(last-first), func(n int) bool {
		if err == nil {
			same, err = v.sharesBlock(first + model.HeightPk(n))
		}
		return err != nil || !same
	}))
	if err != nil {
		return 0, err
	}
	ours, theirs, err := v.hashesAt(parts)
	if err != nil {
		return 0, err
	}
	at := uint32(parts)
	v.result.PartsAt = &at
	v.report(Difference{Height: at, What: "hash of the first block that differs"}, theirs, ours)
	if parts > first {
		v.last = parts - 1
	}
	return parts, nil
}

// unspent compares the unspent outputs at the tip with the count of the source.
func (v *verifier) unspent(tip model.Point) error {
	counter, ok := v.src.Source.(model.UnspentCounter)
	if !ok {
		return nil
	}
	v.result.Unspent = &Unspent{}
	// A node needs minutes to count.
	if tip.Height != v.Tip.Height || tip.Hash != v.Tip.Hash {
		v.result.Unspent.Reason = "the source has another tip than the database"
		return nil
	}
	theirs, err := counter.Unspent(v.ctx)
	if kind, code := model.KindOf(err); err != nil && kind == model.NotFound && code == "not_offered" {
		v.result.Unspent.Reason = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	if theirs.At.Height != v.Tip.Height || theirs.At.Hash != v.Tip.Hash {
		v.result.Unspent.Reason = fmt.Sprintf("the source counted at block %d, which is not the tip", theirs.At.Height)
		return nil
	}
	outputs := v.Totals.Rows[schema.FamilyUtxo] - v.Totals.Rows[schema.FamilySpentInput]
	more := schema.Int128Of(v.Totals.UnspentValue, 1).Sub(schema.Int128Of(theirs.Value, 1))
	*v.result.Unspent = Unspent{
		Compared: true,
		Source:   &Count{int64(theirs.Outputs), strconv.FormatUint(theirs.Value, 10)},
		Database: &Count{int64(outputs), strconv.FormatUint(v.Totals.UnspentValue, 10)},
		More:     &Count{int64(outputs - theirs.Outputs), more.String()},
	}
	at := Difference{Height: uint32(v.Tip.Height)}
	if at.What = "number of unspent outputs, at least"; outputs < theirs.Outputs {
		v.report(at, fmt.Sprint(theirs.Outputs), fmt.Sprint(outputs))
	}
	if at.What = "value of unspent outputs, at least"; v.Totals.UnspentValue < theirs.Value {
		v.report(at, v.result.Unspent.Source.Value, v.result.Unspent.Database.Value)
	}
	return nil
}

// chooseHeights returns the first and the last height before end and n random heights between them, in order. It
// chooses the heights with the lowest rank. The rank depends on the seed and the height alone, so a longer chain
// changes few of them.
func chooseHeights(first, end model.HeightPk, n int, seed uint64) (heights []model.HeightPk) {
	n = max(n, 0)
	cut := func() {
		slices.SortFunc(heights, func(a, b model.HeightPk) int {
			return cmp.Compare(rank(seed, uint64(a)), rank(seed, uint64(b)))
		})
		heights = heights[:min(n, len(heights))]
	}
	for h := first + 1; h+1 < end; h++ {
		if heights = append(heights, h); len(heights) >= 2*n+1000 {
			cut()
		}
	}
	cut()
	if first < end {
		heights = append(heights, first)
	}
	if first+1 < end {
		heights = append(heights, end-1)
	}
	slices.Sort(heights)
	return heights
}

// rank mixes a number into a seed (splitmix64). It is one-to-one.
func rank(seed, n uint64) uint64 {
	z := seed + n*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
