package rpc

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"birthmark/model"
)

// Unspent counts spendable outputs and their value with gettxoutsetinfo without a hash, which only Core has. It takes
// minutes in Core. NotFound, code not_offered, if the node does not count them or has REST only.
func (c *Client) Unspent(ctx context.Context) (model.UnspentTotals, error) {
	return ask(ctx, c, func(n node) (none model.UnspentTotals, err error) {
		auth, err := c.secret.Get()
		if err != nil {
			return none, c.passwordError(err)
		}
		if _, byREST := n.(restNode); byREST && auth == (credentials{}) {
			return none, model.Errorf(model.NotFound, "not_offered", "%s cannot count the unspent outputs over REST: set a user and a password to use RPC", c.Host())
		}
		return c.unspent(ctx)
	})
}

func (c *Client) unspent(ctx context.Context) (totals model.UnspentTotals, err error) {
	const method = "gettxoutsetinfo"
	var result struct {
		Height  int64       `json:"height"`
		Best    string      `json:"bestblock"`
		Outputs *uint64     `json:"txouts"`
		Total   json.Number `json:"total_amount"`
	}
	results, errs, err := c.batch(ctx, true, call{method, []any{"none"}})
	if err != nil {
		return totals, err
	}
	if e := errs[0]; e != nil {
		switch e.Code {
		case codeNoMethod, codeBadParams, codeMisc, codeType, codeParameter:
			// An old Core or another node, whose method has another form.
			return totals, model.Errorf(model.NotFound, "not_offered", "%s cannot count the unspent outputs: %w", c.Host(), e)
		}
		return totals, c.callError(method, e)
	}
	if err := json.Unmarshal(results[0], &result); err != nil {
		return totals, c.badResult(method, c.http.Excerpt(err.Error(), redactedLength))
	}
	at := chainInfo{Blocks: result.Height, BestHash: result.Best}
	value, ok := satoshis(result.Total.String())
	switch err := at.check(); {
	case err != nil:
		return totals, c.badResult(method, err.Error())
	case result.Outputs == nil || !ok:
		return totals, c.badResult(method, "no count of outputs, or no total amount")
	}
	return model.UnspentTotals{At: at.tip, Outputs: *result.Outputs, Value: value}, nil
}

// satoshis parses a decimal number of coins with at most 8 places exactly.
func satoshis(text string) (uint64, bool) {
	const places = 8
	whole, part, _ := strings.Cut(text, ".")
	if len(part) > places || whole == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", places-len(part)), 10, 64)
	return n, err == nil
}
