package ergo

import (
	"context"
	"io"
	"iter"

	"birthmark/model"
)

// Decode yields the blocks in r: full blocks as a node's REST gives them, one, an array, or one a line, plain or gzip.
// Heights are those the blocks state, so first means nothing.
func (c *chain) Decode(ctx context.Context, r io.Reader, indexes []string, _ model.HeightPk) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		_, err := newDecoder(c.net, indexes)
		if err == nil {
			err = model.Errorf(model.BadSource, "bad_block", "blocks are not decoded yet")
		}
		yield(nil, err)
	}
}
