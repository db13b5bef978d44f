package rpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/coder/websocket"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// maxNotification is the maximum size in bytes of a notification: a large transaction in hex and as JSON.
const maxNotification = 64 << 20

// Notification is a notification of btcd.
type Notification struct {
	Method string     // txacceptedverbose, blockconnected or blockdisconnected
	Raw    []byte     // of a transaction
	Block  model.Hash // of a block
}

// Socket is a subscription to the new transactions and blocks of btcd.
type Socket struct {
	client *Client
	conn   *websocket.Conn
}

// Listen subscribes to new transactions and blocks over WebSocket, which btcd has. It returns nil without an error if
// the node does not have it.
func (c *Client) Listen(ctx context.Context) (*Socket, error) {
	if !c.features.has(webSocket) {
		return nil, nil
	}
	// The session was made, so the network is the right one.
	if _, err := c.Tip(ctx); err != nil {
		return nil, err
	}
	var conn *websocket.Conn
	var status int
	used, err := c.secret.Use(func(auth credentials) (err error) {
		conn, status, err = c.http.WebSocket(ctx, auth.header(), maxNotification, "ws")
		if status == http.StatusUnauthorized {
			return adapter.ErrRefused
		}
		return err
	}, c.passwordError)
	switch {
	case err == adapter.ErrRefused:
		return nil, c.unauthorized(used)
	case status != 0:
		c.missing(webSocket, "unconfirmed transactions are found by listing them")
		return nil, nil
	case err != nil:
		return nil, err
	}
	s := &Socket{c, conn}
	if err := s.subscribe(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close ends the subscription.
func (s *Socket) Close() { _ = s.conn.CloseNow() }

func (s *Socket) subscribe(ctx context.Context) error {
	for id, call := range []call{{"notifynewtransactions", []any{true}}, {"notifyblocks", []any{}}} {
		text, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": id + 1, "method": call.method, "params": call.params})
		if err != nil {
			return err
		}
		if err := s.conn.Write(ctx, websocket.MessageText, text); err != nil {
			return s.broken(ctx, err)
		}
		for {
			m, err := s.message(ctx)
			if err != nil {
				return err
			}
			if e := s.client.parseError(m.Error); e != nil {
				return s.client.callError(call.method, e)
			}
			if m.ID != nil && *m.ID == id+1 {
				break
			}
		}
	}
	return nil
}

// message is a response or a notification.
type message struct {
	ID     *int            `json:"id"`
	Error  json.RawMessage `json:"error"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (s *Socket) message(ctx context.Context) (m message, err error) {
	_, text, err := s.conn.Read(ctx)
	if err != nil {
		return m, s.broken(ctx, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, s.client.badResult("WebSocket", s.client.http.Excerpt(err.Error(), redactedLength))
	}
	return m, nil
}

func (s *Socket) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.client.http.Unreachable("its WebSocket ended: %s", s.client.http.Excerpt(err.Error(), redactedLength))
}

// Receive returns the next notification of a transaction or a block.
func (s *Socket) Receive(ctx context.Context) (n Notification, err error) {
	for {
		m, err := s.message(ctx)
		if err != nil {
			return n, err
		}
		n.Method = m.Method
		var params []json.RawMessage
		switch m.Method {
		case "txacceptedverbose", "blockconnected", "blockdisconnected":
			if err = json.Unmarshal(m.Params, &params); err == nil && len(params) > 0 {
				err = n.read(params[0])
			}
			if err != nil || len(params) == 0 {
				return n, s.client.badResult(m.Method, "unexpected parameters")
			}
			return n, nil
		}
	}
}

func (n *Notification) read(param json.RawMessage) (err error) {
	if n.Method == "txacceptedverbose" {
		var tx struct {
			Hex string `json:"hex"`
		}
		if err = json.Unmarshal(param, &tx); err == nil {
			n.Raw, err = hex.DecodeString(tx.Hex)
		}
		return err
	}
	var text string
	if err = json.Unmarshal(param, &text); err == nil {
		n.Block, err = parseHash(text)
	}
	return err
}
