package p2p

import (
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// badHeader is a header that no honest peer sends.
type badHeader struct{ error }

func badHeaderf(format string, args ...any) error { return badHeader{fmt.Errorf(format, args...)} }

// errFuture is a header whose time is more than two hours ahead of this machine's. Either clock may be wrong.
var errFuture = errors.New("is dated more than two hours ahead of this machine's clock")

// rules are a network's, as btcd's checks of headers ask for them.
type rules struct {
	params      *chaincfg.Params
	checkpoints map[int32]*chainhash.Hash
	passed      *node // the highest checkpoint that is in the tree
	clock       clock
}

func newRules(p *chaincfg.Params) *rules {
	r := &rules{params: p, checkpoints: map[int32]*chainhash.Hash{}, clock: time.Now}
	for _, c := range p.Checkpoints {
		r.checkpoints[c.Height] = c.Hash
	}
	return r
}

func (r *rules) ChainParams() *chaincfg.Params { return r.params }

func (r *rules) BlocksPerRetarget() int32 {
	return int32(r.params.TargetTimespan / r.params.TargetTimePerBlock)
}

func (r *rules) MinRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) / r.params.RetargetAdjustmentFactor
}

func (r *rules) MaxRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) * r.params.RetargetAdjustmentFactor
}

func (r *rules) VerifyCheckpoint(height int32, hash *chainhash.Hash) bool {
	want, ok := r.checkpoints[height]
	return !ok || *want == *hash
}

// FindPreviousCheckpoint is the highest one in the tree: no chain may part below it.
func (r *rules) FindPreviousCheckpoint() (blockchain.HeaderCtx, error) {
	if r.passed == nil {
		return nil, nil
	}
	return r.passed, nil
}

// alone checks what a header says by itself: its proof of work, and that it is not from the future.
func (r *rules) alone(h *wire.BlockHeader, hash *chainhash.Hash) error {
	err := blockchain.CheckBlockHeaderSanity(h, r.params.PowLimit, r.clock, blockchain.BFNone)
	if rule, ok := errors.AsType[blockchain.RuleError](err); ok && rule.ErrorCode == blockchain.ErrTimeTooNew {
		return fmt.Errorf("header %s %w", hash, errFuture)
	}
	if err != nil {
		return badHeaderf("header %s: %w", hash, err)
	}
	return nil
}

// after checks a header against those before it: difficulty, time, version and checkpoints.
func (r *rules) after(parent *node, h *wire.BlockHeader, hash *chainhash.Hash) error {
	if err := blockchain.CheckBlockHeaderContext(h, parent, blockchain.BFNone, r, false); err != nil {
		return badHeaderf("header %s of height %d: %w", hash, parent.height+1, err)
	}
	return nil
}

// clock is the time of this machine, as btcd's checks ask for it.
type clock func() time.Time

func (c clock) AdjustedTime() time.Time       { return c() }
func (clock) AddTimeSample(string, time.Time) {}
func (clock) Offset() time.Duration           { return 0 }

// The methods by which btcd's checks look at a header's ancestors.

func (n *node) Height() int32    { return n.height }
func (n *node) Bits() uint32     { return n.bits }
func (n *node) Timestamp() int64 { return int64(n.time) }

func (n *node) Parent() blockchain.HeaderCtx {
	if n.parent == nil {
		return nil // not an interface that holds a nil
	}
	return n.parent
}

func (n *node) RelativeAncestorCtx(distance int32) blockchain.HeaderCtx {
	a := n
	for ; distance > 0 && a != nil; distance-- {
		a = a.parent
	}
	if a == nil {
		return nil
	}
	return a
}
