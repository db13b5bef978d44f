package blocksource

import (
	"context"
	"errors"

	"birthmark/model"
)

// Node is a chain elsewhere whose best chain is asked for by height: a node's RPC or REST, or a set of peers. Its
// methods may be called at the same time. [NewSource] makes a source of it.
//
// Errors that go away by themselves (a connection that broke, a node that is starting) are marked by [Temporary];
// every other one ends the source.
type Node interface {
	// Tip is the newest block of the best chain that can be fetched; the origin where there is none yet.
	Tip(ctx context.Context) (model.Point, error)

	// Hashes is the best chain from a height on: at most n hashes, fewer at its end, none above it.
	Hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error)

	// Blocks fetches and decodes blocks: those of points in order, at least the first. It may stop short where the
	// serialized blocks have come to limit bytes. [ErrMoved] where the node does not have one of them any more.
	Blocks(ctx context.Context, points []model.Point, limit int64) ([]*model.Block, error)

	// Changed returns when the node's best chain no longer ends in tip.
	Changed(ctx context.Context, tip model.Point) error

	Close() error
}

// ErrMoved says that a block is not to be had because the node's best chain has changed since.
var ErrMoved = errors.New("the node's best chain has changed")

type temporary struct{ error }

func (t temporary) Unwrap() error { return t.error }

// Temporary marks an error as one that waiting can heal.
func Temporary(err error) error { return temporary{err} }

// IsTemporary reports whether err is marked by [Temporary].
func IsTemporary(err error) bool {
	_, ok := errors.AsType[temporary](err)
	return ok
}
