// Package rules validates the headers of a network against the headers before them: checkpoints, difficulty, time and
// version. It uses package blockchain of btcd, except for the difficulty of other coins ([Difficulty]). Sources of every
// kind use it.
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

// Rules validates headers of a network. It implements [blockchain.ChainCtx].
type Rules struct {
	params      *chaincfg.Params
	checkpoints map[int32]*chainhash.Hash
	difficulty  Difficulty
}

// Difficulty returns the compact target that a header must have. parent is the header before it, and time its Unix time
// in seconds. ok is false if an earlier header that the rule needs does not exist.
type Difficulty func(p *chaincfg.Params, parent blockchain.HeaderCtx, time int64) (bits uint32, ok bool)

// New returns the rules of a network. If difficulty is nil, the network has the difficulty rule of Bitcoin.
func New(p *chaincfg.Params, difficulty Difficulty) *Rules {
	r := &Rules{params: p, checkpoints: map[int32]*chainhash.Hash{}, difficulty: difficulty}
	for _, c := range p.Checkpoints {
		r.checkpoints[c.Height] = c.Hash
	}
	return r
}

// Checkpoint returns the hash of the checkpoint at a height, or nil if there is none.
func (r *Rules) Checkpoint(height int32) *chainhash.Hash { return r.checkpoints[height] }

// ChainParams implements [blockchain.ChainCtx].
func (r *Rules) ChainParams() *chaincfg.Params { return r.params }

// BlocksPerRetarget implements [blockchain.ChainCtx].
func (r *Rules) BlocksPerRetarget() int32 { return period(r.params) }

// MinRetargetTimespan implements [blockchain.ChainCtx]. The result is in seconds.
func (r *Rules) MinRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) / r.params.RetargetAdjustmentFactor
}

// MaxRetargetTimespan implements [blockchain.ChainCtx]. The result is in seconds.
func (r *Rules) MaxRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) * r.params.RetargetAdjustmentFactor
}

// VerifyCheckpoint implements [blockchain.ChainCtx].
func (r *Rules) VerifyCheckpoint(height int32, hash *chainhash.Hash) bool {
	want := r.checkpoints[height]
	return want == nil || *want == *hash
}

// FindPreviousCheckpoint implements [blockchain.ChainCtx]. It returns nil, because all earlier headers are on one chain.
func (r *Rules) FindPreviousCheckpoint() (blockchain.HeaderCtx, error) { return nil, nil }

// Ancestor contains the fields of an earlier header that the rules use.
type Ancestor struct {
	Bits uint32
	Time int64 // Unix seconds
}

// Before returns an earlier header of the chain by its height. ok is false if there is no such header.
type Before func(height int32) (a Ancestor, ok bool, err error)

// Check validates a header at a height above 0 against the headers before it. err is the reason why the header is
// invalid, and failed is the error of before. Check does not verify the proof of work and the link to the parent. If the
// parent does not exist, Check validates nothing.
func (r *Rules) Check(h *wire.BlockHeader, height int32, before Before) (err, failed error) {
	c := &chain{before: before}
	if parent := c.at(height - 1); parent != nil {
		err = r.CheckContext(h, parent, r, true)
	}
	return err, c.failed
}

// CheckContext validates the difficulty, time and version of a header against its ancestors. Unless skipCheckpoints is
// set, it also validates the header against the checkpoints of c.
func (r *Rules) CheckContext(h *wire.BlockHeader, parent blockchain.HeaderCtx, c blockchain.ChainCtx, skipCheckpoints bool) error {
	if r.difficulty == nil {
		return blockchain.CheckBlockHeaderContext(h, parent, blockchain.BFNone, c, skipCheckpoints)
	}
	required, ok := r.difficulty(r.params, parent, h.Timestamp.Unix())
	switch median := blockchain.CalcPastMedianTime(parent); {
	case !ok:
		return errors.New("earlier headers that determine its difficulty are missing")
	case h.Bits != required:
		return fmt.Errorf("its difficulty is %08x, expected %08x", h.Bits, required)
	case !h.Timestamp.After(median):
		return fmt.Errorf("its time %s is not after the median %s of the blocks before it", h.Timestamp.UTC(), median.UTC())
	}
	const checked = blockchain.BFFastAdd // skips the difficulty and the time, which are validated above
	return blockchain.CheckBlockHeaderContext(h, parent, checked, c, skipCheckpoints)
}

// chain reads the headers before the validated header.
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
