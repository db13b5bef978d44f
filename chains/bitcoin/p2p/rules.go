package p2p

import (
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
)

// badHeader is the error of a header that no honest peer sends.
type badHeader struct{ error }

func badHeaderf(format string, args ...any) error { return badHeader{fmt.Errorf(format, args...)} }

// errFuture reports a header whose time is more than two hours ahead of the clock of this machine. Either clock may be
// wrong, so the peer does not misbehave.
var errFuture = errors.New("is dated more than two hours ahead of this machine's clock")

// treeRules validates the headers of a tree by the rules of a network.
type treeRules struct {
	*rules.Rules
	lastCheckpoint *node // the highest checkpoint in the tree
	clock          clock
	proven         bool // the proof of work of headers is validated before: see work.go
}

// FindPreviousCheckpoint returns the highest checkpoint in the tree. Chains that fork below it are invalid.
func (r *treeRules) FindPreviousCheckpoint() (blockchain.HeaderCtx, error) {
	if r.lastCheckpoint == nil {
		return nil, nil
	}
	return r.lastCheckpoint, nil
}

// checkSanity validates a header without its ancestors: its proof of work, and that its time is not in the future.
func (r *treeRules) checkSanity(h *wire.BlockHeader, hash *chainhash.Hash) error {
	flags := blockchain.BFNone
	if r.proven {
		flags = blockchain.BFNoPoWCheck
	}
	err := blockchain.CheckBlockHeaderSanity(h, r.ChainParams().PowLimit, r.clock, flags)
	if rule, ok := errors.AsType[blockchain.RuleError](err); ok && rule.ErrorCode == blockchain.ErrTimeTooNew {
		if r.ChainParams().PoWNoRetargeting {
			return nil // regtest: tests set the time of the node
		}
		return fmt.Errorf("header %s %w", hash, errFuture)
	}
	if err != nil {
		return badHeaderf("header %s: %w", hash, err)
	}
	return nil
}

// checkContext validates a header against its ancestors: difficulty, time, version and checkpoints.
func (r *treeRules) checkContext(parent *node, h *wire.BlockHeader, hash *chainhash.Hash) error {
	if err := r.CheckContext(h, parent, r, false); err != nil {
		return badHeaderf("header %s of height %d: %w", hash, parent.height+1, err)
	}
	return nil
}

// clock returns the time of this machine. It implements [blockchain.MedianTimeSource].
type clock func() time.Time

func (c clock) AdjustedTime() time.Time       { return c() }
func (clock) AddTimeSample(string, time.Time) {}
func (clock) Offset() time.Duration           { return 0 }

// A node implements [blockchain.HeaderCtx].

func (n *node) Height() int32    { return n.height }
func (n *node) Bits() uint32     { return n.bits }
func (n *node) Timestamp() int64 { return int64(n.time) }

// ChainWork returns the work of the chain from the base of the tree to n.
func (n *node) ChainWork() block.Work { return n.work }

func (n *node) Parent() blockchain.HeaderCtx {
	if n.parent == nil {
		return nil // not an interface with a nil pointer
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
