package bitcoin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode"

	"birthmark/model"
)

// Decode yields the blocks in r in any of these forms:
//
//   - one block as raw bytes;
//   - a block file: records of magic, length and block, with padding (not one that is XORed);
//   - hex text, a block on each line;
//   - JSON: a node's getblock with verbosity 2 or 3 (Core's tx or btcd's rawtx, each with its hex) or 0 (a string of
//     hex), alone, as the result of a reply, in a list, or several in a row.
//
// Heights: what the JSON says; 0 for the network's genesis; one more than the block before where that is the parent;
// what the coinbase says where the version promises it (BIP 34), which is good enough to look at a single block but is
// not the chain's word; else first and the number of blocks before in r.
func (c *chain) Decode(ctx context.Context, r io.Reader, indexes []string, first model.HeightPk) iter.Seq2[*model.Block, error] {
	return func(yield func(*model.Block, error) bool) {
		d, err := newDecoder(c.net, c.defined, indexes)
		if err != nil {
			yield(nil, err)
			return
		}
		f := forms{net: c.net, decoder: d, first: first}
		number := 0
		err = f.each(bufio.NewReaderSize(r, 64<<10), func(raw []byte, said *statement) error {
			number++
			if err := ctx.Err(); err != nil {
				return err
			}
			b, err := f.block(raw, said)
			if err != nil {
				return model.Errorf(model.BadSource, "bad_block", "block %d of the input: %w", number, err)
			}
			if !yield(b, nil) {
				return errEnough
			}
			return nil
		})
		switch kind, _ := model.KindOf(err); {
		case err == errEnough:
		case err == nil && number == 0:
			yield(nil, model.Errorf(model.BadSource, "source_empty", "the input holds no block: expected raw bytes, hex, JSON or a block file"))
		case kind == model.Internal && err != nil && ctx.Err() == nil:
			yield(nil, model.Errorf(model.BadSource, "source_unreadable", "%w", err))
		case err != nil:
			yield(nil, err)
		}
	}
}

// errEnough ends a walk that its consumer left.
var errEnough = errors.New("the consumer left")

// statement is what a form says of a block besides its bytes.
type statement struct {
	height *uint32
	hash   string
}

// forms decodes one input.
type forms struct {
	net     *network
	decoder *decoder
	first   model.HeightPk
	count   model.HeightPk
	last    *model.Block
}

func (f *forms) block(raw []byte, said *statement) (*model.Block, error) {
	height, err := f.height(raw, said)
	if err != nil {
		return nil, err
	}
	b, err := f.decoder.block(raw, height)
	if err != nil {
		return nil, err
	}
	if said != nil && said.hash != "" && said.hash != formatHash(b.Hash) {
		return nil, fmt.Errorf("its header hashes to %s, the JSON says %s", formatHash(b.Hash), shown(said.hash))
	}
	f.count++
	f.last = b
	return b, nil
}

// height is that of the next block, whose bytes may be no block at all.
func (f *forms) height(raw []byte, said *statement) (model.HeightPk, error) {
	height := uint64(f.first) + uint64(f.count)
	switch {
	case said != nil && said.height != nil:
		height = uint64(*said.height)
	case len(raw) < headerSize:
	case header(raw).hash() == f.net.genesis:
		height = 0
	case f.last != nil && f.last.Hash == header(raw).parent():
		height = uint64(f.last.Height) + 1
	default:
		if h, ok := coinbaseHeight(raw); ok {
			height = h
		}
	}
	return model.NewHeightPk(height)
}

// coinbaseHeight is the height that the coinbase of a block begins with (BIP 34).
func coinbaseHeight(raw []byte) (uint64, bool) {
	if header(raw).version() < 2 {
		return 0, false
	}
	r := reader{b: raw, at: headerSize}
	r.compactSize()
	r.take(4, "version")
	takeMarker(&r)
	r.compactSize()
	r.take(36, "outpoint")
	script := r.take(r.count(1, "bytes of script"), "script")
	op, data, _, ok := nextOp(script)
	switch {
	case !ok:
		return 0, false
	case op >= op1 && op <= op16:
		return uint64(op-op1) + 1, true
	case len(data) == 0 || len(data) > 4 || data[len(data)-1]&0x80 != 0 || int(op) != len(data):
		return 0, false // no number, or a negative one
	}
	var number [8]byte
	copy(number[:], data)
	height := binary.LittleEndian.Uint64(number[:])
	return height, height <= model.MaxHeight
}

// each hands the serialized blocks of an input over one by one. The bytes are good until handle returns.
func (f *forms) each(r *bufio.Reader, handle func([]byte, *statement) error) error {
	head, err := r.Peek(headerSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"); {
	case len(head) == 0:
		return nil
	case len(head) >= 4 && networkByMagic(head[:4]) != nil:
		return f.records(r, handle)
	case !isText(head):
		return f.raw(r, handle)
	case len(text) > 0 && bytes.IndexByte([]byte(`{["`), text[0]) >= 0:
		return eachJSON(r, handle)
	default:
		return f.lines(r, handle)
	}
}

// isText reports whether bytes could be the beginning of a text. The header of a block never looks like one.
func isText(b []byte) bool {
	for _, c := range bytes.TrimPrefix(b, []byte("\ufeff")) {
		if c > unicode.MaxASCII || !unicode.IsPrint(rune(c)) && !unicode.IsSpace(rune(c)) {
			return false
		}
	}
	return true
}

func (f *forms) raw(r io.Reader, handle func([]byte, *statement) error) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxBlockSize+1))
	if err != nil {
		return err
	}
	if len(raw) > maxBlockSize {
		return model.Errorf(model.BadSource, "bad_block", "not block data: more than the %d bytes a block can have, and no block file of any network", maxBlockSize)
	}
	return handle(raw, nil)
}

func (f *forms) records(r *bufio.Reader, handle func([]byte, *statement) error) error {
	var head [recordHead]byte
	var raw []byte
	for offset := int64(0); ; {
		// Padding is skipped byte by byte, records begin anywhere after it.
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if c == 0 {
			offset++
			continue
		}
		head[0] = c
		if _, err := io.ReadFull(r, head[1:]); err != nil {
			return model.Errorf(model.BadSource, "bad_block", "offset %d: the input is cut inside a record", offset)
		}
		length := binary.LittleEndian.Uint32(head[4:])
		switch of := networkByMagic(head[:4]); {
		case of == nil:
			return model.Errorf(model.BadSource, "bad_block", "offset %d: %x begins no record, expected %x", offset, head[:4], f.net.magic)
		case of != f.net:
			return model.Errorf(model.BadSource, "wrong_network", "offset %d: these are blocks of bitcoin %s, expected %s", offset, of.name, f.net.name)
		case length > maxBlockSize:
			return model.Errorf(model.BadSource, "bad_block", "offset %d: a record of %d bytes, the most is %d", offset, length, maxBlockSize)
		}
		if cap(raw) < int(length) {
			raw = make([]byte, length)
		}
		raw = raw[:length]
		if n, err := io.ReadFull(r, raw); err != nil {
			return model.Errorf(model.BadSource, "bad_block", "offset %d: a record of %d bytes where %d are left", offset, length, n)
		}
		if err := handle(raw, nil); err != nil {
			return err
		}
		offset += recordHead + int64(length)
	}
}

func (f *forms) lines(r *bufio.Reader, handle func([]byte, *statement) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 2*maxBlockSize+64)
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
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
		return model.Errorf(model.BadSource, "bad_block", "not block data: a line longer than the hex of any block")
	}
	return lines.Err()
}
