package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"

	"birthmark/model"
)

// Following says what a program wants to be told of.
type Following struct {
	Term          // without a value: every output that has one of the index, or that holds assets ([AssetTerm])
	Spends bool   // what spends those outputs as well
	Start  *Range // where to begin if nothing is known: at the first block of the range
}

// FollowEvent is what one who follows is told next.
//
// Output and Spend change what he has, in the order of the chain; an output is told without what spends it. Block says
// that everything up to that block was told: what was told since the last Block or Rollback counts from now on.
// Rollback takes back what stands above its block, and what was told and did not count yet.
type FollowEvent struct {
	Output *OutputAnswer
	Spend  *SpendAnswer
	Block  *model.Point
	// Rollback to the origin takes everything back.
	Rollback *model.Point
	Hash     string // of Block or Rollback, as people write it
}

// SpendAnswer is an output that is spent, and by what.
type SpendAnswer struct {
	Tx      string        `json:"tx"`
	Index   int           `json:"index"`
	Height  uint32        `json:"height"`
	SpentBy SpentByAnswer `json:"spent_by"`
}

// MarshalJSON writes one object with the type of the event in it.
func (e FollowEvent) MarshalJSON() ([]byte, error) {
	var object any
	switch {
	case e.Output != nil:
		object = struct {
			Type string `json:"type"`
			*OutputAnswer
		}{"output", e.Output}
	case e.Spend != nil:
		object = struct {
			Type string `json:"type"`
			*SpendAnswer
		}{"spend", e.Spend}
	case e.Block != nil:
		object = struct {
			Type string `json:"type"`
			PointAnswer
		}{"block", PointAnswer{uint32(e.Block.Height), e.Hash}}
	default:
		rollback := struct {
			Type string       `json:"type"`
			To   *PointAnswer `json:"to"` // null: the origin
		}{Type: "rollback"}
		if !e.Rollback.IsOrigin() {
			rollback.To = &PointAnswer{uint32(e.Rollback.Height), e.Hash}
		}
		object = rollback
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // as every other answer is written
	err := encoder.Encode(object)
	return b.Bytes(), err
}

// BlockEvery is how many blocks at most go by without a [FollowEvent] that tells of a block.
const BlockEvery = 1000

// FollowLocator is what a program that has followed up to p has to know to go on from there, or from where the chain parted
// from it meanwhile: known, for [Queries.Follow]. P is a block of the chain, or the origin, of which nothing is known.
func (ask Queries) FollowLocator(ctx context.Context, p model.Point) ([]model.Point, error) {
	if p.IsOrigin() {
		return nil, nil
	}
	const dense = 20 // forks of which are found exactly, deeper ones with a few blocks told again
	return ask.ancestors(ctx, p, dense)
}

// FollowFrom is where [Queries.Follow] begins that is told of known: the newest of them that is part of the chain, or the origin;
// and how many blocks come behind it.
func (ask Queries) FollowFrom(ctx context.Context, known []model.Point) (p model.Point, behind uint64, err error) {
	err = ask.from(ctx, func(q *query) error {
		p, err = q.newest(known)
		if behind = uint64(q.tip.Height - p.Height); p.IsOrigin() {
			behind = q.totals.rows[familyBlock]
		}
		return err
	})
	return p, behind, err
}

// Follow yields what happened in the database after the newest of known that is still part of the chain (known is ordered
// newest first; the origin is implied at its end), up to the tip. It begins with a rollback to that block, which is the
// newest known one where the chain did not change, and ends with the tip as a block, unless it is where it began.
//
// One who is stopped anywhere ends with the same as one who was told everything without interruption, if he keeps what
// [Queries.FollowLocator] says: of a block after he has taken it in, any block since the last rollback, and of a rollback before.
// Else the chain could come back to blocks that he was told of once and has taken back. A value that does not occur yet is
// no error: it may.
//
// Without Spends it reads the outputs it tells of; where none is named, all outputs of the blocks. With Spends it reads
// the inputs of the blocks besides, or the history of the value where that is shorter.
func (ask Queries) Follow(ctx context.Context, known []model.Point, what Following) iter.Seq2[FollowEvent, error] {
	return func(yield func(FollowEvent, error) bool) {
		err := ask.from(ctx, func(q *query) error {
			f := follower{query: q, what: what, tell: func(e FollowEvent) error {
				for _, p := range []*model.Point{e.Block, e.Rollback} {
					if p != nil {
						e.Hash = q.chain.FormatHash(p.Hash)
					}
				}
				if !yield(e, nil) {
					return errEnough
				}
				return nil
			}}
			return f.follow(known)
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(FollowEvent{}, err)
		}
	}
}

// follower tells what happened in one snapshot.
type follower struct {
	*query
	what  Following
	tell  func(FollowEvent) error
	begin model.HeightPk // of the chain
	told  int64          // the height of the last block that was told, below begin: none
}

func (f *follower) follow(known []model.Point) error {
	set, err := f.followed()
	if err != nil {
		return err
	}
	from, err := f.meet(known)
	if err != nil {
		return err
	}
	if err := f.tell(FollowEvent{Rollback: &from}); err != nil {
		return err
	}
	if f.tip.IsOrigin() || from == f.tip {
		return nil
	}
	if f.begin, err = f.firstBlock(); err != nil {
		return err
	}
	s := span{0, f.tip.Height.Last()}
	if f.told = int64(f.begin) - 1; !from.IsOrigin() {
		f.told, s.first = int64(from.Height), model.UtxoPk((from.Height + 1).First())
	}
	outputs, stop := iter.Pull2(set.comings(s))
	defer stop()
	spends := func() (o spent, err error, ok bool) { return o, nil, false }
	if f.what.Spends {
		var stop func()
		spends, stop = iter.Pull2(set.goings(s))
		defer stop()
	}
	if err := f.merge(outputs, spends); err != nil {
		return err
	}
	return f.until(int64(f.tip.Height))
}

// meet is the newest of known that is part of the chain. Where nothing is known it is the block before the start.
func (f *follower) meet(known []model.Point) (model.Point, error) {
	if len(known) == 0 && f.what.Start != nil {
		s, err := f.query.span(*f.what.Start)
		if err != nil || s.first == 0 {
			return model.Point{}, err
		}
		row, err := f.blockAt(f.r, s.first.Height()-1)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			return model.Point{}, nil // what existed before the first block stands below it
		}
		return model.Point{Height: s.first.Height() - 1, Hash: row.hash, Slot: row.slot}, err
	}
	return f.newest(known)
}

// newest is the newest of points that is part of the chain; the origin where none is.
func (q *query) newest(points []model.Point) (model.Point, error) {
	for _, p := range points {
		row, err := q.blockAt(q.r, p.Height)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			continue
		}
		if err != nil {
			return model.Point{}, err
		}
		if row.hash == p.Hash {
			return model.Point{Height: p.Height, Hash: row.hash, Slot: row.slot}, nil
		}
	}
	return model.Point{}, nil
}

