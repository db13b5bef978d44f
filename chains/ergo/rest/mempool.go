package rest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// Answer is a response of the node to a request that is passed on.
type Answer struct {
	Status int
	Body   []byte
}

// Ask sends a request to a path of the node, by POST if there is a body, and returns the response with any status.
func (c *Client) Ask(ctx context.Context, path []string, query url.Values, body []byte) (answer Answer, err error) {
	err = c.do(ctx, nodehttp.Request{Path: path, Query: query, Body: body}, func(a *http.Response) error {
		text, err := io.ReadAll(io.LimitReader(a.Body, maxBlock+1))
		if err == nil && len(text) > maxBlock {
			err = c.badAnswer("/"+strings.Join(path, "/"), "more than %d bytes", maxBlock)
		}
		answer = Answer{a.StatusCode, text}
		return err
	})
	return answer, err
}

// read requests JSON and decodes it to v; found is false if the node has none.
func (c *Client) read(ctx context.Context, path []string, query url.Values, v any) (found bool, err error) {
	a, err := c.Ask(ctx, path, query, nil)
	asked := "/" + strings.Join(path, "/")
	switch {
	case err != nil:
		return false, err
	case a.Status == http.StatusNotFound:
		return false, nil
	case a.Status != http.StatusOK:
		return false, c.refusal(&http.Response{StatusCode: a.Status, Status: strconv.Itoa(a.Status)}, asked, a.Body[:min(len(a.Body), 1<<10)])
	}
	if err := json.Unmarshal(a.Body, v); err != nil {
		return false, c.badAnswer(asked, "invalid JSON: %s", c.http.Excerpt(err.Error(), 80))
	}
	return true, nil
}

// unconfirmedPath is the path of the unconfirmed transactions.
var unconfirmedPath = []string{"transactions", "unconfirmed"}

