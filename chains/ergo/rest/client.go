package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// Options say which node is asked, and what it has to be.
type Options struct {
	URL string // http(s)://[:API_KEY@]HOST[:PORT][/PATH][?cert=FILE]
	// Password is asked for the API key where the URL has none, and again when that was refused; nil or an empty
	// answer: there is none. A colon in it is part of the key.
	Password func() (string, error)
	Network  string        // as /info names it: mainnet
	First    model.Hash    // id of the network's block 1; zero: not known
	Port     string        // where the URL has none
	Poll     time.Duration // how often [Client.Changed] asks; 0: once a second
}

// Client asks one node. Its methods may be called at the same time.
type Client struct {
	options Options
	http    *nodehttp.Client // its Connected: the node has answered
	keys    *keyring

	full     atomic.Uint64              // height of the last full block /info told of
	first    atomic.Pointer[model.Hash] // block 1 of the chain it first told of; nil: it did not
	singly   atomic.Bool                // it has no POST /blocks/headerIds
	toldSync atomic.Bool                // that the node is behind was logged
}

// New makes a client. It looks at the URL and at the certificate it names, and asks nobody anything: an error is of
// kind [model.Usage], code bad_source.
func New(o Options) (*Client, error) {
	h, err := nodehttp.New(&kind, o.URL, o.Port)
	if err != nil {
		return nil, err
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	key, _ := h.User().Password()
	keys := newKeyring(key, o.Password)
	h.Redact = keys.redact
	return &Client{options: o, http: h, keys: keys}, nil
}

// Host is the node's name and port, as errors name it: nothing secret is in it.
func (c *Client) Host() string { return c.http.Host() }

// Tip is the last full block of the node's best chain. A node that has none is not synced, which is an error that
// waiting can heal; one that is behind its headers is told in the log, once.
func (c *Client) Tip(ctx context.Context) (model.Point, error) {
	i, err := c.info(ctx)
	if err == nil && i.tip.IsOrigin() {
		err = blocksource.Temporary(c.notSynced(i))
	}
	return i.tip, err
}

// Changed returns when the node's best chain of full blocks no longer ends in tip. It asks again and again: a node
// has nothing that tells.
func (c *Client) Changed(ctx context.Context, tip model.Point) error {
	for {
		i, err := c.info(ctx)
		if err != nil || i.tip != tip {
			return err
		}
		select {
		case <-time.After(c.options.Poll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close lets go of the connections. No call may be under way.
func (c *Client) Close() error { return c.http.Close() }

// maxIDs is how many ids a node gives at once.
const maxIDs = 16384

// Hashes is the best chain from a height on: at most n ids, fewer at its end, none of a header above the last full
// block. They may be of a chain whose full blocks are not there yet.
func (c *Client) Hashes(ctx context.Context, from model.HeightPk, n int) (ids []model.Hash, err error) {
	if n <= 0 {
		return nil, nil
	}
	if full := c.full.Load(); uint64(from)+uint64(n)-1 > full {
		i, err := c.info(ctx)
		if err != nil || from > i.tip.Height {
			return nil, err
		}
		n = int(min(uint64(n), uint64(i.tip.Height-from)+1))
	}
	for len(ids) < n {
		asked := min(n-len(ids), maxIDs)
		part, err := c.ids(ctx, uint64(from)+uint64(len(ids)), asked)
		if err != nil {
			return nil, err
		}
		ids = append(ids, part...)
		if len(part) < asked {
			break
		}
	}
	return ids, nil
}

// ids asks for ids of the best chain of headers.
func (c *Client) ids(ctx context.Context, from uint64, n int) (ids []model.Hash, err error) {
	query := url.Values{"offset": {strconv.FormatUint(from, 10)}, "limit": {strconv.Itoa(n)}}
	err = c.do(ctx, nodehttp.Request{Path: []string{"blocks"}, Query: query}, func(a *http.Response) error {
		text, whole, err := all(a)
		if err != nil {
			return err
		}
		var texts []string
		if a.StatusCode != http.StatusOK {
			return c.refusal(a, "/blocks", text)
		}
		if err := json.Unmarshal(text, &texts); err != nil || !whole {
			return c.refusal(a, "/blocks", text)
		}
		if len(texts) > n {
			return c.badAnswer("/blocks", "%d ids, asked for %d", len(texts), n)
		}
		ids = make([]model.Hash, len(texts))
		for i, t := range texts {
			if ids[i], err = parseID(t); err != nil {
				return c.badAnswer("/blocks", "%s", err)
			}
		}
		return nil
	})
	return ids, err
}

// Blocks asks for full blocks and hands them on in the order of ids, each as its JSON, which is only good during the
// call. Those the node does not have are left out. It ends early where take wants no more.
func (c *Client) Blocks(ctx context.Context, ids []model.Hash, take func(raw []byte) (more bool, err error)) error {
	if len(ids) == 0 {
		return nil
	}
	if !c.singly.Load() {
		err := c.group(ctx, ids, take)
		if !errors.Is(err, errNoGroups) {
			return err
		}
		c.singly.Store(true)
	}
	for _, id := range ids {
		more := true
		if _, err := c.block(ctx, id, func(raw []byte) (err error) {
			more, err = take(raw)
			return err
		}); err != nil || !more {
			return err
		}
	}
	return nil
}

var errNoGroups = errors.New("the node does not give blocks in groups")

// group asks for several blocks at once.
func (c *Client) group(ctx context.Context, ids []model.Hash, take func([]byte) (bool, error)) error {
	const asked = "/blocks/headerIds"
	body := make([]byte, 0, 67*len(ids)+2)
	for _, id := range ids {
		body = append(append(append(body, `,"`...), id.String()...), '"')
	}
	body[0] = '['
	body = append(body, ']')
	return c.do(ctx, nodehttp.Request{Path: []string{"blocks", "headerIds"}, Body: body}, func(a *http.Response) error {
		switch a.StatusCode {
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			return errNoGroups
		}
		s := jsonstream.New(a.Body, maxBlock)
		if begins, err := s.Begins(); a.StatusCode != http.StatusOK || err == io.EOF || err == nil && begins != '[' {
			return c.refusal(a, asked, s.Buffered(1<<10))
		} else if err != nil {
			return c.cut(asked, err)
		}
		for n := 0; ; n++ {
			raw, err := s.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return c.cut(asked, err)
			}
			if n == len(ids) {
				return c.badAnswer(asked, "more than the %d blocks that were asked for", n)
			}
			if more, err := take(raw); err != nil || !more {
				return err
			}
		}
	})
}

// block asks for one block; not found where the node does not have it.
func (c *Client) block(ctx context.Context, id model.Hash, take func([]byte) error) (found bool, err error) {
	asked := "/blocks/" + id.String()
	err = c.do(ctx, nodehttp.Request{Path: []string{"blocks", id.String()}}, func(a *http.Response) error {
		if a.StatusCode == http.StatusNotFound {
			return nil
		}
		s := jsonstream.New(a.Body, maxBlock)
		if begins, err := s.Begins(); a.StatusCode != http.StatusOK || err == io.EOF || err == nil && begins != '{' {
			return c.refusal(a, asked, s.Buffered(1<<10))
		} else if err != nil {
			return c.cut(asked, err)
		}
		raw, err := s.Next()
		if err != nil {
			return c.cut(asked, err)
		}
		found = true
		return take(raw)
	})
	return found, err
}

// cut is the error of an answer that is not the JSON it began as.
func (c *Client) cut(asked string, err error) error {
	_, isSyntax := errors.AsType[*jsonstream.SyntaxError](err)
	switch {
	case err == jsonstream.ErrTooLarge:
		return c.badAnswer(asked, "more than the %d bytes a block can have", maxBlock)
	case err == io.ErrUnexpectedEOF:
		return c.badAnswer(asked, "JSON that ends in the middle")
	case isSyntax:
		return c.badAnswer(asked, "JSON that is broken: %s", c.http.Excerpt(err.Error(), 80))
	}
	return err
}

// GenesisBoxes is the JSON list of the boxes that exist before block 1.
func (c *Client) GenesisBoxes(ctx context.Context) (boxes []byte, err error) {
	const asked = "/utxo/genesis"
	err = c.do(ctx, nodehttp.Request{Path: []string{"utxo", "genesis"}}, func(a *http.Response) error {
		text, whole, err := all(a)
		if err != nil {
			return err
		}
		if a.StatusCode != http.StatusOK || !whole || !json.Valid(text) || text[0] != '[' {
			return c.refusal(a, asked, text)
		}
		boxes = text
		return nil
	})
	return boxes, err
}
