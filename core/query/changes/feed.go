package changes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// ChangeFilter says what a program wants to be told of.
type Filter struct {
	query.Term              // without a value: every output that has one of the index, or that holds assets ([AssetTerm])
	Or         []query.Term // what these say as well; an output that is meant more than once is told once
	Spends     bool         // what spends those outputs as well
	Start      *query.Range // where to begin if nothing is known: at the first block of the range

	All        bool      // every output is told, whatever it has, for a program that picks those it wants; without a Term
	EveryBlock bool      // blocks with nothing in them are told too; with it there need not be a Term
	MaxBlocks  int       // so many blocks are told of, then it ends; 0: up to the tip
	Resume     *Position // what comes behind known is told up to here
}

// Position is a place in the middle of a block: behind one of the outputs and spends that are told of it. Who cannot take a
// block as a whole goes on there.
type Position struct {
	block  model.Point
	output model.UtxoPk // the first that is not told
	input  model.UtxoPk // likewise
}

// Change is what one who follows is told next.
//
// Output and Spend change what he has, in the order of the chain; an output is told without what spends it. Block says
// that everything up to that block was told: what was told since the last Block or Rollback counts from now on.
// Rollback takes back what stands above its block, and what was told and did not count yet.
type Change struct {
	Output *query.OutputAnswer
	Spend  *SpendAnswer
	Block  *model.Point
	// Rollback to the origin takes everything back.
	Rollback *model.Point
	Hash     string // of Block or Rollback, as people write it

	Summary  query.BlockSummaryAnswer // of Block
	Spent    *query.OutputAnswer      // what Spend spends, with [ChangeFilter.All]; else nil
	Position Position                 // behind Output or Spend
}

// SpendAnswer is an output that is spent, and by what.
type SpendAnswer struct {
	Tx      string              `json:"tx"`
	Index   int                 `json:"index"`
	Height  uint32              `json:"height"`
	SpentBy query.SpentByAnswer `json:"spent_by"`
}

