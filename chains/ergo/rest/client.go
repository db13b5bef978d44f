package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// Options select a node and its expected properties.
type Options struct {
	URL string // http(s)://[:API_KEY@]HOST[:PORT][/PATH][?cert=FILE]
	// Password returns the API key if the URL has none. It is called again after the key was refused. nil or an empty
	// result: no key. A colon is part of the key.
	Password func() (string, error)
	Proxy    string        // as in [model.SourceOptions]
	Network  string        // as in /info: mainnet
	First    model.Hash    // id of the network's block 1; zero: unknown
	Port     string        // if the URL has none
	Poll     time.Duration // interval of [Client.Changed]; 0: one second
}

// Client sends requests to one node. Its methods may be called concurrently.
type Client struct {
	options Options
	http    *nodehttp.Client // Connected is set after the first response
	key     *adapter.Secret[string]

	full       atomic.Uint64              // height of the last full block in /info
	first      atomic.Pointer[model.Hash] // block 1 of the node's chain when first seen; nil: not seen yet
	singly     atomic.Bool                // the node has no POST /blocks/headerIds
	loggedSync atomic.Bool                // the message that the node is behind was logged
}

// New returns a client. It parses the URL and reads its certificate file, without any request. The error is of kind
// [model.Usage], code bad_source.
func New(o Options) (*Client, error) {
	of := kind
	of.Chain = "ergo " + o.Network
	h, err := nodehttp.New(&of, o.URL, o.Port, o.Proxy)
	if err != nil {
		return nil, err
	}
	if o.Poll <= 0 {
		o.Poll = time.Second
	}
	c := &Client{options: o, http: h}
	if key, _ := h.User().Password(); key != "" || o.Password == nil {
		c.key = adapter.NewSecret(key, nil)
	} else {
		c.key = adapter.NewSecret("", func() (string, error) {
			key, err := o.Password()
			return strings.TrimRight(key, "\r\n"), err
		})
	}
	h.Redact = func(text string) string {
		if key := c.key.Current(); key != "" {
			return strings.ReplaceAll(text, key, "…")
		}
		return text
	}
	return c, nil
}

// Host returns the node's name and port for errors, without secrets.
func (c *Client) Host() string { return c.http.Host() }

// Tip returns the last full block of the node's best chain. A node without full blocks is not synced, a temporary
// error. If the full blocks are behind the headers, this is logged once.
func (c *Client) Tip(ctx context.Context) (model.Point, error) {
	i, err := c.info(ctx)
	if err == nil && i.tip.IsOrigin() {
		err = blocksource.Temporary(c.notSynced(i))
	}
	return i.tip, err
}

// Changed returns when the node's best chain of full blocks no longer ends in tip. It polls, since nodes have no
// notifications.
func (c *Client) Changed(ctx context.Context, tip model.Point) error {
	for {
		i, err := c.info(ctx)
		if err != nil || i.tip != tip {
			return err
		}
		if err := blocksource.Sleep(ctx, c.options.Poll); err != nil {
			return err
		}
	}
}

// Close closes the connections. No call may be active.
func (c *Client) Close() error { return c.http.Close() }

// maxIDs is the maximum number of ids in a response.
const maxIDs = 16384

// Hashes returns the best chain from a height on: at most n ids, fewer at its end, none above the last full block. They
// may belong to a chain whose full blocks have not arrived yet.
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

// ids requests ids of the best chain of headers.
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
			return c.badAnswer("/blocks", "%d ids, expected %d", len(texts), n)
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

// Blocks requests full blocks and passes them to take in the order of ids, each as JSON that is valid during the call.
// Blocks that the node does not have are omitted. It ends early if take returns false.
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

var errNoGroups = errors.New("the node does not return several blocks per request")

// group requests several blocks at once.
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
				return c.badAnswer(asked, "more than the %d requested blocks", n)
			}
			if more, err := take(raw); err != nil || !more {
				return err
			}
		}
	})
}

// block requests one block; ok is false if the node does not have it.
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

// cut is the error of a truncated or invalid JSON response.
func (c *Client) cut(asked string, err error) error {
	_, isSyntax := errors.AsType[*jsonstream.SyntaxError](err)
	switch {
	case err == jsonstream.ErrTooLarge:
		return c.badAnswer(asked, "more than the %d bytes a block can have", maxBlock)
	case err == io.ErrUnexpectedEOF:
		return c.badAnswer(asked, "truncated JSON")
	case isSyntax:
		return c.badAnswer(asked, "invalid JSON: %s", c.http.Excerpt(err.Error(), 80))
	}
	return err
}

// GenesisBoxes returns the JSON list of the boxes that exist before block 1.
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
