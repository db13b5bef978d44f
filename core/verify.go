package core

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"birthmark/core/schema"
	"birthmark/model"
)

// VerifyOptions say how much of a database is compared.
type VerifyOptions struct {
	Sample   int                      // random blocks besides the first and the last; all where that is more than there are
	Seed     uint64                   // the same seed chooses the same blocks, most of them also after the chain has grown
	Progress func(done, total uint64) // blocks
}

// DefaultSample is how many random blocks are enough to find what is wrong in one block of fifty, in 87 cases of 100.
const DefaultSample = 100

// maxDifferences is how many differences are listed.
const maxDifferences = 100

// Verify compares a database with a source that can be asked for single blocks ([model.BlockReader] or
// [model.ChildReader], else an error of kind [model.Usage]) and was opened with db.Indexes() and db.KeepsRaw(): whether the tip is on the source's chain; of a sample of blocks
// everything in them, asked the way users ask, from hash, outpoint and value to what is found and back; and what is
// unspent, where the source counts it ([model.UnspentCounter]). It reads one snapshot. What differs is in the answer,
// an error says that it could not compare.
func Verify(ctx context.Context, db *DB, src model.Source, o VerifyOptions) (*VerifyAnswer, error) {
	asks, err := newVerifySource(src)
	if err != nil {
		return nil, err
	}
	v := &verifier{src: asks, o: o}
	err = db.from(ctx, func(q *query) error {
		v.query = q
		return v.run()
	})
	if err != nil {
		return nil, err
	}
	v.a.OK = len(v.a.Differences) == 0
	return v.a, nil
}

type verifier struct {
	*query
	src     *verifySource
	o       VerifyOptions
	a       *VerifyAnswer
	first   model.HeightPk // the chain's first block
	last    model.HeightPk // the newest block both have
	derived *derivedRows   // of the block at hand
}

// differ notes that the two sides are not the same, where they are not.
func (v *verifier) differ(d DifferenceAnswer, source, database string) {
	if source == database {
		return
	}
	if len(v.a.Differences) == maxDifferences {
		v.a.More++
		return
	}
	d.Source, d.Database = source, database
	v.a.Differences = append(v.a.Differences, d)
}

func (v *verifier) run() error {
	if v.tip.IsOrigin() {
		return model.Errorf(model.NotFound, "unknown_block", "nothing to verify: the database has no blocks yet")
	}
	tip, err := v.src.Tip(v.ctx)
	if err != nil {
		return err
	}
	// As meta counts: a first block whose row is missing is to be found.
	v.first = v.tip.Height + 1 - model.HeightPk(v.totals.Rows[schema.FamilyBlock])
	if tip.IsOrigin() || tip.Height < v.first {
		return model.Errorf(model.BadSource, "source_empty", "nothing to verify with: the source has no blocks yet")
	}
	v.a = &VerifyAnswer{
		Chain: v.Chain.Name(), Network: v.Chain.Network(), Seed: v.o.Seed,
		Tip: v.pointAnswer(v.tip), SourceTip: v.pointAnswer(tip), Differences: []DifferenceAnswer{},
	}
	if tip.Height > v.tip.Height {
		v.a.Behind = uint32(tip.Height - v.tip.Height)
	} else {
		v.a.Ahead = uint32(v.tip.Height - tip.Height)
	}
	end, err := v.common(v.first, min(tip.Height, v.tip.Height))
	if err != nil {
		return err
	}
	if err := v.unspent(tip); err != nil {
		return err
	}
	heights := choose(v.first, end, v.o.Sample, v.o.Seed)
	done := uint64(0)
	for a := range v.sourceBlocks(heights) {
		if v.o.Progress != nil {
			v.o.Progress(done, uint64(len(heights)))
		}
		done++
		b, err := v.blockOf(a, heights)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		if err := v.block(b); err != nil {
			return fmt.Errorf("verify block %d: %w", a.height, err)
		}
	}
	if v.o.Progress != nil {
		v.o.Progress(uint64(len(heights)), uint64(len(heights)))
	}
	return nil
}

func (v *verifier) pointAnswer(p model.Point) PointAnswer {
	return PointAnswer{uint32(p.Height), v.Chain.FormatHash(p.Hash)}
}