// MempoolIDs returns the ids of the node's unconfirmed transactions. Old nodes have no list of ids: they return the
// transactions.
func (c *Client) MempoolIDs(ctx context.Context) (ids []model.Hash, err error) {
	var texts []string
	found, err := c.read(ctx, append(unconfirmedPath[:2:2], "transactionIds"), nil, &texts)
	if err != nil {
		return nil, err
	}
	if !found {
		return c.pagedIDs(ctx)
	}
	for _, text := range texts {
		id, err := parseID(text)
		if err != nil {
			return nil, c.badAnswer("/transactions/unconfirmed/transactionIds", "%s", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// pagedReads is how often the pages are read if transactions move between them.
const pagedReads = 3

// pagedIDs returns the ids of the pages of unconfirmed transactions. If transactions move from one page to another while
// these are read, one could be in no page: the pages are read again, and all ids are returned.
func (c *Client) pagedIDs(ctx context.Context) (all []model.Hash, err error) {
	known := map[model.Hash]bool{}
	for range pagedReads {
		var ids []model.Hash
		moved, err := c.unconfirmedPages(ctx, func(id model.Hash, _ []byte) error {
			if len(ids) == 0 || ids[len(ids)-1] != id {
				ids = append(ids, id)
			}
			return nil
		}, func() bool { return true })
		if err != nil {
			return nil, err
		}
		if !moved {
			return ids, nil
		}
		for _, id := range ids {
			if !known[id] {
				known[id] = true
				all = append(all, id)
			}
		}
	}
	return all, nil
}

// unconfirmedPages calls take with the unconfirmed transactions of the node, page by page while more returns true. Pages
// overlap by one transaction, for which take is called twice; moved reports that it was not the same one.
func (c *Client) unconfirmedPages(
	ctx context.Context, take func(id model.Hash, raw []byte) error, more func() bool,
) (moved bool, err error) {
	var last model.Hash // of the previous page
	for offset := 0; more(); offset += txPage - 1 {
		var page []json.RawMessage
		query := url.Values{"offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(txPage)}}
		if _, err := c.read(ctx, unconfirmedPath, query, &page); err != nil {
			return false, err
		}
		moved = moved || offset > 0 && len(page) == 0
		for i, raw := range page {
			var tx struct{ ID string }
			err := json.Unmarshal(raw, &tx)
			var id model.Hash
			if err == nil {
				id, err = parseID(tx.ID)
			}
			if err != nil {
				return false, c.badAnswer("/transactions/unconfirmed", "invalid JSON: %s", c.http.Excerpt(err.Error(), 80))
			}
			moved = moved || i == 0 && offset > 0 && id != last
			last = id
			if err := take(id, raw); err != nil {
				return false, err
			}
		}
		if len(page) < txPage {
			break
		}
	}
	return moved, nil
}

const (
	// fewTxs is the number of transactions up to which each is requested alone.
	fewTxs = 8
	// txPage is the number of transactions in a page of the node's list.
	txPage = 100
)

// MempoolTxs calls take with the JSON of unconfirmed transactions, in any order. It leaves out transactions that the
// node no longer has.
func (c *Client) MempoolTxs(ctx context.Context, ids []model.Hash, take func(id model.Hash, raw []byte) error) error {
	missing := map[model.Hash]bool{}
	for _, id := range ids {
		missing[id] = true
	}
	_, err := c.unconfirmedPages(ctx, func(id model.Hash, raw []byte) error {
		if !missing[id] {
			return nil
		}
		delete(missing, id)
		return take(id, raw)
	}, func() bool { return len(missing) > fewTxs })
	if err != nil {
		return err
	}
	for _, id := range ids { // a transaction that moved between two pages is requested alone
		if !missing[id] {
			continue
		}
		var raw json.RawMessage
		found, err := c.read(ctx, append(unconfirmedPath[:2:2], "byTransactionId", id.String()), nil, &raw)
		if err != nil {
			return err
		}
		if found {
			if err := take(id, raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// Submit sends a serialized transaction. A refusal is of kind [model.Usage], code rejected, with the node's message.
func (c *Client) Submit(ctx context.Context, raw []byte) (model.Hash, error) {
	text, err := c.sendBytes(ctx, "bytes", raw)
	if err != nil {
		return model.Hash{}, err
	}
	id, err := parseID(text)
	if err != nil {
		return id, c.badAnswer("/transactions/bytes", "%s", err)
	}
	return id, nil
}

// Check returns whether the node would accept a serialized transaction: an error as of [Client.Submit] if not.
func (c *Client) Check(ctx context.Context, raw []byte) error {
	_, err := c.sendBytes(ctx, "checkBytes", raw)
	return err
}

// sendBytes sends a serialized transaction and returns the string of the response.
func (c *Client) sendBytes(ctx context.Context, to string, raw []byte) (string, error) {
	body, err := json.Marshal(hex.EncodeToString(raw))
	if err != nil {
		return "", err
	}
	a, err := c.Ask(ctx, []string{"transactions", to}, nil, body)
	if err != nil {
		return "", err
	}
	asked := "/transactions/" + to
	var text string
	if a.Status == http.StatusOK {
		if err := json.Unmarshal(a.Body, &text); err != nil {
			return "", c.badAnswer(asked, "no id")
		}
		return text, nil
	}
	var refused struct{ Reason, Detail string }
	if a.Status != http.StatusBadRequest || json.Unmarshal(a.Body, &refused) != nil {
		return "", c.refusal(&http.Response{StatusCode: a.Status, Status: strconv.Itoa(a.Status)}, asked, a.Body[:min(len(a.Body), 1<<10)])
	}
	if refused.Detail == "" {
		refused.Detail = refused.Reason
	}
	return "", model.Errorf(model.Usage, "rejected", "%w", &model.NodeError{Code: a.Status, Message: refused.Detail})
}

// Fee returns the fee in nanoErg with which the node expects a transaction of a size in bytes to be confirmed within a
// number of minutes.
func (c *Client) Fee(ctx context.Context, minutes, size int) (fee uint64, err error) {
	query := url.Values{"waitTime": {strconv.Itoa(minutes)}, "txSize": {strconv.Itoa(size)}}
	found, err := c.read(ctx, []string{"transactions", "getFee"}, query, &fee)
	if err == nil && (!found || fee > math.MaxInt64) {
		err = c.badAnswer("/transactions/getFee", "no fee")
	}
	return fee, err
}
