// Package rules checks the headers of Bitcoin's networks against those before them: checkpoints, difficulty, time and
// version. The rules are those of btcd's blockchain; every kind of source uses them.
package rules

import (
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
}

// New returns the rules of a network.
func New(p *chaincfg.Params) *Rules {
	r := &Rules{params: p, checkpoints: map[int32]*chainhash.Hash{}}
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
func (r *Rules) BlocksPerRetarget() int32 {
	return int32(r.params.TargetTimespan / r.params.TargetTimePerBlock)
}

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
		err = blockchain.CheckBlockHeaderContext(h, parent, blockchain.BFNone, r, true)
	}
	return err, c.failed
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
