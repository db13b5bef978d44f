package ouroborostest

import (
	"context"
	"fmt"

	"github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/ledger"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"

	"birthmark/chains/cardano/immutable"
)

// Block is a block as a node has it.
type Block struct {
	Type   uint   // era tag of chunks and node-to-client: 0 Byron boundary, 1 Byron, 2 Shelley … 7 Conway
	CBOR   []byte // without the enclosing array of type and block
	Slot   uint64 // for a boundary block the first slot of its epoch
	Hash   [32]byte
	Number uint64
}

// Blocks parses blocks from bytes: each the array of type and block, as in a chunk.
func Blocks(raw ...[]byte) ([]Block, error) {
	blocks := make([]Block, len(raw))
	for i, r := range raw {
		var err error
		if blocks[i], err = parse(r); err != nil {
			return nil, fmt.Errorf("block %d of %d: %w", i, len(raw), err)
		}
	}
	return blocks, nil
}

// Chunks reads the blocks of a node's immutable database, or of one chunk.
func Chunks(path string) ([]Block, error) {
	db, err := immutable.Open(path)
	if err != nil {
		return nil, err
	}
	r := db.Reader()
	defer r.Close()
	var blocks []Block
	for e, err := range db.Entries(context.Background(), immutable.Position{}) {
		if err != nil {
			return nil, err
		}
		raw, err := r.Read(e, nil)
		if err != nil {
			return nil, err
		}
		b, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("chunk %05d at offset %d: %w", e.Chunk, e.Offset, err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// WithBody returns the block with the body of another: its header and hash do not change.
func (b Block) WithBody(of Block) (Block, error) {
	mine, err := items(b.CBOR, 2)
	if err != nil {
		return Block{}, err
	}
	others, err := items(of.CBOR, 2)
	if err != nil {
		return Block{}, err
	}
	b.CBOR, err = cbor.Encode(append(mine[:1:1], others[1:]...))
	return b, err
}

func (b *Block) point() pcommon.Point { return pcommon.NewPoint(b.Slot, b.Hash[:]) }

func parse(raw []byte) (b Block, err error) {
	outer, err := items(raw, 2)
	if err != nil {
		return b, fmt.Errorf("no array of type and block: %w", err)
	}
	if _, err := cbor.Decode(outer[0], &b.Type); err != nil {
		return b, fmt.Errorf("the block's type: %w", err)
	}
	b.CBOR = outer[1]
	block, err := items(outer[1], 1)
	if err != nil {
		return b, fmt.Errorf("the block: %w", err)
	}
	header, err := ledger.NewBlockHeaderFromCbor(b.Type, block[0])
	if err != nil {
		return b, fmt.Errorf("the header: %w", err)
	}
	b.Slot, b.Hash, b.Number = header.SlotNumber(), header.Hash(), header.BlockNumber()
	return b, nil
}

// items returns the items of an array, at least n.
func items(raw []byte, least int) (all []cbor.RawMessage, err error) {
	if _, err := cbor.Decode(raw, &all); err != nil {
		return nil, err
	}
	if len(all) < least {
		return nil, fmt.Errorf("%d items, expected at least %d", len(all), least)
	}
	return all, nil
}
