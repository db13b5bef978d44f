package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/guard"
	"birthmark/model"
)

const (
	// maxList is the maximum size in bytes of the list of unconfirmed transactions: some 1.5 million ids.
	maxList = 100 << 20
	// txsAtOnce is the number of transactions requested in a batch, and txBatches the number of concurrent batches.
	txsAtOnce = 100
	txBatches = 4
)

// displayHash is a hash in JSON.
type displayHash model.Hash

func (h *displayHash) UnmarshalText(text []byte) error {
	hash, err := parseHash(string(text))
	*h = displayHash(hash)
	return err
}

// MempoolIDs returns the ids of the node's unconfirmed transactions, and the number of the last change that they
// include; 0 if the node does not number changes, or none has occurred.
func (c *Client) MempoolIDs(ctx context.Context) (ids []model.Hash, sequence uint64, err error) {
	const method = "getrawmempool"
	var text json.RawMessage
	if c.features.has(numberedList) {
		e, err := one(ctx, c, maxList, false, &text, method, false, true)
		if err != nil {
			return nil, 0, err
		}
		if e == nil {
			var list struct {
				IDs  []displayHash `json:"txids"`
				Next uint64        `json:"mempool_sequence"` // of the next change
			}
			if err := json.Unmarshal(text, &list); err != nil {
				return nil, 0, c.badResult(method, c.http.Excerpt(err.Error(), redactedLength))
			}
			return hashesOf(list.IDs), max(list.Next, 1) - 1, nil
		}
		if !unknown(e) {
			return nil, 0, c.callError(method, e)
		}
		c.missing(numberedList, "the list of unconfirmed transactions is compared without them")
	}
	e, err := one(ctx, c, maxList, false, &text, method)
	if err != nil {
		return nil, 0, err
	}
	if e != nil {
		return nil, 0, c.callError(method, e)
	}
	var list []displayHash
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, 0, c.badResult(method, c.http.Excerpt(err.Error(), redactedLength))
	}
	return hashesOf(list), 0, nil
}

func hashesOf(list []displayHash) []model.Hash {
	ids := make([]model.Hash, len(list))
	for i, h := range list {
		ids[i] = model.Hash(h)
	}
	return ids
}

// MempoolTxs returns serialized transactions in the order of ids, nil for one that the node does not have. They are not
// verified.
func (c *Client) MempoolTxs(ctx context.Context, ids []model.Hash) ([][]byte, error) {
	raws := make([][]byte, len(ids))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(txBatches)
	for from := 0; from < len(ids) && inner.Err() == nil; from += txsAtOnce {
		to := min(from+txsAtOnce, len(ids))
		g.Go(func() error {
			return guard.Call(func() error { return c.txBatch(inner, ids[from:to], raws[from:to]) })
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return raws, ctx.Err()
}

func (c *Client) txBatch(ctx context.Context, ids []model.Hash, raws [][]byte) error {
	const method = "getrawtransaction"
	calls := make([]call, len(ids))
	for i, id := range ids {
		calls[i] = call{method, []any{block.FormatHash(id)}}
	}
	_, err := ask(ctx, c, func(node) (none struct{}, _ error) {
		return none, post(ctx, c, calls, c.maxReply(), false, func(i int, raw rawHex, e *rpcError) (bool, error) {
			switch {
			case e != nil && e.Code == codeNotFound:
			case e != nil:
				return true, c.callError(method, e)
			case !raw.ok:
				return true, c.badResult(method, fmt.Sprintf("no hex for %s", block.FormatHash(ids[i])))
			default:
				raws[i] = raw.bytes
			}
			return false, nil
		})
	})
	return err
}

// SaveMempool makes the node write its mempool to a file and returns the file's path on the node's machine; empty if
// the node cannot.
func (c *Client) SaveMempool(ctx context.Context) (path string, err error) {
	const method = "savemempool"
	if !c.features.has(saving) {
		return "", nil
	}
	result, e, err := c.one(ctx, true, method)
	if err != nil {
		return "", err
	}
	if e != nil {
		// -1 also means that the node is still loading its mempool.
		if e.Code == codeNoMethod {
			c.missing(saving, "unconfirmed transactions are requested one by one")
		}
		return "", nil
	}
	var saved struct {
		Filename string `json:"filename"`
	}
	_ = json.Unmarshal(result, &saved) // Core before 22 returns null
	return saved.Filename, nil
}

// Notifications returns the addresses at which the node publishes notifications over ZMQ, by kind: pubsequence.
func (c *Client) Notifications(ctx context.Context) (addresses map[string][]string, err error) {
	const method = "getzmqnotifications"
	if !c.features.has(notifications) {
		return nil, nil
	}
	result, e, err := c.one(ctx, false, method)
	if err != nil {
		return nil, err
	}
	if e != nil {
		if !unknown(e) {
			return nil, c.callError(method, e)
		}
		c.missing(notifications, "new unconfirmed transactions are found over WebSocket or by listing them")
		return nil, nil
	}
	var list []struct{ Type, Address string }
	if err := json.Unmarshal(result, &list); err != nil {
		return nil, c.badResult(method, c.http.Excerpt(err.Error(), redactedLength))
	}
	addresses = map[string][]string{}
	for _, n := range list {
		addresses[n.Type] = append(addresses[n.Type], n.Address)
	}
	return addresses, nil
}
