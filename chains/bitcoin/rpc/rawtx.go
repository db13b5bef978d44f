package rpc

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// rawTxs is the state of [Client.RawTx].
type rawTxs struct {
	byBlock atomic.Bool // the node has no getrawtransaction with a block hash

	mu   sync.Mutex // protects the block that was fetched last
	hash model.Hash
	raw  []byte
}

// RawTx implements [model.RawReader]: getrawtransaction with the hash of the block, which needs no index of the node;
// if the node refuses it, as btcd does, or has REST only, the transaction is cut out of the block. The caller checks
// the hash of the bytes.
func (c *Client) RawTx(ctx context.Context, at model.Point, index int, tx model.Hash) ([]byte, error) {
	raw, err := ask(ctx, c, func(n node) ([]byte, error) {
		if ok, err := c.callsRawTx(n); err != nil {
			return nil, err
		} else if ok {
			raw, err := c.rawTx(ctx, at, tx)
			if raw != nil || err != nil {
				return raw, err
			}
		}
		return c.cutFromBlock(ctx, n, at, index)
	})
	if kind, code := model.KindOf(err); kind == model.BadSource && code == "pruned" || errors.Is(err, blocksource.ErrMoved) {
		return nil, model.Errorf(model.NotFound, "no_raw", "%s does not have transaction %s of block %d any more: %w",
			c.Host(), block.FormatHash(tx), at.Height, err)
	}
	return raw, err
}

// callsRawTx reports whether getrawtransaction can be called: REST needs no credentials, JSON-RPC does.
func (c *Client) callsRawTx(n node) (bool, error) {
	if c.rawTxs.byBlock.Load() {
		return false, nil
	}
	if _, byREST := n.(restNode); !byREST {
		return true, nil
	}
	auth, err := c.secret.Get()
	if err != nil {
		return false, c.passwordError(err)
	}
	return auth != credentials{}, nil
}

// rawTx calls getrawtransaction. It returns nil without an error if the node refuses the call.
func (c *Client) rawTx(ctx context.Context, at model.Point, tx model.Hash) (raw []byte, err error) {
	const method = "getrawtransaction"
	calls := []call{{method, []any{block.FormatHash(tx), 0, block.FormatHash(at.Hash)}}}
	err = post(ctx, c, calls, c.maxReply(), false, func(_ int, result rawHex, e *rpcError) (bool, error) {
		switch {
		case e != nil && e.Code == codeStarting:
			return true, c.callError(method, e)
		case e != nil:
			if e.Code == codeBadParams || e.Code == codeNoMethod {
				c.rawTxs.byBlock.Store(true)
			}
		case !result.ok:
			return true, c.badResult(method, "no hex")
		default:
			raw = result.bytes
		}
		return true, nil
	})
	return raw, err
}

// cutFromBlock fetches the block, unless it is the one that was fetched last, and cuts the transaction out of it.
func (c *Client) cutFromBlock(ctx context.Context, n node, at model.Point, index int) ([]byte, error) {
	last := &c.rawTxs
	last.mu.Lock()
	defer last.mu.Unlock()
	if last.hash != at.Hash || last.raw == nil {
		blocks, err := n.raw(ctx, []model.Point{at}, 0)
		if m, ok := errors.AsType[*missing](err); ok {
			err = c.explain(ctx, n, at, m)
		}
		if err != nil {
			return nil, err
		}
		last.hash, last.raw = at.Hash, blocks[0]
	}
	raw, err := c.format().TxAt(last.raw, index)
	if err != nil {
		return nil, c.badBlock(at, "a block that is not valid: %v", err)
	}
	return raw, nil
}

// rawHex is the bytes of a hex string in JSON, decoded without a copy; ok is false if it is not one.
type rawHex struct {
	bytes []byte
	ok    bool
}

// UnmarshalJSON accepts any value; the error is reported later.
func (h *rawHex) UnmarshalJSON(b []byte) error {
	*h = rawHex{}
	if len(b) < 2 || b[0] != '"' {
		return nil
	}
	b = b[1 : len(b)-1]
	raw := make([]byte, hex.DecodedLen(len(b)))
	if _, err := hex.Decode(raw, b); err == nil {
		*h = rawHex{raw, true}
	}
	return nil
}
