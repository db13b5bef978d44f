package bitcoin

import (
	"fmt"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/rules"
	"birthmark/chains/checkpoint"
	"birthmark/model"
)

// CheckHeader implements [model.HeaderChecker]: checkpoints, proof of work, difficulty, time and version. Chains that
// share block 0 with a network, as Bitcoin Cash does with mainnet, and forged ones fail here. The error has the code
// wrong_network at a checkpoint, else bad_block.
func (c *chain) CheckHeader(b *model.Block, before func(model.HeightPk) ([]byte, error)) error {
	n := c.net
	if len(b.Header) != headerSize {
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: a header of %d bytes, expected %d",
			b.Height, formatHash(b.Hash), len(b.Header), headerSize)
	}
	known := n.rules.Checkpoint(int32(b.Height))
	if b.Height == 0 {
		known = n.params.GenesisHash
	}
	if known != nil {
		if err := checkpoint.Check(c, b, known.String()); err != nil {
			return err
		}
	}
	h := header(b.Header)
	err := n.checkWork(h, b.Hash)
	if err == nil && b.Height > 0 {
		var failed error
		err, failed = n.rules.Check(h.wire(), int32(b.Height), func(height int32) (a rules.Ancestor, ok bool, err error) {
			raw, err := before(model.HeightPk(height))
			if err != nil || len(raw) == 0 {
				return a, false, err
			}
			if len(raw) != headerSize {
				return a, false, fmt.Errorf("it has %d bytes, expected %d", len(raw), headerSize)
			}
			return rules.Ancestor{Bits: header(raw).bits(), Time: int64(header(raw).time())}, true, nil
		})
		if failed != nil {
			return fmt.Errorf("check block %d: read a header before it: %w", b.Height, failed)
		}
	}
	if err != nil {
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: %w", b.Height, formatHash(b.Hash), err)
	}
	return nil
}

// wire is the header as btcd's rules read it.
func (h header) wire() *wire.BlockHeader {
	return &wire.BlockHeader{
		Version: h.version(), PrevBlock: chainhash.Hash(h.parent()), MerkleRoot: chainhash.Hash(h.merkle()),
		Timestamp: time.Unix(int64(h.time()), 0), Bits: h.bits(), Nonce: h.nonce(),
	}
}