// MarshalJSON writes one object with the type of the event in it.
func (e Change) MarshalJSON() ([]byte, error) {
	var object any
	switch {
	case e.Output != nil:
		object = struct {
			Type string `json:"type"`
			*query.OutputAnswer
		}{"output", e.Output}
	case e.Spend != nil:
		object = struct {
			Type string `json:"type"`
			*SpendAnswer
		}{"spend", e.Spend}
	case e.Block != nil:
		object = struct {
			Type string `json:"type"`
			query.PointAnswer
		}{"block", query.PointAnswer{Height: uint32(e.Block.Height), Hash: e.Hash}}
	default:
		rollback := struct {
			Type string             `json:"type"`
			To   *query.PointAnswer `json:"to"` // null: the origin
		}{Type: "rollback"}
		if !e.Rollback.IsOrigin() {
			rollback.To = &query.PointAnswer{Height: uint32(e.Rollback.Height), Hash: e.Hash}
		}
		object = rollback
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // as every other answer is written
	err := encoder.Encode(object)
	return b.Bytes(), err
}

// BlockEvery is how many blocks at most go by without a [Change] that tells of a block.
const BlockEvery = 1000

// Locator is what a program that has followed up to p has to know to go on from there, or from where the chain parted
// from it meanwhile: known, for [Follow]. P is a block of the chain, or the origin, of which nothing is known.
func Locator(ctx context.Context, ask query.Queries, p model.Point) ([]model.Point, error) {
	if p.IsOrigin() {
		return nil, nil
	}
	const dense = 20 // forks of which are found exactly, deeper ones with a few blocks told again
	return ask.Ancestors(ctx, p, dense)
}

// Start is where [Follow] begins that is told of known: the newest of them that is part of the chain, or the origin;
// and how many blocks come behind it.
func Start(ctx context.Context, ask query.Queries, known []model.Point) (p model.Point, behind uint64, err error) {
	err = ask.From(ctx, func(q *query.Query) error {
		p, err = newest(q, known)
		if behind = uint64(q.Tip.Height - p.Height); p.IsOrigin() {
			behind = q.Totals.Rows[schema.FamilyBlock]
		}
		return err
	})
	return p, behind, err
}

// errStopped ends a feed whose consumer takes no more.
var errStopped = errors.New("the consumer takes no more")

// Follow yields what happened in the database after the newest of known that is still part of the chain (known is ordered
// newest first; the origin is implied at its end), up to the tip. It begins with a rollback to that block, which is the
// newest known one where the chain did not change, and ends with the tip as a block, unless it is where it began.
//
// One who is stopped anywhere ends with the same as one who was told everything without interruption, if he keeps what
// [Locator] says: of a block after he has taken it in, any block since the last rollback, and of a rollback before.
// Else the chain could come back to blocks that he was told of once and has taken back. A value that does not occur yet is
// no error: it may.
//
// Where [ChangeFilter.Resume] still stands in the chain, behind the first of known, it begins there, without a rollback: what was
// told of the block stays told.
//
// Without Spends it reads the outputs it tells of; where none is named, all outputs of the blocks. With Spends it reads
// the inputs of the blocks besides, or the histories of the values where those are shorter.
func Follow(ctx context.Context, ask query.Queries, known []model.Point, what Filter) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := ask.From(ctx, func(q *query.Query) error {
			f := changeReader{Query: q, what: what, tell: func(e Change) error {
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

// NamedTerms are the terms of what is followed as answers have them in their keys and assets: an output is meant by a
// term if it has that. It fails as Follow does for terms that cannot be followed, and with unknown_asset for an asset
// that is named by its fingerprint and does not occur yet.
func NamedTerms(ctx context.Context, ask query.Queries, what Filter) (named []query.Term, err error) {
	err = ask.From(ctx, func(q *query.Query) error {
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

// canonical is a term as answers have it.
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
	x, err := q.Index(t.Index)
	if err != nil || t.Value == "" {
		return t, err
	}
	raw, err := x.Parse(t.Value)
	if err != nil {
		return t, model.Errorf(model.Usage, "bad_value", "%s %q: %w", t.Index, t.Value, err)
	}
	t.Value = x.Format(raw)
	return t, nil
}

// terms are all of what is followed.
func (what *Filter) terms() ([]query.Term, error) {
	terms := append([]query.Term{what.Term}, what.Or...)
	if len(terms) > query.MaxTerms {
		return nil, model.Errorf(model.Usage, "too_many_terms", "%d values to follow: at most %d", len(terms), query.MaxTerms)
	}
	if (what.EveryBlock || what.All) && what.Term == (query.Term{}) {
		terms = terms[1:]
	}
	return terms, nil
}

// changeReader tells what happened in one snapshot.
type changeReader struct {
	*query.Query
	what  Filter
	tell  func(Change) error
	begin model.HeightPk  // no block stands below it
	last  model.HeightPk  // the last block that is told
	told  int64           // the height of the last block that was told, below begin: none
	block schema.BlockRow // the one that is being told
	in    *model.HeightPk // the one that was told in part; nil: none
}

func (f *changeReader) follow(known []model.Point) error {
	set, err := f.followed()
	if err != nil {
		return err
	}
	from, err := f.meet(known)
	if err != nil {
		return err
	}
	within, err := f.within(known, from)
	if err != nil {
		return err
	}
	if !within {
		if err := f.tell(Change{Rollback: &from}); err != nil {
			return err
		}
	}
	if f.Tip.IsOrigin() || from == f.Tip {
		return nil
	}
	next := model.HeightPk(0)
	if !from.IsOrigin() {
		next = from.Height + 1
		f.begin = next
	} else if f.begin, err = f.FirstBlock(); err != nil {
		return err
	}
	f.told, f.last = int64(f.begin)-1, f.Tip.Height
	if within {
		f.in = &f.what.Resume.block.Height
		f.told = int64(*f.in) - 1
	}
	if most := f.what.MaxBlocks; most > 0 {
		f.last = model.HeightPk(min(int64(f.last), f.told+int64(most)))
	}
	came := query.Span{First: model.UtxoPk(next.First()), Last: f.last.Last()} // what existed before the first block as well
	went := came
	if within {
		came.First, went.First = max(came.First, f.what.Resume.output), max(went.First, f.what.Resume.input)
	}
	outputs, stop := iter.Pull2(set.created(came))
	defer stop()
	spends := func() (o spentOutput, err error, ok bool) { return o, nil, false }
	if f.what.Spends {
		var stop func()
		spends, stop = iter.Pull2(set.spent(went))
		defer stop()
	}
	if err := f.merge(outputs, spends); err != nil {
		return err
	}
	return f.until(int64(f.last))
}

// within reports whether the place in a block that is told of stands in the chain behind from.
func (f *changeReader) within(known []model.Point, from model.Point) (bool, error) {
	w := f.what.Resume
	if w == nil || len(known) > 0 && from != known[0] || len(known) == 0 && !from.IsOrigin() {
		return false, nil
	}
	p, err := newest(f.Query, []model.Point{w.block})
	return !p.IsOrigin(), err
}

// meet is the newest of known that is part of the chain. Where nothing is known it is the block before the start.
func (f *changeReader) meet(known []model.Point) (model.Point, error) {
	if len(known) == 0 && f.what.Start != nil {
		s, err := f.Query.Span(*f.what.Start)
		if err != nil || s.First == 0 {
			return model.Point{}, err
		}
		row, err := schema.BlockAt(f.R, s.First.Height()-1)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			return model.Point{}, nil // what existed before the first block stands below it
		}
		return model.Point{Height: s.First.Height() - 1, Hash: row.Hash, Slot: row.Slot}, err
	}
	return newest(f.Query, known)
}

// newest is the newest of points that is part of the chain; the origin where none is.
func newest(q *query.Query, points []model.Point) (model.Point, error) {
	for _, p := range points {
		row, err := schema.BlockAt(q.R, p.Height)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			continue
		}
		if err != nil {
			return model.Point{}, err
		}
		if row.Hash == p.Hash {
			return model.Point{Height: p.Height, Hash: row.Hash, Slot: row.Slot}, nil
		}
	}
	return model.Point{}, nil
}

// createdOutput is an output that is told of, and the height it stands at.
type createdOutput struct {
	pk     model.UtxoPk
	output *query.OutputAnswer
}

// spentOutput is an output that is followed and spent.
type spentOutput struct {
	pk     model.InputPk // of what spends it
	spend  *SpendAnswer
	output *query.OutputAnswer // nil: not asked for
}

// merge tells of outputs and spends, block by block: what comes, then what goes, which may have come in the same block.
func (f *changeReader) merge(outputs func() (createdOutput, error, bool), spends func() (spentOutput, error, bool)) error {
	o, err, more := outputs()
	if err != nil {
		return err
	}
	s, err, further := spends()
	if err != nil {
		return err
	}
	for more || further || f.in != nil {
		h := s.pk.Height()
		switch {
		case f.in != nil: // it is told to its end, also where nothing is left of it
			h, f.in = *f.in, nil
		case !further || more && o.pk.Height() < h:
			h = o.pk.Height()
		}
		// What existed before the first block is told with it.
		h = max(h, f.begin)
		if err := f.until(int64(h) - 1); err != nil {
			return err
		}
		if f.block, err = schema.BlockAt(f.R, h); err != nil {
			return err
		}
		in := Position{block: model.Point{Height: h, Hash: f.block.Hash, Slot: f.block.Slot}}
		for more && o.pk.Height() <= h {
			in.output = o.pk + 1
			if err := f.tell(Change{Output: o.output, Position: in}); err != nil {
				return err
			}
			if o, err, more = outputs(); err != nil {
				return err
			}
		}
		in.output = h.Last() + 1
		for further && s.pk.Height() <= h {
			in.input = model.UtxoPk(s.pk) + 1
			if err := f.tell(Change{Spend: s.spend, Spent: s.output, Position: in}); err != nil {
				return err
			}
			if s, err, further = spends(); err != nil {
				return err
			}
		}
		if err := f.emitBlock(h); err != nil {
			return err
		}
	}
	return nil
}

// until tells of blocks in which there was nothing: of all of them, or every now and then and of the last.
func (f *changeReader) until(h int64) error {
	step := int64(BlockEvery)
	if f.what.EveryBlock {
		step = 1
	}
	for f.told < h {
		next := f.told + step
		if next > h {
			if h != int64(f.last) {
				break
			}
			next = h
		}
		if err := f.Ctx.Err(); err != nil {
			return err
		}
		var err error
		if f.block, err = schema.BlockAt(f.R, model.HeightPk(next)); err != nil {
			return err
		}
		if err := f.emitBlock(model.HeightPk(next)); err != nil {
			return err
		}
	}
	return f.Ctx.Err()
}

// emitBlock tells of the block at h, which was read.
func (f *changeReader) emitBlock(h model.HeightPk) error {
	f.told = int64(h)
	b := &f.block
	return f.tell(Change{
		Block: &model.Point{Height: h, Hash: b.Hash, Slot: b.Slot},
		Summary: query.BlockSummaryAnswer{
			Height: uint32(h), Hash: f.Chain.FormatHash(b.Hash), Time: b.Time, Size: b.Size, TxCount: b.TxCount,
		},
	})
}
