package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// hashesAtOnce is the maximum number of getblockhash calls in a batch.
const hashesAtOnce = 500

// maxReply bounds a response with a block: its hex and the rest of the JSON.
func (c *Client) maxReply() int { return 2*c.format().MaxSize + 4<<10 }

// rpcNode uses JSON-RPC only.
type rpcNode struct{ *Client }

// identify returns the state of the node's chain and its block 0, in one batch.
func (n rpcNode) identify(ctx context.Context) (info chainInfo, genesis model.Hash, err error) {
	results, err := n.results(ctx, call{"getblockhash", []any{0}}, call{method: "getblockchaininfo"})
	if err != nil {
		return info, genesis, err
	}
	if genesis, err = n.hash("getblockhash", results[0]); err != nil {
		return info, genesis, err
	}
	info, err = n.parseInfo(results[1])
	return info, genesis, err
}

func (n rpcNode) info(ctx context.Context) (chainInfo, error) {
	results, err := n.results(ctx, call{method: "getblockchaininfo"})
	if err != nil {
		return chainInfo{}, err
	}
	return n.parseInfo(results[0])
}

func (n rpcNode) best(ctx context.Context) (model.Hash, error) {
	results, err := n.results(ctx, call{method: "getbestblockhash"})
	if err != nil {
		return model.Hash{}, err
	}
	return n.hash("getbestblockhash", results[0])
}

// results makes a few calls, all of which must succeed.
func (n rpcNode) results(ctx context.Context, calls ...call) ([]json.RawMessage, error) {
	results, errs, err := n.batch(ctx, false, calls...)
	if err != nil {
		return nil, err
	}
	for i, e := range errs {
		if e != nil {
			return nil, n.callError(calls[i].method, e)
		}
	}
	return results, nil
}

