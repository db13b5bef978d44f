// Package rules checks the headers of a network against those before them: checkpoints, difficulty, time and version.
// The rules are those of btcd's blockchain, except the difficulty of other coins ([Difficulty]). Every kind of source
// uses them.
package rules

import (
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Rules has the rules of a network. It is a [blockchain.ChainCtx].
type Rules struct {
	params      *chaincfg.Params
	checkpoints map[int32]*chainhash.Hash
	difficulty  Difficulty
}

// Difficulty returns the compact target that a header of a time requires after its parent. ok is false if an earlier
// header that it needs does not exist.
type Difficulty func(p *chaincfg.Params, parent blockchain.HeaderCtx, time int64) (bits uint32, ok bool)

// New returns the rules of a network. A difficulty of nil is that of Bitcoin.
func New(p *chaincfg.Params, difficulty Difficulty) *Rules {
	r := &Rules{params: p, checkpoints: map[int32]*chainhash.Hash{}, difficulty: difficulty}
	for _, c := range p.Checkpoints {
		r.checkpoints[c.Height] = c.Hash
	}
	return r
}

// Checkpoint returns the hash of the network's block at a height, nil if the height has no checkpoint.
func (r *Rules) Checkpoint(height int32) *chainhash.Hash { return r.checkpoints[height] }

// ChainParams implements [blockchain.ChainCtx].
func (r *Rules) ChainParams() *chaincfg.Params { return r.params }

// BlocksPerRetarget implements [blockchain.ChainCtx].
func (r *Rules) BlocksPerRetarget() int32 { return period(r.params) }

// MinRetargetTimespan implements [blockchain.ChainCtx]; in seconds.
func (r *Rules) MinRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) / r.params.RetargetAdjustmentFactor
}

// MaxRetargetTimespan implements [blockchain.ChainCtx]; in seconds.
func (r *Rules) MaxRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) * r.params.RetargetAdjustmentFactor
}

// VerifyCheckpoint implements [blockchain.ChainCtx].
func (r *Rules) VerifyCheckpoint(height int32, hash *chainhash.Hash) bool {
	want := r.checkpoints[height]
	return want == nil || *want == *hash
}

// FindPreviousCheckpoint implements [blockchain.ChainCtx]. It returns none, because all earlier headers belong to one
// chain.
func (r *Rules) FindPreviousCheckpoint() (blockchain.HeaderCtx, error) { return nil, nil }

// Ancestor has the fields of an earlier header that the rules need.
type Ancestor struct {
	Bits uint32
	Time int64 // unix seconds
}

// Before returns the header at a height of the chain before the checked header. ok is false if it does not exist.
type Before func(height int32) (a Ancestor, ok bool, err error)

// Check returns an error if a header at a height above 0 is invalid after the chain before it. An error of before is
// returned as failed. Check verifies neither the proof of work nor the link to the parent; if the parent does not
// exist, it checks nothing.
func (r *Rules) Check(h *wire.BlockHeader, height int32, before Before) (err, failed error) {
	c := &chain{before: before}
	if parent := c.at(height - 1); parent != nil {
		err = r.CheckContext(h, parent, r, true)
	}
	return err, c.failed
}

// CheckContext checks a header against its ancestors: difficulty, time, version and, unless they are skipped, the
// checkpoints of c.
func (r *Rules) CheckContext(h *wire.BlockHeader, parent blockchain.HeaderCtx, c blockchain.ChainCtx, skipCheckpoints bool) error {
	if r.difficulty == nil {
		return blockchain.CheckBlockHeaderContext(h, parent, blockchain.BFNone, c, skipCheckpoints)
	}
	required, ok := r.difficulty(r.params, parent, h.Timestamp.Unix())
	switch median := blockchain.CalcPastMedianTime(parent); {
	case !ok:
		return errors.New("the headers before it that determine its difficulty are missing")
	case h.Bits != required:
		return fmt.Errorf("its difficulty is %08x, expected %08x", h.Bits, required)
	case !h.Timestamp.After(median):
		return fmt.Errorf("its time %s is not after the median %s of the blocks before it", h.Timestamp.UTC(), median.UTC())
	}
	const checked = blockchain.BFFastAdd // difficulty and time
	return blockchain.CheckBlockHeaderContext(h, parent, checked, c, skipCheckpoints)
}

// chain has the headers before the checked header.
type chain struct {
	before Before
	failed error // the first error of before
}

func (c *chain) at(height int32) blockchain.HeaderCtx {
	if height < 0 || c.failed != nil {
		return nil
	}
	a, ok, err := c.before(height)
	if c.failed = err; err != nil || !ok {
		return nil
	}
	return &ancestor{a, height, c}
}

// ancestor is a [blockchain.HeaderCtx] that reads earlier headers when they are needed.
type ancestor struct {
	Ancestor
	height int32
	chain  *chain
}

func (a *ancestor) Height() int32                { return a.height }
func (a *ancestor) Bits() uint32                 { return a.Ancestor.Bits }
func (a *ancestor) Timestamp() int64             { return a.Time }
func (a *ancestor) Parent() blockchain.HeaderCtx { return a.chain.at(a.height - 1) }

func (a *ancestor) RelativeAncestorCtx(distance int32) blockchain.HeaderCtx {
	return a.chain.at(a.height - distance)
}
