package cardano

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"

	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// maxInput bounds the bytes that [chain.Decode] reads. An uncompressed chunk of mainnet has about 100 MB at most.
const maxInput = 1 << 30

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// Decode yields the blocks in r: consecutive blocks as in a chunk, each an array of era tag and block; plain,
// compressed with zstd, or in hex. Heights are those in the blocks, so first is not used. Boundary blocks are included.
func (c *chain) Decode(ctx context.Context, r io.Reader, indexes []string, _ model.HeightPk) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		d, err := c.decoder(indexes, false)
		if err != nil {
			yield(nil, err)
			return
		}
		raw, err := readForm(r)
		if err != nil {
			yield(nil, model.Errorf(model.BadSource, "bad_block", "%w", err))
			return
		}
		if len(raw) == 0 {
			yield(nil, model.Errorf(model.BadSource, "source_empty", "nothing to decode: expected blocks of cardano, as CBOR or hex"))
			return
		}
		for at := 0; at < len(raw); {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			b, size, err := d.Next(raw[at:])
			if err != nil {
				code := "bad_block"
				if e, ok := errors.AsType[*model.Error](err); ok {
					code = e.Code
				}
				yield(nil, model.Errorf(model.BadSource, code, "block at offset %d: %w", at, err))
				return
			}
			if !yield(b, nil) {
				return
			}
			at += size
		}
	}
}

// readForm reads r and undoes compression or hex.
func readForm(r io.Reader) ([]byte, error) {
	raw, err := readAll(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(raw, zstdMagic) {
		z, err := zstd.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		if raw, err = readAll(z); err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return raw, nil
	}
	// A block starts with an array of two, which is not a hex digit.
	if len(raw) > 0 && raw[0] != cbor.Array<<5|2 && raw[0] != 0x9f {
		text := bytes.Join(bytes.Fields(raw), nil)
		plain := make([]byte, hex.DecodedLen(len(text)))
		if _, err := hex.Decode(plain, text); err != nil {
			return nil, fmt.Errorf("input is neither CBOR of blocks nor hex: %w", err)
		}
		return plain, nil
	}
	return raw, nil
}

func readAll(r io.Reader) ([]byte, error) {
	var raw bytes.Buffer
	if known, ok := r.(interface{ Len() int }); ok {
		raw.Grow(known.Len() + bytes.MinRead)
	}
	if n, err := raw.ReadFrom(io.LimitReader(r, maxInput+1)); err != nil || n <= maxInput {
		return raw.Bytes(), err
	}
	return nil, fmt.Errorf("more than %d bytes", maxInput)
}