// common is the height from which on the database and the source do not have the same blocks, looked for between
// first and last, one above last where both are on one chain.
func (v *verifier) common(first, last model.HeightPk) (model.HeightPk, error) {
	same, err := v.shares(last)
	if err != nil {
		return 0, err
	}
	if same {
		v.last = last
		return last + 1, nil
	}
	low, high := first, last // below low they are the same, at high they are not
	for low < high {
		middle := low + (high-low)/2
		if same, err = v.shares(middle); err != nil {
			return 0, err
		}
		if same {
			low = middle + 1
		} else {
			high = middle
		}
	}
	ours, theirs, err := v.hashesAt(high)
	if err != nil {
		return 0, err
	}
	at := uint32(high)
	v.a.PartsAt = &at
	v.differ(DifferenceAnswer{Height: at, What: "the chains part here: hash of the block"}, theirs, ours)
	if high > first {
		v.last = high - 1
	}
	return high, nil
}

// unspent compares what is unspent after the tip with the source's count.
func (v *verifier) unspent(tip model.Point) error {
	counter, ok := v.src.Source.(model.UnspentCounter)
	if !ok {
		return nil
	}
	v.a.Unspent = &UnspentAnswer{}
	// Counting takes a node minutes, so it is asked only where there is hope.
	if tip.Height != v.tip.Height || tip.Hash != v.tip.Hash {
		v.a.Unspent.Reason = "the source's tip is not the database's"
		return nil
	}
	theirs, err := counter.Unspent(v.ctx)
	if kind, code := model.KindOf(err); err != nil && kind == model.NotFound && code == "not_offered" {
		v.a.Unspent.Reason = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	if theirs.At.Height != v.tip.Height || theirs.At.Hash != v.tip.Hash {
		v.a.Unspent.Reason = fmt.Sprintf("the source counted after block %d meanwhile", theirs.At.Height)
		return nil
	}
	outputs := v.totals.Rows[schema.FamilyUtxo] - v.totals.Rows[schema.FamilySpentInput]
	*v.a.Unspent = UnspentAnswer{
		Compared: true,
		Source:   &UnspentSideAnswer{int64(theirs.Outputs), strconv.FormatUint(theirs.Value, 10)},
		Database: &UnspentSideAnswer{int64(outputs), strconv.FormatUint(v.totals.UnspentValue, 10)},
		More:     &UnspentSideAnswer{int64(outputs - theirs.Outputs), less(v.totals.UnspentValue, theirs.Value)},
	}
	at := DifferenceAnswer{Height: uint32(v.tip.Height)}
	if at.What = "number of unspent outputs, at least"; outputs < theirs.Outputs {
		v.differ(at, fmt.Sprint(theirs.Outputs), fmt.Sprint(outputs))
	}
	if at.What = "value of unspent outputs, at least"; v.totals.UnspentValue < theirs.Value {
		v.differ(at, v.a.Unspent.Source.Value, v.a.Unspent.Database.Value)
	}
	return nil
}

// less is a - b, negative where b is more.
func less(a, b uint64) string {
	return new(big.Int).Sub(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)).String()
}

// choose takes the first and the last height before end, and n of those in between, in order. Every height has a rank
// of its own that seed decides, and the lowest are chosen: so a longer chain changes few of them.
func choose(first, end model.HeightPk, n int, seed uint64) []model.HeightPk {
	type ranked struct {
		rank   uint64
		height model.HeightPk
	}
	n = max(n, 0)
	var some []ranked
	cut := func() {
		slices.SortFunc(some, func(a, b ranked) int {
			if a.rank < b.rank {
				return -1
			}
			return 1 // no two are the same: rank is one-to-one
		})
		some = some[:min(n, len(some))]
	}
	for h := first + 1; h+1 < end; h++ {
		if some = append(some, ranked{rank(seed, uint64(h)), h}); len(some) >= 2*n+1000 {
			cut()
		}
	}
	cut()
	var heights []model.HeightPk
	for _, r := range some {
		heights = append(heights, r.height)
	}
	if first < end {
		heights = append(heights, first)
	}
	if first+1 < end {
		heights = append(heights, end-1)
	}
	slices.Sort(heights)
	return heights
}

// rank mixes a number into a seed (splitmix64).
func rank(seed, n uint64) uint64 {
	z := seed + n*spreadA
	z = (z ^ z>>30) * spreadB
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
