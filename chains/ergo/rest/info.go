package rest

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"birthmark/chains/adapter"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// info has the relevant fields of /info. A starting node sends null for unknown ones.
type info struct {
	AppVersion       string `json:"appVersion"`
	Network          string `json:"network"` // missing in old nodes
	FullHeight       *int64 `json:"fullHeight"`
	HeadersHeight    *int64 `json:"headersHeight"`
	MaxPeerHeight    *int64 `json:"maxPeerHeight"`
	BestFullHeaderID string `json:"bestFullHeaderId"`
	GenesisBlockID   string `json:"genesisBlockId"`

	tip model.Point // the origin if there is no full block
}

// parse parses /info and sets the tip.
func (i *info) parse(text []byte) error {
	if err := json.Unmarshal(text, i); err != nil {
		return err
	}
	if i.AppVersion == "" && i.FullHeight == nil && i.HeadersHeight == nil {
		return errors.New("neither appVersion nor a height")
	}
	if i.FullHeight == nil || *i.FullHeight == 0 || i.BestFullHeaderID == "" {
		return nil
	}
	if *i.FullHeight < 0 {
		return errors.New("a negative height")
	}
	height, err := model.NewHeightPk(uint64(*i.FullHeight))
	if err != nil {
		return err
	}
	hash, err := parseID(i.BestFullHeaderID)
	i.tip = model.Point{Height: height, Hash: hash}
	return err
}

func parseID(text string) (h model.Hash, err error) {
	if len(text) == 2*len(h) {
		if _, err = hex.Decode(h[:], []byte(text)); err == nil {
			return h, nil
		}
	}
	return h, errors.New("an id that is not 64 hex digits")
}

// info requests the state of the node. It returns an error if the node belongs to another network.
func (c *Client) info(ctx context.Context) (i info, err error) {
	err = c.do(ctx, nodehttp.Request{Path: []string{"info"}}, func(a *http.Response) error {
		text, _, err := all(a)
		if err != nil {
			return err
		}
		if a.StatusCode != http.StatusOK || len(text) == 0 || text[0] != '{' {
			return c.refusal(a, "/info", text)
		}
		if err := i.parse(text); err != nil {
			return c.http.NotANode("/info returned %s", c.http.Excerpt(err.Error(), 80))
		}
		return nil
	})
	if err != nil {
		return i, err
	}
	if err := c.checkNetwork(i); err != nil {
		return i, err
	}
	c.full.Store(uint64(i.tip.Height))
	c.logSync(i)
	return i, nil
}

// checkNetwork checks the node's network name and its first block, if known. The block seen at this address before
// counts as known: a test network may have been restarted.
func (c *Client) checkNetwork(i info) error {
	if i.Network != "" && i.Network != c.options.Network {
		return model.Errorf(model.BadSource, "wrong_network", "%s is a node of ergo %s: expected %s", c.Host(), c.http.Excerpt(i.Network, 20), c.options.Network)
	}
	if i.GenesisBlockID == "" {
		return nil
	}
	first, err := parseID(i.GenesisBlockID)
	if err != nil {
		return c.badAnswer("/info", "as genesisBlockId %s", err)
	}
	if !c.first.CompareAndSwap(nil, &first) && *c.first.Load() != first {
		return model.Errorf(model.Refused, "wrong_chain", "%s came back with another chain: its block 1 is %s and was %s", c.Host(), first, *c.first.Load())
	}
	if c.options.First != (model.Hash{}) && first != c.options.First {
		return model.Errorf(model.BadSource, "wrong_network", "block 1 of %s is %s: expected block 1 of ergo %s, %s", c.Host(), first, c.options.Network, c.options.First)
	}
	return nil
}

// logSync logs once that the node itself is behind. One block behind its headers is normal while a block arrives.
func (c *Client) logSync(i info) {
	var headers int64
	if i.HeadersHeight != nil {
		headers = *i.HeadersHeight
	}
	if !i.tip.IsOrigin() && headers > int64(i.tip.Height)+1 && c.loggedSync.CompareAndSwap(false, true) {
		slog.Warn("the node itself is still syncing: blocks are read as the node gets them", "node", c.Host(), "blocks", i.tip.Height, "headers", headers)
	}
}

// notSynced is the error of a node that has no block yet.
func (c *Client) notSynced(i info) error {
	headers, behind := int64(0), ""
	if i.HeadersHeight != nil {
		headers = *i.HeadersHeight
	}
	if i.MaxPeerHeight != nil && *i.MaxPeerHeight > headers {
		behind = " of " + adapter.Thousands(*i.MaxPeerHeight)
	}
	return model.Errorf(model.BadSource, "not_synced", "%s is not synced: it has %s%s headers and no full block yet", c.Host(), adapter.Thousands(headers), behind)
}
