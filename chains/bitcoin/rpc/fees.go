package rpc

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"birthmark/model"
)

// feeLifetime is how long fees are cached: the node computes estimates once per block.
const feeLifetime = time.Minute

// maxTarget is the largest confirmation target of estimatesmartfee: a week of blocks.
const maxTarget = 1008

// usualTargets are requested in one batch, even if only one of them is needed: wallets ask for several.
var usualTargets = func() (targets []int) {
	for n := range 25 {
		targets = append(targets, n+1)
	}
	return append(targets, 144, 504, maxTarget)
}()

// feeCache has the answers of the last minute: fees, and the description of the node.
type feeCache struct {
	busy    chan struct{} // held while fees or the description are read or requested
	byMode  map[string]*estimates
	minimum model.MinimumFees
	since   time.Time // of minimum; zero: unknown

	node      *model.NodeInfo // nil: unknown
	nodeSince time.Time
}

// estimates are fee rates by confirmation target.
type estimates struct {
	since time.Time
	asked map[int]bool
	rates map[int]float64 // only of targets with an estimate
}

func newFeeCache() feeCache {
	return feeCache{busy: make(chan struct{}, 1), byMode: map[string]*estimates{}}
}

func (f *feeCache) lock(ctx context.Context) error {
	select {
	case f.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *feeCache) unlock() { <-f.busy }

// EstimateFees implements [model.FeeEstimator]: by estimatesmartfee, or by estimatefee for btcd, which has no modes. A
// longer target is never dearer. Errors are of kind Usage, code bad_value, for an unknown mode or a target outside of 1
// to 1,008.
func (c *Client) EstimateFees(ctx context.Context, targets []int, mode string) (map[int]float64, error) {
	mode = strings.ToLower(mode)
	switch mode {
	case "", "economical", "conservative", "unset":
	default:
		return nil, model.Errorf(model.Usage, "bad_value", "invalid mode of fee estimates: expected economical, conservative or unset")
	}
	for _, n := range targets {
		if n < 1 || n > maxTarget {
			return nil, model.Errorf(model.Usage, "bad_value", "invalid confirmation target %d: expected a number of blocks from 1 to %d", n, maxTarget)
		}
	}
	if err := c.fees.lock(ctx); err != nil {
		return nil, err
	}
	defer c.fees.unlock()
	of := c.fees.byMode[mode]
	wanted := slices.Clone(targets)
	if of == nil || time.Since(of.since) > c.feeLifetime {
		of = &estimates{time.Now(), map[int]bool{}, map[int]float64{}}
		wanted = append(wanted, usualTargets...)
	}
	wanted = slices.DeleteFunc(wanted, func(n int) bool { return of.asked[n] })
	slices.Sort(wanted)
	if wanted = slices.Compact(wanted); len(wanted) > 0 {
		if err := c.estimate(ctx, of, wanted, mode); err != nil {
			return nil, err
		}
		c.fees.byMode[mode] = of
	}
	found := map[int]float64{}
	for _, n := range targets {
		if rate, ok := of.rates[n]; ok {
			found[n] = rate
		}
	}
	return found, nil
}

// estimate requests the targets and adds them to of.
func (c *Client) estimate(ctx context.Context, of *estimates, targets []int, mode string) error {
	smart := c.features.has(smartFees)
	calls := make([]call, len(targets))
	for i, n := range targets {
		switch {
		case !smart:
			calls[i] = call{"estimatefee", []any{n}}
		case mode == "":
			calls[i] = call{"estimatesmartfee", []any{n}}
		default:
			calls[i] = call{"estimatesmartfee", []any{n, mode}}
		}
	}
	results, errs, err := c.several(ctx, calls)
	if err != nil {
		return err
	}
	for i, n := range targets {
		e := errs[i]
		switch {
		case e != nil && e.Code == codeStarting:
			return c.callError(calls[i].method, e)
		case e != nil && e.Code == codeNoMethod && smart:
			c.missing(smartFees, "fees are estimated by estimatefee")
			return c.estimate(ctx, of, targets, mode)
		case e != nil && e.Code == codeNoMethod:
			return c.unsupported("fee estimates")
		}
		of.asked[n] = true
		if e != nil {
			continue // no estimate yet, or none for a target of this length
		}
		if rate, ok := feeRate(results[i]); ok {
			of.rates[n] = rate
		}
	}
	lowest := math.Inf(1)
	for _, n := range slices.Sorted(maps.Keys(of.rates)) {
		lowest = min(lowest, of.rates[n])
		of.rates[n] = lowest
	}
	return nil
}

// several makes calls of a node that was identified. Each has a result or an error.
func (c *Client) several(ctx context.Context, calls []call) (results []json.RawMessage, errs []*rpcError, err error) {
	_, err = ask(ctx, c, func(node) (none struct{}, err error) {
		results, errs, err = c.batch(ctx, false, calls...)
		return none, err
	})
	return results, errs, err
}

// feeRate reads the result of estimatesmartfee, an object, or of estimatefee, a number. Both are in BTC per 1,000
// virtual bytes; -1 or nothing means that there is no estimate.
func feeRate(result json.RawMessage) (rate float64, ok bool) {
	var btc struct {
		Rate *float64 `json:"feerate"`
	}
	var number float64
	if json.Unmarshal(result, &number) == nil {
		btc.Rate = &number
	} else if json.Unmarshal(result, &btc) != nil || btc.Rate == nil {
		return 0, false
	}
	return toSatoshis(*btc.Rate), *btc.Rate >= 0
}

// toSatoshis rounds to whole satoshis, since nodes send fee rates as floating-point numbers.
func toSatoshis(btc float64) float64 { return math.Round(btc * 1e8) }

// minimumLifetime is how long minimum fees are cached: they follow the size of the mempool.
const minimumLifetime = 10 * time.Second

// MinimumFees implements [model.FeeEstimator]: by getmempoolinfo, or for btcd, which has only one of them, by getinfo.
func (c *Client) MinimumFees(ctx context.Context) (fees model.MinimumFees, err error) {
	if err := c.fees.lock(ctx); err != nil {
		return fees, err
	}
	defer c.fees.unlock()
	if time.Since(c.fees.since) < minimumLifetime {
		return c.fees.minimum, nil
	}
	if fees, err = c.minimumFees(ctx); err == nil {
		c.fees.minimum, c.fees.since = fees, time.Now()
	}
	return fees, err
}

func (c *Client) minimumFees(ctx context.Context) (fees model.MinimumFees, err error) {
	if c.features.has(mempoolFees) {
		var info struct {
			Mempool   *float64 `json:"mempoolminfee"`
			Relay     *float64 `json:"minrelaytxfee"`
			Increment *float64 `json:"incrementalrelayfee"`
		}
		if err := c.object(ctx, &info, "getmempoolinfo"); err != nil {
			return fees, err
		}
		if info.Mempool != nil && info.Relay != nil {
			if info.Increment == nil { // Core before 24
				info.Increment = info.Relay
			}
			return model.MinimumFees{
				Mempool: toSatoshis(*info.Mempool), Relay: toSatoshis(*info.Relay), Increment: toSatoshis(*info.Increment),
			}, nil
		}
		c.missing(mempoolFees, "all minimum fees are the relay fee of getinfo")
	}
	var info struct {
		Relay *float64 `json:"relayfee"`
	}
	if err := c.object(ctx, &info, "getinfo"); err != nil {
		return fees, err
	}
	if info.Relay == nil {
		return fees, c.badResult("getinfo", "no relayfee")
	}
	relay := toSatoshis(*info.Relay)
	return model.MinimumFees{Mempool: relay, Relay: relay, Increment: relay}, nil
}

// object makes a call whose result is an object.
func (c *Client) object(ctx context.Context, to any, method string) error {
	result, e, err := c.one(ctx, false, method)
	switch {
	case err != nil:
		return err
	case e != nil:
		return c.callError(method, e)
	}
	if err := json.Unmarshal(result, to); err != nil {
		return c.badResult(method, c.http.Excerpt(err.Error(), redactedLength))
	}
	return nil
}
