package ergo

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"iter"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/model"
)

var gzipMagic = []byte{0x1f, 0x8b}

// Decode yields the blocks in r: full blocks as a node's REST API returns them, one, an array or a sequence, plain or
// gzipped. Blocks state their heights, so first is ignored.
func (c *chain) Decode(ctx context.Context, r io.Reader, indexes []string, _ model.HeightPk) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		if err := c.decode(ctx, r, indexes, yield); err != nil {
			yield(nil, err)
		}
	}
}

func (c *chain) decode(ctx context.Context, r io.Reader, indexes []string, yield func(*model.Block, error) bool) error {
	d, err := newDecoder(c, indexes)
	if err != nil {
		return err
	}
	buffered := bufio.NewReader(r)
	r = buffered
	if head, err := buffered.Peek(len(gzipMagic)); err == nil && bytes.Equal(head, gzipMagic) {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return model.Errorf(model.BadSource, "bad_block", "gzip: %w", err)
		}
		defer z.Close()
		r = z
	}
	blocks := jsonstream.New(r, maxBlockJSON)
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		raw, err := blocks.Next()
		if err == io.EOF {
			if n == 0 {
				return model.Errorf(model.BadSource, "source_empty", "nothing to decode: expected full blocks of ergo in JSON")
			}
			return nil
		}
		if syntax, ok := errors.AsType[*jsonstream.SyntaxError](err); ok {
			return model.Errorf(model.BadSource, "bad_block", "%w", syntax) // it names the line
		}
		if err != nil {
			return model.Errorf(model.BadSource, "bad_block", "line %d: %w", blocks.Line(), err)
		}
		b, err := d.block(raw)
		if err != nil {
			return adapter.BadBlock(err, "line %d", blocks.Line())
		}
		if !yield(b, nil) {
			return nil
		}
	}
}
