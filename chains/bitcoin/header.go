package bitcoin

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// Header is the `header` object of a block's JSON. Hash, parent and time are fields of the block.
type Header struct {
	Version    int32   `json:"version"`
	MerkleRoot string  `json:"merkle_root"`
	Bits       string  `json:"bits"` // the compact target, 8 hex digits
	Nonce      uint32  `json:"nonce"`
	Difficulty float64 `json:"difficulty"` // in units of mainnet's easiest target
}

func (c *chain) parseHeader(raw []byte) (*Header, error) {
	if err := c.checkSize(raw); err != nil {
		return nil, err
	}
	h := block.Header(raw)
	return &Header{
		Version:    h.Version(),
		MerkleRoot: block.FormatHash(h.MerkleRoot()),
		Bits:       fmt.Sprintf("%08x", h.Bits()),
		Nonce:      h.Nonce(),
		Difficulty: difficulty(h.Bits()),
	}, nil
}

// People returns the fields that a page shows, as name and value, the most important first.
func (h *Header) People() [][2]string {
	return [][2]string{
		{"difficulty", humanize.Decimal(h.Difficulty)},
		{"bits", h.Bits},
		{"nonce", strconv.FormatUint(uint64(h.Nonce), 10)},
		{"version", fmt.Sprintf("0x%08x", uint32(h.Version))},
		{"merkle root", h.MerkleRoot},
	}
}

// difficulty is computed as in Core (GetDifficulty in rpc/blockchain.cpp), so that the digits agree. It is 0 if the
// target has no mantissa, which is invalid in a header.
func difficulty(compact uint32) float64 {
	mantissa := compact & 0xffffff
	if mantissa == 0 {
		return 0
	}
	d := float64(0xffff) / float64(mantissa)
	shift := int(compact >> 24)
	for ; shift < 29; shift++ {
		d *= 256
	}
	for ; shift > 29; shift-- {
		d /= 256
	}
	return d
}

// CheckHeader implements [model.HeaderChecker]: checkpoints, proof of work, difficulty, time and version, the last three
// if the network has rules. Chains that share block 0 with a network, such as Bitcoin Cash with mainnet, and forged
// chains fail here. The error has the code wrong_network at a checkpoint, else bad_block.
func (c *chain) CheckHeader(b *model.Block, before func(model.HeightPk) ([]byte, error)) error {
	n := c.net
	if err := c.checkSize(b.Header); err != nil {
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: %w", b.Height, block.FormatHash(b.Hash), err)
	}
	known := n.Checkpoints[b.Height]
	if n.Rules != nil && n.Rules.Checkpoint(int32(b.Height)) != nil {
		known = n.Rules.Checkpoint(int32(b.Height)).String()
	}
	if b.Height == 0 {
		known = block.FormatHash(n.Genesis)
	}
	if err := adapter.CheckKnown(c, b, known); err != nil {
		return err
	}
	h := block.Header(b.Header)
	var err error
	switch {
	case n.Limit == nil:
	case n.Coin.Format.Work != nil: // the decoder has checked the work
		err = n.Coin.Format.CheckTarget(h, n.Limit)
	default:
		err = n.Coin.Format.CheckWork(h, b.Hash, n.Limit)
	}
	if err == nil && b.Height > 0 && n.Rules != nil {
		var failed error
		var header wire.BlockHeader
		if err := header.Deserialize(bytes.NewReader(b.Header)); err != nil {
			return err // impossible: it has the size of a header
		}
		err, failed = n.Rules.Check(&header, int32(b.Height), func(height int32) (a rules.Ancestor, ok bool, err error) {
			raw, err := before(model.HeightPk(height))
			if err != nil || len(raw) == 0 {
				return a, false, err
			}
			if len(raw) != block.HeaderSize {
				return a, false, fmt.Errorf("a header of %d bytes: expected %d", len(raw), block.HeaderSize)
			}
			h := block.Header(raw)
			return rules.Ancestor{Bits: h.Bits(), Time: int64(h.Time())}, true, nil
		})
		if failed != nil {
			return fmt.Errorf("check block %d: read an earlier header: %w", b.Height, failed)
		}
	}
	if err != nil {
		return model.Errorf(model.BadSource, "bad_block", "block %d %s: %w", b.Height, block.FormatHash(b.Hash), err)
	}
	return nil
}
