package rpc

import (
	"context"
	"encoding/hex"
	"encoding/json"

	"birthmark/model"
)

// Codes of Core's errors that are faults of the node, and not of the transaction.
const (
	codeNoPeers  = -9
	codeNoMemory = -7
	codeDatabase = -20
	codeNoP2P    = -31
	codeInternal = -32603
)

// refused converts the error response to a call with transactions: a refusal is of kind Usage, code rejected, with the
// node's message.
func (c *Client) refused(method string, e *rpcError) error {
	switch e.Code {
	case codeStarting, codeNoMethod, codeNoPeers, codeNoMemory, codeDatabase, codeNoP2P, codeInternal:
		return c.callError(method, e)
	}
	return model.Errorf(model.Usage, "rejected", "%w", &model.NodeError{Code: e.Code, Message: e.Message})
}

// limits returns the parameters of options, at most two. btcd accepts the first without applying it, so it is only sent
// to nodes with getnetworkinfo, which btcd lacks.
func (c *Client) limits(ctx context.Context, o model.SubmitOptions) ([]any, error) {
	if o == (model.SubmitOptions{}) {
		return nil, nil
	}
	if c.features.has(networkInfo) {
		_, e, err := c.one(ctx, false, "getnetworkinfo")
		if err != nil {
			return nil, err
		}
		if unknown(e) {
			c.missing(networkInfo, "limits of a submitted transaction's fee rate and burned amount are refused")
		}
	}
	if !c.features.has(networkInfo) {
		return nil, c.unsupported("a limit of the fee rate or the burned amount")
	}
	limits := []any{nil, nil}
	for i, text := range []string{o.MaxFeeRate, o.MaxBurnAmount} {
		if text != "" {
			limits[i] = json.Number(text)
		}
	}
	if o.MaxBurnAmount == "" {
		limits = limits[:1]
	}
	return limits, nil
}

func (c *Client) unsupported(what string) error {
	return model.Errorf(model.NotFound, "unsupported", "%s does not support %s", c.Host(), what)
}

// Submit sends a transaction to the node and returns the id in its answer. For the errors see [model.Submitter].
func (c *Client) Submit(ctx context.Context, raw []byte, o model.SubmitOptions) (id model.Hash, err error) {
	const method = "sendrawtransaction"
	limits, err := c.limits(ctx, o)
	if err != nil {
		return id, err
	}
	result, e, err := c.one(ctx, false, method, append([]any{hex.EncodeToString(raw)}, limits...)...)
	switch {
	case err != nil:
		return id, err
	case unknown(e) && len(limits) == 2:
		return id, c.unsupported("a limit of the burned amount")
	case e != nil:
		return id, c.refused(method, e)
	}
	return c.hash(method, result)
}

// usualRate is the maximum fee rate of testmempoolaccept if the call has none, which btcd refuses, in BTC per 1,000
// virtual bytes.
const usualRate = "0.10"

// TestAccept returns the result of testmempoolaccept. For the errors see [model.Submitter].
func (c *Client) TestAccept(ctx context.Context, raws [][]byte, o model.SubmitOptions) ([]byte, error) {
	if o.MaxBurnAmount != "" {
		return nil, model.Errorf(model.NotFound, "unsupported", "a test of transactions has no limit of the burned amount")
	}
	if o.MaxFeeRate == "" {
		o.MaxFeeRate = usualRate
	}
	return c.withTxs(ctx, "testmempoolaccept", raws, []any{json.Number(o.MaxFeeRate)})
}

// SubmitPackage returns the result of submitpackage, or nil without an error if the node lacks it.
func (c *Client) SubmitPackage(ctx context.Context, raws [][]byte, o model.SubmitOptions) ([]byte, error) {
	if !c.features.has(packages) {
		return nil, nil
	}
	limits, err := c.limits(ctx, o)
	if err != nil {
		return nil, err
	}
	result, err := c.withTxs(ctx, "submitpackage", raws, limits)
	if _, code := model.KindOf(err); code == "unsupported" {
		c.missing(packages, "the transactions of a package are submitted one after the other, so the node may refuse a "+
			"parent with a low fee that its child would pay for")
		return nil, nil
	}
	return result, err
}

// withTxs makes a call with a list of transactions and limits.
func (c *Client) withTxs(ctx context.Context, method string, raws [][]byte, limits []any) ([]byte, error) {
	texts := make([]string, len(raws))
	for i, raw := range raws {
		texts[i] = hex.EncodeToString(raw)
	}
	result, e, err := c.one(ctx, false, method, append([]any{texts}, limits...)...)
	switch {
	case err != nil:
		return nil, err
	case e != nil && e.Code == codeNoMethod:
		return nil, c.unsupported(method)
	case e != nil:
		return nil, c.refused(method, e)
	}
	return result, nil
}
