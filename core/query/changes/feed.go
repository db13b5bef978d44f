package changes

import (
	"context"
	"errors"
	"iter"

	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// BlockEvery is the maximum number of blocks between two [Change] events of type block.
const BlockEvery = 1000

// Locator returns the points that a consumer must store after processing p. Passed to [Follow] as known, they let the
// consumer resume, also after a reorganization. P is a block of the chain, or the origin, whose locator is empty.
func Locator(ctx context.Context, qs query.Queries, p model.Point) ([]model.Point, error) {
	if p.IsOrigin() {
		return nil, nil
	}
	const dense = 20 // shallower reorganizations are located exactly, deeper ones resend some blocks
	return qs.Ancestors(ctx, p, dense)
}

// Start returns the point from which [Follow] starts for known: the newest known point that is part of the chain, or
// the origin. Behind is the number of blocks after it.
func Start(ctx context.Context, qs query.Queries, known []model.Point) (p model.Point, behind uint64, err error) {
	err = qs.From(ctx, func(q *query.Query) error {
		p, err = newest(q, known)
		if behind = uint64(q.Tip.Height - p.Height); p.IsOrigin() {
			behind = q.Totals.Rows[schema.FamilyBlock]
		}
		return err
	})
	return p, behind, err
}

// Confirmed returns the newest block with a number of confirmations, or the origin without one. [Follow] ends there
// with [Filter.Confirmations].
func Confirmed(ctx context.Context, qs query.Queries, confirmations int) (p model.Point, err error) {
	err = qs.From(ctx, func(q *query.Query) error {
		p, err = confirmed(q, confirmations)
		return err
	})
	return p, err
}

func confirmed(q *query.Query, confirmations int) (model.Point, error) {
	if confirmations <= 1 || q.Tip.IsOrigin() {
		return q.Tip, nil
	}
	h := int64(q.Tip.Height) - int64(confirmations) + 1
	if h < 0 {
		return model.Point{}, nil
	}
	row, ok, err := schema.FindBlock(q.R, model.HeightPk(h))
	if !ok {
		return model.Point{}, err // below the first block
	}
	return row.Point(model.HeightPk(h)), err
}

// errStopped ends a feed whose consumer stopped the iteration.
var errStopped = errors.New("the consumer stopped")

// Follow yields the changes after the newest known point that is still part of the chain, up to the tip. Known is
// ordered newest first; the origin is implied at its end. The first event is a rollback to that point, even if there
// was no reorganization. The last event is the tip block, unless the feed starts there.
//
// A consumer that is interrupted ends with the same state as one that is not, if it stores the result of [Locator]
// for a block after processing the block (for any block since the last rollback), and for a rollback before
// processing it. Otherwise the chain could return to blocks that the consumer received and reverted. A value that no
// output has yet is not an error.
//
// If [Filter.Resume] is still in the chain, after the first point of known, the feed starts there without a rollback:
// the consumer keeps the changes of the block that it already received.
//
// Without Spends, Follow reads the matching outputs, or all outputs of the blocks if a term has no value. With
// Spends, it also reads the inputs of the blocks, or the histories of the values if they are shorter.
func Follow(ctx context.Context, qs query.Queries, known []model.Point, what Filter) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := qs.From(ctx, func(q *query.Query) error {
			f := changeReader{Query: q.Unlimited(), what: what, emit: func(e Change) error {
				switch {
				case e.Block != nil:
					e.Hash = e.Summary.Hash
				case e.Rollback != nil:
					e.Hash = q.Chain.FormatHash(e.Rollback.Hash)
				}
				if !yield(e, nil) {
					return errStopped
				}
				return nil
			}}
			return f.follow(known)
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Change{}, err)
		}
	}
}

// NamedTerms returns the terms of a filter in the form in which answers contain them in keys and assets: an output
// matches a term if it contains it. It fails as Follow does for invalid terms, and with unknown_asset for the
// fingerprint of an asset that does not occur yet.
func NamedTerms(ctx context.Context, qs query.Queries, what Filter) (named []query.Term, err error) {
	err = qs.From(ctx, func(q *query.Query) error {
		terms, err := what.terms()
		for _, t := range terms {
			if t, err = canonical(q, t); err != nil {
				return err
			}
			named = append(named, t)
		}
		return err
	})
	return named, err
}

// canonical returns a term in the form in which answers contain it.
func canonical(q *query.Query, t query.Term) (query.Term, error) {
	switch {
	case t.Index == query.AssetTerm && t.Value == "":
		return t, nil
	case t.Index == query.AssetTerm:
		id, _, err := q.Asset(t.Value)
		if query.UnknownAsset(err) {
			if parsed, bad := q.Chain.ParseAsset(t.Value); bad == nil {
				id, err = parsed, nil
			}
		}
		if err == nil {
			t.Value = q.Chain.FormatAsset(id)
		}
		return t, err
	}
	t.Index = q.IndexFor(t.Index, t.Value)
	x, err := q.Index(t.Index)
	if err != nil || t.Value == "" {
		return t, err
	}
	raw, err := x.Parse(t.Value)
	if err != nil {
		return t, model.Errorf(model.Usage, "bad_value", "%s: %w", t.Index, err)
	}
	t.Value = x.Format(raw)
	return t, nil
}

