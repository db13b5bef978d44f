package blockbook

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"birthmark/api/jsonappend"
	"birthmark/api/ratelimit"
	"birthmark/core/meter"
	"birthmark/internal/guard"
	"birthmark/model"
)

// Limits of a WebSocket connection.
const (
	maxMessage       = 1 << 20 // bytes of a request
	maxConcurrent    = 8       // requests of a connection that are answered at the same time; others wait
	maxNotifications = 4096    // notifications that wait for the client; with more, the connection is closed
	maxWaiting       = 4 << 20 // bytes of these notifications
	pingInterval     = 45 * time.Second
	pingTimeout      = 20 * time.Second
	idleTimeout      = 10 * time.Minute // without a request and a subscription
)

// writeTimeout is the time that a client has to receive an answer. Tests change it.
var writeTimeout = 20 * time.Second

// trezorOrigins are the origins that Trezor Suite connects from: the desktop application and its web page.
var trezorOrigins = []string{"https://node.trezor.io", "https://suite.trezor.io"}

// websocket serves a WebSocket connection until it ends.
func (s *Server) websocket(w http.ResponseWriter, r *http.Request) {
	if err := ratelimit.Stream(w); err != nil {
		status, text := statusAndText(err)
		http.Error(w, text, status)
		return
	}
	o := &websocket.AcceptOptions{OriginPatterns: trezorOrigins}
	for _, origin := range s.Origins {
		if origin == "*" {
			o.InsecureSkipVerify = true
		}
		o.OriginPatterns = append(o.OriginPatterns[:len(o.OriginPatterns):len(o.OriginPatterns)], origin)
	}
	socket, err := websocket.Accept(w, r, o) // answers if it fails
	if err != nil {
		return
	}
	defer s.Connected()()
	socket.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &conn{
		Server: s, socket: socket, ctx: ctx, cancel: cancel,
		answers: make(chan outgoing), notifications: make(chan []byte, maxNotifications), slots: make(chan struct{}, maxConcurrent),
		begin: func(ctx context.Context) (context.Context, func(), error) { return ratelimit.Message(ctx, w) },
	}
	var submitting sync.Mutex // the header of w is not safe for concurrent use
	c.submission = func() error {
		submitting.Lock()
		defer submitting.Unlock()
		return ratelimit.Submission(w)
	}
	c.active.Store(time.Now().UnixNano())
	c.serve()
}

// conn is a WebSocket connection.
type conn struct {
	*Server
	socket *websocket.Conn
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	begin      func(context.Context) (_ context.Context, end func(), _ error) // see [ratelimit.Message]
	submission func() error                                                   // takes from the limit of submitted transactions

	answers       chan outgoing
	notifications chan []byte
	slots         chan struct{} // one for each request that is answered
	active        atomic.Int64  // unix nanoseconds of the last request
	waiting       atomic.Int64  // bytes of the notifications, which the meter of ctx holds
	owed          atomic.Int64  // points of the work for notifications that the client has not paid for
}

// outgoing is an answer.
type outgoing struct {
	text []byte
	sent chan<- struct{} // is closed after it was written; nil: nobody waits
}

// serve reads requests until the connection ends.
func (c *conn) serve() {
	defer c.hub.forget(c)
	go func() {
		if guard.Do(c.Log, "a Blockbook connection", c.write) != nil {
			c.cancel()
		}
	}()
	for {
		kind, text, err := c.socket.Read(c.ctx)
		if err != nil {
			c.close(websocket.StatusNormalClosure, "")
			return
		}
		var request message
		if kind != websocket.MessageText || json.Unmarshal(text, &request) != nil {
			c.close(websocket.StatusUnsupportedData, "expected a JSON object {id, method, params} in a text message")
			return
		}
		c.active.Store(time.Now().UnixNano())
		select {
		case c.slots <- struct{}{}:
		case <-c.ctx.Done():
			continue // the next read fails
		}
		go func() {
			defer func() { <-c.slots }()
			if guard.Do(c.Log, "a Blockbook request", func() { c.answer(&request) }) != nil {
				c.reply(c.textOf(&request, nil, errInternal))
			}
		}()
	}
}

