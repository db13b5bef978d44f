package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
)

// feature is a method, or a form of one, that not every node has.
type feature string

const (
	numberedList  feature = "getrawmempool with sequence numbers"
	notifications feature = "ZMQ notifications (getzmqnotifications)"
	webSocket     feature = "notifications over WebSocket"
	saving        feature = "savemempool"
	smartFees     feature = "estimatesmartfee"
	mempoolFees   feature = "fees in getmempoolinfo"
	packages      feature = "submitpackage"
	networkInfo   feature = "getnetworkinfo"
)

// features holds the features that the node of the session lacks. A call that fails because of one is not repeated
// until a new session is made, since the node may then be another one.
type features struct {
	mu    sync.Mutex
	lacks map[feature]bool
}

// logged has the messages of [Client.LogOnce]. A node's mempool is opened again after each outage.
var logged sync.Map

// LogOnce logs a message about the node, the first time in this process.
func (c *Client) LogOnce(level slog.Level, message string, args ...any) {
	if _, again := logged.LoadOrStore(c.Host()+" "+message, true); !again {
		slog.Log(context.Background(), level, message, append([]any{"node", c.Host()}, args...)...)
	}
}

// forget is called for a new session.
func (f *features) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lacks = nil
}

func (f *features) has(name feature) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.lacks[name]
}

// missing records that the node lacks a feature, and logs once how birthmark continues.
func (c *Client) missing(name feature, then string) {
	f := &c.features
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lacks == nil {
		f.lacks = map[feature]bool{}
	}
	f.lacks[name] = true
	c.LogOnce(slog.LevelInfo, "the node lacks a feature: "+then, "lacks", string(name))
}

// unknown reports whether an error means that the node does not have a method, or not with these parameters. Core
// answers -1 with its help to wrong parameters, btcd -1 to methods that it does not implement.
func unknown(e *rpcError) bool {
	return e != nil && (e.Code == codeNoMethod || e.Code == codeBadParams || e.Code == codeMisc)
}

// one makes one call of a node that was identified.
func (c *Client) one(ctx context.Context, waits bool, method string, params ...any) (json.RawMessage, *rpcError, error) {
	var result json.RawMessage
	e, err := one(ctx, c, smallAnswer, waits, &result, method, params...)
	if err == nil && e == nil && len(result) == 0 {
		err = c.badResult(method, "nothing")
	}
	return result, e, err
}

// one makes one call of a node that was identified, with a result of at most the given number of bytes.
func one[T any](ctx context.Context, c *Client, most int, waits bool, result *T, method string, params ...any) (*rpcError, error) {
	return ask(ctx, c, func(node) (failed *rpcError, err error) {
		answered := false
		err = post(ctx, c, []call{{method, params}}, most, waits, func(_ int, r T, e *rpcError) (bool, error) {
			*result, failed, answered = r, e, true
			return false, nil
		})
		switch {
		case err != nil:
			return nil, err
		case !answered:
			return nil, c.badResult(method, "nothing")
		case failed != nil && failed.Code == codeStarting:
			return nil, c.callError(method, failed)
		}
		return failed, nil
	})
}
