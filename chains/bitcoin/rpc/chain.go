package rpc

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/chainhash/v2"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// chainInfo is the response of getblockchaininfo and of REST's chaininfo.
type chainInfo struct {
	Chain       string `json:"chain"`
	Blocks      int64  `json:"blocks"`
	Headers     int64  `json:"headers"`
	BestHash    string `json:"bestblockhash"`
	Initial     bool   `json:"initialblockdownload"`
	Pruned      bool   `json:"pruned"`
	PruneHeight int64  `json:"pruneheight"` // of the first available block; btcd omits it

	tip model.Point // of Blocks and BestHash
}

// check sets the tip. A response without one is not a chain state.
func (i *chainInfo) check() (err error) {
	if i.Blocks < 0 {
		return fmt.Errorf("a height of %d", i.Blocks)
	}
	if i.tip.Height, err = model.NewHeightPk(uint64(i.Blocks)); err != nil {
		return err
	}
	i.tip.Hash, err = parseHash(i.BestHash)
	return err
}

// network returns the name of the node's network as in settings.
func (c *Client) network(i chainInfo) string {
	switch i.Chain {
	case "main":
		return "mainnet"
	case "test":
		return "testnet3"
	}
	return c.http.Excerpt(i.Chain, 20)
}

// parseHash parses a hash of a node: 64 hex digits, last byte first.
func parseHash(text string) (h model.Hash, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, errors.New("a hash that is not 64 hex digits")
	}
	slices.Reverse(b)
	return model.Hash(b), nil
}

func show(h model.Hash) string { return chainhash.Hash(h).String() }

const (
	headerSize = 80
	// maxBlock is an upper bound for the size of a block: 4,000,000 weight units, at least one per byte.
	maxBlock = 4_000_000 + 4<<10
)

// hashHeader hashes the header of a serialized block.
func hashHeader(b []byte) model.Hash { return model.Hash(chainhash.DoubleHashH(b[:headerSize])) }

// checkBlock returns an error if raw is not the block of p.
func (c *Client) checkBlock(p model.Point, raw []byte) error {
	if len(raw) < headerSize {
		return c.badBlock(p, "%d bytes, less than the %d of a header", len(raw), headerSize)
	}
	if len(raw) > maxBlock {
		return c.badBlock(p, "more than the %d bytes a block can have", maxBlock)
	}
	if got := hashHeader(raw); got != p.Hash {
		return c.badBlock(p, "block %s", show(got))
	}
	return nil
}

func (c *Client) badBlock(p model.Point, format string, args ...any) error {
	return model.Errorf(model.BadSource, "bad_answer", "asked for block %d %s, %s gave %s", p.Height, show(p.Hash), c.Host(), fmt.Sprintf(format, args...))
}

// missing is the error of a block that the node does not return; Client.explain converts it.
type missing struct{ said string }

func (m *missing) Error() string { return m.said }

// explain returns the reason why the node does not return a block: its chain has changed, the block is pruned, or it is
// not available yet, as in Core for some time after a start from a snapshot.
func (c *Client) explain(ctx context.Context, n node, p model.Point, why *missing) error {
	info, err := n.info(ctx)
	if err != nil {
		return err
	}
	hashes, err := n.hashes(ctx, p.Height, 1)
	if err != nil {
		return err
	}
	if len(hashes) == 0 || hashes[0] != p.Hash {
		return blocksource.ErrMoved
	}
	if info.Pruned {
		first := info.PruneHeight
		if first == 0 {
			if first, err = c.firstBlock(ctx, n, int64(p.Height), info.Blocks); err != nil {
				return err
			}
		}
		if int64(p.Height) < first {
			return model.Errorf(model.BadSource, "pruned",
				"%s has deleted the blocks below %s (it is pruned), and block %s is needed: expected a node that has it",
				c.Host(), thousands(first), thousands(int64(p.Height)))
		}
	}
	return blocksource.Temporary(model.Errorf(model.BadSource, "block_missing",
		"%s does not give block %d %s of its own chain: %s", c.Host(), p.Height, show(p.Hash), why.said))
}

// firstBlock returns the height of the first block of the node; the node lacks the block at lacks and has the one at
// has.
func (c *Client) firstBlock(ctx context.Context, n node, lacks, has int64) (int64, error) {
	for has-lacks > 1 {
		p := model.Point{Height: model.HeightPk((lacks + has) / 2)}
		hashes, err := n.hashes(ctx, p.Height, 1)
		if err != nil {
			return 0, err
		}
		if len(hashes) == 0 {
			return 0, blocksource.ErrMoved
		}
		p.Hash = hashes[0]
		_, err = n.raw(ctx, []model.Point{p}, 0)
		_, isMissing := errors.AsType[*missing](err)
		switch {
		case err == nil:
			has = int64(p.Height)
		case isMissing:
			lacks = int64(p.Height)
		default:
			return 0, err
		}
	}
	return has, nil
}

// thousands formats a height: 700,000.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