// terms returns all terms of the filter.
func (what *Filter) terms() ([]query.Term, error) {
	terms := append([]query.Term{what.Term}, what.Or...)
	if len(terms) > query.MaxTerms {
		return nil, model.Errorf(model.Usage, "too_many_terms", "%d values to follow, expected at most %d", len(terms), query.MaxTerms)
	}
	if (what.EveryBlock || what.All || what.List != nil) && what.Term == (query.Term{}) {
		terms = terms[1:]
	}
	return terms, nil
}

// changeReader sends the changes of one snapshot.
type changeReader struct {
	*query.Query
	what  Filter
	emit  func(Change) error
	begin model.HeightPk  // lowest height of a block
	last  model.HeightPk  // last block to send
	sent  int64           // height of the last block sent; below begin: none
	block schema.BlockRow // the current block
	in    *model.HeightPk // height of the block that was sent in part; nil: none
}

func (f *changeReader) follow(known []model.Point) error {
	set, err := f.outputFilter()
	if err != nil {
		return err
	}
	end, err := confirmed(f.Query, f.what.Confirmations)
	if err != nil {
		return err
	}
	from, err := f.startPoint(known)
	if err != nil {
		return err
	}
	if len(known) == 0 && !from.IsOrigin() && (end.IsOrigin() || from.Height > end.Height) {
		return model.Errorf(model.Usage, "empty_range", "%s: the block has fewer than %d confirmations: retry later",
			f.what.Start, f.what.Confirmations)
	}
	resuming, err := f.resumes(known, from)
	if err != nil {
		return err
	}
	if !resuming {
		if err := f.emit(Change{Rollback: &from}); err != nil {
			return err
		}
	}
	if end.IsOrigin() || !from.IsOrigin() && from.Height >= end.Height {
		return nil
	}
	next := model.HeightPk(0)
	if !from.IsOrigin() {
		next = from.Height + 1
		f.begin = next
	} else if f.begin, err = f.FirstBlock(); err != nil {
		return err
	}
	f.sent, f.last = int64(f.begin)-1, end.Height
	if resuming {
		f.in = &f.what.Resume.block.Height
		f.sent = int64(*f.in) - 1
	}
	if most := f.what.MaxBlocks; most > 0 {
		f.last = model.HeightPk(min(int64(f.last), f.sent+int64(most)))
	}
	created := setops.Span{First: model.UtxoPk(f.FirstPk(next)), Last: f.LastPk(f.last)} // including genesis
	spent := created
	if resuming {
		created.First, spent.First = max(created.First, f.what.Resume.output), max(spent.First, f.what.Resume.input)
	}
	outputs, stop := iter.Pull2(set.created(created))
	defer stop()
	spends := func() (o spentOutput, err error, ok bool) { return o, nil, false }
	if f.what.Spends {
		var stop func()
		spends, stop = iter.Pull2(set.spent(spent))
		defer stop()
	}
	if err := f.merge(outputs, spends); err != nil {
		return err
	}
	return f.until(int64(f.last))
}

// resumes reports whether the feed can resume at [Filter.Resume]: its block is in the chain, and from is the newest
// known point.
func (f *changeReader) resumes(known []model.Point, from model.Point) (bool, error) {
	w := f.what.Resume
	if w == nil || len(known) > 0 && from != known[0] || len(known) == 0 && !from.IsOrigin() {
		return false, nil
	}
	p, err := newest(f.Query, []model.Point{w.block})
	return !p.IsOrigin(), err
}

// startPoint returns the newest known point that is part of the chain. Without known points it returns the block before the
// start.
func (f *changeReader) startPoint(known []model.Point) (model.Point, error) {
	if len(known) == 0 && f.what.Start != nil {
		s, err := f.Query.Span(*f.what.Start)
		if err != nil || s.First.Height() == 0 {
			return model.Point{}, err
		}
		below := s.First.Height() - 1
		row, ok, err := schema.FindBlock(f.R, below)
		if !ok {
			return model.Point{}, err // only genesis is below the first block
		}
		return row.Point(below), err
	}
	return newest(f.Query, known)
}

// newest returns the newest of points that is part of the chain, or the origin if none is.
func newest(q *query.Query, points []model.Point) (model.Point, error) {
	for _, p := range points {
		row, ok, err := schema.FindBlock(q.R, p.Height)
		if err != nil || ok && row.Hash == p.Hash {
			return row.Point(p.Height), err
		}
	}
	return model.Point{}, nil
}