// close ends the connection. It waits up to 5 seconds for the client.
func (c *conn) close(status websocket.StatusCode, reason string) {
	_ = c.socket.Close(status, reason) // fails if it is closed
	c.cancel()
}

// write writes answers and notifications until the connection ends, and looks for clients that are gone.
func (c *conn) write() {
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	for {
		var err error
		select {
		case o := <-c.answers:
			err = c.send(o.text)
			if o.sent != nil {
				close(o.sent)
			}
		case text := <-c.notifications:
			if err = meter.Of(c.ctx).Spend(c.owed.Swap(0)); err == nil { // it waits for the rate of the client
				err = c.send(text)
			}
			c.wait(-len(text))
		case <-ping.C:
			if time.Since(time.Unix(0, c.active.Load())) > idleTimeout && !c.hub.has(c) {
				c.close(websocket.StatusNormalClosure, "no request for 10 minutes")
				return
			}
			ctx, cancel := context.WithTimeout(c.ctx, pingTimeout)
			err = c.socket.Ping(ctx)
			cancel()
		case <-c.Done:
			c.close(websocket.StatusGoingAway, "the server is shutting down")
			return
		case <-c.ctx.Done():
			return
		}
		if err != nil { // the client is gone, or too slow
			c.cancel()
			return
		}
	}
}

func (c *conn) send(text []byte) error {
	ctx, cancel := context.WithTimeout(c.ctx, writeTimeout)
	defer cancel()
	return c.socket.Write(ctx, websocket.MessageText, text)
}

// notify queues a notification. A client that does not read is disconnected.
func (c *conn) notify(id json.RawMessage, data any) {
	if c.ctx.Err() != nil {
		return
	}
	text := encodeMessage(id, data)
	if !c.wait(len(text)) {
		c.cancel()
		return
	}
	select {
	case c.notifications <- text:
	default:
		c.cancel()
	}
}

// wait counts bytes of notifications that wait, or negative ones that were sent. It returns false if they are too many.
func (c *conn) wait(bytes int) bool {
	return c.waiting.Add(int64(bytes)) <= maxWaiting && meter.Of(c.ctx).Hold(int64(bytes)) == nil
}

// message is a request. The id is repeated in its answer and in the notifications of a subscription.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func encodeMessage(id json.RawMessage, data any) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	return jsonappend.Append(nil, &messageValue{id, data})
}

// answer answers a request and waits until the answer is written, so that a client that does not read sends no more.
func (c *conn) answer(m *message) {
	ctx, cancel := context.WithTimeout(c.ctx, c.Timeout)
	defer cancel()
	ctx, end, err := c.begin(ctx)
	var data any
	if err == nil {
		defer end()
		if data, err = c.call(ctx, m); err == nil && data == nil {
			return // answered by the subscription
		}
	}
	text := c.textOf(m, data, err)
	if err := meter.Of(ctx).Hold(int64(max(len(text)-meter.Free, 0))); err != nil {
		text = c.textOf(m, nil, err)
	}
	c.reply(text)
}

// errInternal is the answer to a request that panicked.
var errInternal = model.Errorf(model.Refused, "internal", "Internal error")

// textOf returns an answer or an error as text.
func (c *conn) textOf(m *message, data any, err error) []byte {
	if err != nil {
		data = &failedValue{messageText{c.failed(err, m.Method)}}
	}
	return encodeMessage(m.ID, data)
}

// reply sends an answer, and waits until it is written.
func (c *conn) reply(text []byte) {
	sent := make(chan struct{})
	select {
	case c.answers <- outgoing{text, sent}:
	case <-c.ctx.Done():
		return
	}
	select {
	case <-sent:
	case <-c.ctx.Done():
	}
}
