package bitcoin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/blockfile"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Decode yields the blocks in r. The formats are:
//
//   - one block as raw bytes;
//   - a block file: records of magic, length and block (XORed files are not supported). Damaged data are skipped, as in a
//     sync: see [blockfile.Each];
//   - hex text, one block per line;
//   - JSON of a node's getblock with verbosity 2 or 3 (Core's tx or btcd's rawtx with hex) or 0 (a hex string): one
//     block, the result of a reply, a list, or several documents.
//
// The height of a block is that in the JSON; 0 for the genesis block; one more than the block before if that is the
// parent; the height in the coinbase (BIP 34), which the chain does not confirm; else first plus the number of blocks
// before.
func (c *chain) Decode(ctx context.Context, r io.Reader, indexes []string, first model.HeightPk) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		decoders, err := c.decoders(indexes, false, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		d := inputDecoder{net: c.net, decoder: decoders(), checker: decoders(), first: first}
		number := 0
		err = d.each(bufio.NewReaderSize(r, 64<<10), func(raw []byte, claimed *claimedMeta) error {
			number++
			if err := ctx.Err(); err != nil {
				return err
			}
			b, err := d.block(raw, claimed)
			if err != nil {
				return adapter.BadBlock(err, "block %d of the input", number)
			}
			if !yield(b, nil) {
				return errStopped
			}
			return nil
		})
		switch kind, _ := model.KindOf(err); {
		case err == errStopped:
		case err == nil && number == 0:
			yield(nil, model.Errorf(model.BadSource, "source_empty", "no block in the input: expected raw bytes, hex, JSON or a block file"))
		case kind == model.Internal && err != nil && ctx.Err() == nil:
			yield(nil, model.Errorf(model.BadSource, "source_unreadable", "%w", err))
		case err != nil:
			yield(nil, err)
		}
	}
}

// errStopped ends the iteration after its consumer stopped it.
var errStopped = errors.New("stopped by the consumer")

// claimedMeta holds the fields of a block that an input has in addition to its bytes.
type claimedMeta struct {
	height *uint32
	hash   string
}

type inputDecoder struct {
	net     *params.Network
	decoder *block.Decoder
	checker *block.Decoder // decodes blocks that are not handled
	first   model.HeightPk
	count   model.HeightPk
	last    *model.Block
}

func (d *inputDecoder) block(raw []byte, claimed *claimedMeta) (*model.Block, error) {
	height, err := d.height(raw, claimed)
	if err != nil {
		return nil, err
	}
	b, err := d.decoder.Block(raw, height)
	if err != nil {
		return nil, err
	}
	if claimed != nil && claimed.hash != "" && claimed.hash != block.FormatHash(b.Hash) {
		return nil, fmt.Errorf("its header hashes to %s, but the JSON has the hash %s", block.FormatHash(b.Hash), adapter.Truncate(claimed.hash))
	}
	d.count++
	d.last = b
	return b, nil
}

// height returns the height of the next block, whose bytes may be invalid.
func (d *inputDecoder) height(raw []byte, claimed *claimedMeta) (model.HeightPk, error) {
	height := uint64(d.first) + uint64(d.count)
	switch {
	case claimed != nil && claimed.height != nil:
		height = uint64(*claimed.height)
	case len(raw) < block.HeaderSize:
	case d.net.Coin.Format.HashOf(raw) == d.net.Genesis:
		height = 0
	case d.last != nil && d.last.Hash == block.Header(raw).Parent():
		height = uint64(d.last.Height) + 1
	default:
		if h, ok := d.net.Coin.Format.CoinbaseHeight(raw); ok {
			height = h
		}
	}
	return model.NewHeightPk(height)
}

// each calls handle with the serialized blocks of an input. The bytes are valid until handle returns.
func (d *inputDecoder) each(r *bufio.Reader, handle func([]byte, *claimedMeta) error) error {
	head, err := r.Peek(block.HeaderSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if text, ok := bytes.CutPrefix(head, []byte("\ufeff")); ok && isText(text) { // a byte order mark
		_, _ = r.Discard(len(head) - len(text))
		head = text
	}
	switch text := bytes.TrimLeft(head, " \t\r\n"); {
	case len(head) == 0:
		return nil
	case len(head) >= 4 && d.net.ByMagic(head[:4]) != nil:
		return d.records(r, handle)
	case !isText(head):
		return d.raw(r, handle)
	case len(text) > 0 && bytes.IndexByte([]byte(`{["`), text[0]) >= 0:
		return eachJSON(r, handle)
	default:
		return d.lines(r, handle)
	}
}

// isText reports whether b can be the beginning of a text. The header of a block cannot.
func isText(b []byte) bool {
	for _, c := range b {
		if c > unicode.MaxASCII || !unicode.IsPrint(rune(c)) && !unicode.IsSpace(rune(c)) {
			return false
		}
	}
	return true
}

func (d *inputDecoder) maxSize() int { return d.net.Coin.Format.MaxSize }

func (d *inputDecoder) raw(r io.Reader, handle func([]byte, *claimedMeta) error) error {
	most := d.maxSize()
	raw, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return err
	}
	if len(raw) > most {
		return model.Errorf(model.BadSource, "bad_block", "not block data: larger than the maximum block of %d bytes, and not a block file of any network", most)
	}
	return handle(raw, nil)
}

func (d *inputDecoder) records(r io.Reader, handle func([]byte, *claimedMeta) error) error {
	check := func(raw []byte) error {
		_, err := d.checker.Block(raw, 0)
		return err
	}
	return blockfile.Each(d.net, r, check, func(raw []byte) (fault, err error) {
		err = handle(raw, nil)
		if kind, _ := model.KindOf(err); err != nil && kind == model.BadSource && !errors.Is(err, model.ErrNewer) {
			return err, nil
		}
		return nil, err
	})
}

func (d *inputDecoder) lines(r *bufio.Reader, handle func([]byte, *claimedMeta) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 2*d.maxSize()+64)
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		raw := make([]byte, hex.DecodedLen(len(line)))
		if _, err := hex.Decode(raw, line); err != nil {
			return model.Errorf(model.BadSource, "bad_block", "line %d: not block data: neither hex (%w) nor JSON", number, err)
		}
		if err := handle(raw, nil); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return model.Errorf(model.BadSource, "bad_block", "not block data: a line is longer than the hex of the largest block")
	}
	return lines.Err()
}