// batch makes calls, each of which must have a result unless one has an error. waits: see [nodehttp.Request].
func (c *Client) batch(ctx context.Context, waits bool, calls ...call) ([]json.RawMessage, []*rpcError, error) {
	results, errs := make([]json.RawMessage, len(calls)), make([]*rpcError, len(calls))
	err := post(ctx, c, calls, smallAnswer, waits, func(i int, result json.RawMessage, e *rpcError) (bool, error) {
		results[i], errs[i] = result, e
		return false, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(errs, func(e *rpcError) bool { return e != nil }) {
		return results, errs, nil // these explain missing results
	}
	for i, call := range calls {
		if len(results[i]) == 0 {
			return nil, nil, c.badResult(call.method, "nothing")
		}
	}
	return results, errs, nil
}

func (c *Client) badResult(method, got string) error {
	return model.Errorf(model.BadSource, "bad_answer", "%s: %s returned %s", c.Host(), method, got)
}

func (c *Client) parseInfo(raw []byte) (info chainInfo, err error) {
	if err = json.Unmarshal(raw, &info); err == nil {
		err = info.check()
	}
	if err != nil {
		err = c.badResult("getblockchaininfo", c.http.Excerpt(err.Error(), redactedLength))
	}
	return info, err
}

func (c *Client) hash(method string, raw []byte) (model.Hash, error) {
	var text string
	err := json.Unmarshal(raw, &text)
	if err == nil {
		var h model.Hash
		if h, err = parseHash(text); err == nil {
			return h, nil
		}
	}
	return model.Hash{}, c.badResult(method, c.http.Excerpt(err.Error(), redactedLength))
}

func (n rpcNode) hashes(ctx context.Context, from model.HeightPk, count int) ([]model.Hash, error) {
	var hashes []model.Hash
	for len(hashes) < count {
		asked := min(count-len(hashes), hashesAtOnce)
		part, err := n.hashBatch(ctx, int64(from)+int64(len(hashes)), asked)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, part...)
		if len(part) < asked {
			break
		}
	}
	return hashes, nil
}

// hashBatch returns a batch of hashes up to the end of the chain.
func (n rpcNode) hashBatch(ctx context.Context, from int64, count int) ([]model.Hash, error) {
	calls := make([]call, count)
	for i := range calls {
		calls[i] = call{"getblockhash", []any{from + int64(i)}}
	}
	results, errs, err := n.batch(ctx, false, calls...)
	if err != nil {
		return nil, err
	}
	var hashes []model.Hash
	for i, e := range errs {
		if e != nil && aboveChain(e) {
			break
		}
		if e != nil {
			return nil, n.callError("getblockhash", e)
		}
		hash, err := n.hash("getblockhash", results[i])
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

// aboveChain reports whether an error means that there is no block at a height: Core and btcd have different codes for
// it, and btcd uses its code for other errors too.
func aboveChain(e *rpcError) bool {
	return e.Code == codeParameter || e.Code == codeMisc && strings.Contains(e.Message, "out of range")
}

func (n rpcNode) raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error) {
	argument := n.options.Network.Coin.BlockArgument
	if argument == nil {
		argument = 0
	}
	calls := make([]call, len(points))
	for i, p := range points {
		calls[i] = call{"getblock", []any{block.FormatHash(p.Hash), argument}}
	}
	got := newCollection(n.Client, points, limit)
	body, err := batchBody(calls)
	if err == nil {
		err = n.authorizedPost(ctx, body, false, func(a *answer) error { return blockReplies(a, calls, got) })
	}
	return got.result(ctx, err)
}

// collection collects blocks that arrive in any order.
type collection struct {
	*Client
	points []model.Point
	limit  int64

	blocks [][]byte // by position; nil: missing
	whole  int      // number of blocks without a gap from the first on
	bytes  int64    // their size
	failed int      // the first position without a block
	why    error    // the error of failed
}

func newCollection(c *Client, points []model.Point, limit int64) *collection {
	return &collection{Client: c, points: points, limit: limit, blocks: make([][]byte, len(points)), failed: len(points)}
}

// add adds one result: the bytes of a block, nil if it is not hex. Beyond the limit it keeps only the first block, which
// may be the last to arrive.
func (g *collection) add(i int, raw *block.Buffer, e *rpcError) (done bool) {
	full := g.bytes > 0 && g.bytes >= g.limit
	switch err := g.check(i, raw, e); {
	case err != nil && i < g.failed:
		g.failed, g.why = i, err
	case err == nil && g.blocks[i] == nil && (i == 0 || !full):
		g.blocks[i] = g.held.Bytes(raw)
		g.bytes += int64(len(raw.Bytes))
		raw = nil
	}
	if raw != nil {
		raw.Free()
	}
	for g.whole < g.failed && g.blocks[g.whole] != nil {
		g.whole++
	}
	return g.whole == g.failed || g.whole > 0 && g.bytes >= g.limit
}

// check returns the error of a result that is not the requested block.
func (g *collection) check(i int, raw *block.Buffer, e *rpcError) error {
	switch {
	case e != nil && (e.Code == codeNotFound || e.Code == codeMisc):
		return &missing{e.Error()}
	case e != nil:
		return g.callError("getblock", e)
	case raw == nil:
		return g.badBlock(g.points[i], "no hex")
	}
	return g.checkBlock(g.points[i], raw.Bytes)
}

// result returns the blocks without a gap from the first on; err is the error of the response. An error after some
// blocks is left to the next call, which begins there.
func (g *collection) result(ctx context.Context, err error) ([][]byte, error) {
	kept := g.whole
	if ctx.Err() != nil {
		kept = 0
	}
	for _, raw := range g.blocks[kept:] {
		g.Release(raw)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case g.whole > 0:
		return g.blocks[:g.whole], nil
	case g.failed == 0:
		return nil, g.why
	case err == nil:
		return nil, g.badBlock(g.points[0], "no answer")
	}
	if _, code := model.KindOf(err); code == "bad_answer" {
		err = fmt.Errorf("block %d %s: %w", g.points[0].Height, block.FormatHash(g.points[0].Hash), err)
	}
	return nil, err
}
