package rpc

import (
	"errors"
	"fmt"
	"io"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// blockBody collects a block from a response. Without a client it has no limit.
type blockBody struct {
	block.Buffer
	c     *Client
	point model.Point
	limit int64 // of the call; 0: none
}

const readAtOnce = 64 << 10

// readAll reads the rest of in; size is the expected number of bytes, or not positive if it is unknown.
func (b *blockBody) readAll(in io.Reader, size int64) error {
	if size > 0 {
		if err := b.check(size); err != nil {
			return err
		}
		b.Grow(int(size) + 1) // room to detect the end
	}
	for {
		b.Grow(1)
		room := b.Bytes[len(b.Bytes):cap(b.Bytes)]
		n, err := in.Read(room[:min(len(room), readAtOnce)])
		b.Bytes = b.Bytes[:len(b.Bytes)+n]
		if err == io.EOF {
			return nil
		}
		if err == nil && size <= 0 {
			err = b.arrived(in, 1)
		}
		if err != nil {
			return err
		}
	}
}

// arrived checks the bytes that have arrived of a block of unknown size. If they do not fit into the memory it reads the
// rest, perByte bytes for each of the block, and returns an error with the memory for the whole block.
func (b *blockBody) arrived(rest io.Reader, perByte int64) error {
	err := b.check(int64(len(b.Bytes)))
	if large, ok := errors.AsType[*blocksource.LargeBlock](err); ok {
		large.Size = max(large.Size, int64(b.c.format().MaxSize)/2) // so that it is permitted next time
	}
	if kind, _ := model.KindOf(err); err == nil || kind != model.Machine {
		return err
	}
	whole := int64(len(b.Bytes))
	b.Free()
	more, failed := io.Copy(io.Discard, rest)
	if failed != nil && failed != errTooLarge {
		return failed
	}
	return b.check(whole + more/perByte)
}

// check returns an error if a block of size bytes does not fit into the memory, or must be read alone.
func (b *blockBody) check(size int64) error {
	if b.c == nil || size <= block.Large {
		return nil
	}
	if b.limit > 0 && size > b.limit {
		return &blocksource.LargeBlock{Size: size}
	}
	if room := b.c.options.Room; room != nil {
		if err := room(size); err != nil {
			err = fmt.Errorf("%d bytes: %w", size, err)
			return adapter.BadBlock(err, "block %d (%s) from %s", b.point.Height, block.FormatHash(b.point.Hash), b.c.Host())
		}
	}
	return nil
}
