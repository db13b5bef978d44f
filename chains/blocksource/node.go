package blocksource

import (
	"context"
	"errors"
	"fmt"

	"birthmark/model"
)

// Node is a remote best chain with blocks by height: a node's RPC or REST, or a set of peers. Its methods may be called
// concurrently. [NewSource] makes a source of it.
//
// Temporary errors (a broken connection, a node that is starting) are marked by [Temporary]; others end the source.
type Node interface {
	// Tip returns the newest block of the best chain that can be fetched; the origin if there is none yet.
	Tip(ctx context.Context) (model.Point, error)

	// Hashes returns the best chain from a height on: at most n hashes, fewer at its end.
	Hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error)

	// Blocks fetches and decodes the blocks of points in order, at least the first. It may stop early when the
	// serialized blocks exceed limit bytes; 0: no limit but the first block. [ErrMoved] if the node no longer has one of
	// them, [*LargeBlock] if the first is so much larger than limit that it has to be fetched alone.
	Blocks(ctx context.Context, points []model.Point, limit int64) ([]*model.Block, error)

	// Changed returns when the node's best chain no longer ends in tip.
	Changed(ctx context.Context, tip model.Point) error

	Close() error
}

// Invalidator is a [Node] whose user can mark blocks as invalid (invalidateblock). Its best chain may then be a part of the
// previous one.
type Invalidator interface {
	// Invalidated reports whether the node has a block that its best chain will not reach again: it has the block itself,
	// knows no header at its height, and is not in its initial download. A node that restarted, reads its blocks again,
	// or has an older copy of the chain has the header, lacks the block, or is in its initial download.
	Invalidated(ctx context.Context, p model.Point) (bool, error)
}

// LargeBlock is the error of a block that was not fetched because it is much larger than expected. The source fetches it
// again, when no other blocks are in memory.
type LargeBlock struct{ Size int64 } // in bytes, at least

func (e *LargeBlock) Error() string {
	return fmt.Sprintf("a block of %d bytes is larger than expected", e.Size)
}

// ErrMoved reports that a block is not available because the node's best chain has changed.
var ErrMoved = errors.New("the node's best chain has changed")

type temporary struct {
	error
	noAnswer bool
}

func (t temporary) Unwrap() error { return t.error }

// Temporary marks an error as temporary.
func Temporary(err error) error { return temporary{error: err} }

// NoAnswer marks the error of a node that cannot be connected to as temporary.
func NoAnswer(err error) error { return temporary{err, true} }

// IsNoAnswer reports whether err is marked by [NoAnswer].
func IsNoAnswer(err error) bool {
	t, ok := errors.AsType[temporary](err)
	return ok && t.noAnswer
}

// TemporaryIf marks an error as temporary if it is: credentials that a node accepted before may become valid again.
func TemporaryIf(is bool, err error) error {
	if is {
		return Temporary(err)
	}
	return err
}

// IsTemporary reports whether err is marked by [Temporary].
func IsTemporary(err error) bool {
	_, ok := errors.AsType[temporary](err)
	return ok
}