// coming is an output that is told of, and the height it stands at.
type coming struct {
	height model.HeightPk
	output *OutputAnswer
}

// spent is an output that is followed and spent.
type spent struct {
	height model.HeightPk // of what spends it
	spend  *SpendAnswer
}

// merge tells of outputs and spends, block by block: what comes, then what goes, which may have come in the same block.
func (f *follower) merge(outputs func() (coming, error, bool), spends func() (spent, error, bool)) error {
	o, err, more := outputs()
	if err != nil {
		return err
	}
	s, err, further := spends()
	if err != nil {
		return err
	}
	for more || further {
		h := s.height
		if !further || more && o.height < h {
			h = o.height
		}
		// What existed before the first block is told with it.
		h = max(h, f.begin)
		if err := f.until(int64(h) - 1); err != nil {
			return err
		}
		for more && o.height <= h {
			if err := f.tell(FollowEvent{Output: o.output}); err != nil {
				return err
			}
			if o, err, more = outputs(); err != nil {
				return err
			}
		}
		for further && s.height <= h {
			if err := f.tell(FollowEvent{Spend: s.spend}); err != nil {
				return err
			}
			if s, err, further = spends(); err != nil {
				return err
			}
		}
		if err := f.block(h); err != nil {
			return err
		}
	}
	return nil
}

// until tells of blocks in which there was nothing, every now and then and of the last where it is the tip.
func (f *follower) until(h int64) error {
	for f.told+BlockEvery <= h {
		if err := f.block(model.HeightPk(f.told + BlockEvery)); err != nil {
			return err
		}
	}
	if h == int64(f.tip.Height) && f.told < h {
		return f.block(f.tip.Height)
	}
	return f.ctx.Err()
}

func (f *follower) block(h model.HeightPk) error {
	row, err := f.blockAt(f.r, h)
	if err != nil {
		return err
	}
	f.told = int64(h)
	return f.tell(FollowEvent{Block: &model.Point{Height: h, Hash: row.hash, Slot: row.slot}})
}
