package rpc

import (
	"context"
	"encoding/json"
	"time"

	"birthmark/model"
)

// nodeInfoLifetime is how long the node's description is cached.
const nodeInfoLifetime = time.Minute

// NodeInfo implements [model.NodeDescriber]: by getblockchaininfo and getnetworkinfo, or for btcd, which lacks the latter,
// by getinfo.
func (c *Client) NodeInfo(ctx context.Context) (*model.NodeInfo, error) {
	if err := c.fees.lock(ctx); err != nil {
		return nil, err
	}
	defer c.fees.unlock()
	if c.fees.node != nil && time.Since(c.fees.nodeSince) < nodeInfoLifetime {
		return c.fees.node, nil
	}
	info, err := c.describe(ctx)
	if err != nil {
		return nil, err
	}
	c.fees.node, c.fees.nodeSince = info, time.Now()
	return info, nil
}

func (c *Client) describe(ctx context.Context) (*model.NodeInfo, error) {
	var chain struct {
		Headers    int64    `json:"headers"`
		SizeOnDisk int64    `json:"size_on_disk"`
		Warnings   warnings `json:"warnings"`
	}
	if err := c.object(ctx, &chain, "getblockchaininfo"); err != nil {
		return nil, err
	}
	info := &model.NodeInfo{Headers: chain.Headers, SizeOnDisk: chain.SizeOnDisk, Warnings: chain.Warnings}
	var network struct {
		Version    json.Number `json:"version"`
		Subversion string      `json:"subversion"`
		Protocol   json.Number `json:"protocolversion"`
		TimeOffset float64     `json:"timeoffset"`
	}
	result, e, err := c.one(ctx, false, "getnetworkinfo")
	switch {
	case err != nil:
		return nil, err
	case unknown(e):
		err = c.object(ctx, &network, "getinfo")
	case e != nil:
		err = c.callError("getnetworkinfo", e)
	default:
		if json.Unmarshal(result, &network) != nil {
			err = c.badResult("getnetworkinfo", c.http.Excerpt(string(result), redactedLength))
		}
	}
	info.Version, info.Protocol = network.Version.String(), network.Protocol.String()
	info.Subversion, info.TimeOffset = network.Subversion, network.TimeOffset
	return info, err
}

// warnings are a list since Bitcoin Core 28, and one text before.
type warnings []string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *warnings) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return json.Unmarshal(raw, (*[]string)(w))
	}
	if text != "" {
		*w = warnings{text}
	}
	return nil
}
