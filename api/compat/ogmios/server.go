package ogmios

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/core/meter"
	"birthmark/internal/guard"
)

// Options configure a handler.
type Options struct {
	Chain   *served.Chain
	Path    string       // of the endpoint: "/ogmios"
	Log     *slog.Logger // nil: no log
	Origins []string     // of web pages that can connect by WebSocket; "*": every origin

	// WriteTimeout is the time in which a client of a WebSocket must accept an answer; 0: 20 seconds.
	WriteTimeout time.Duration
}

// Limits of a client.
const (
	maxRequest  = 256 << 10 // bytes: nodes accept transactions of 16 KiB
	maxPending  = 8         // requests of a connection that are received while an earlier one waits
	idleTimeout = 10 * time.Minute
)

// New returns the handler of the endpoint. The chain has what [Needs] requires.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 20*time.Second)
	network := o.Chain.Model.Network()
	return &handler{o, o.Chain.Node.(Node), address.Network{Name: network, Testnet: network != address.Mainnet.Name}}
}

type handler struct {
	Options
	node    Node
	network address.Network
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Pattern = h.Path
	if strings.TrimSuffix(r.URL.Path, "/") != h.Path {
		h.WriteProblem(w, problem.New(http.StatusNotFound, "not_found", "expected the path %s", h.Path))
		return
	}
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Headers", "*")
	case r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		h.socket(w, r)
	case r.Method != http.MethodPost:
		h.WriteProblem(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "expected POST with a request of JSON-RPC, or a WebSocket"))
	default:
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			h.WriteProblem(w, problem.Of(err))
			return
		}
		text, failed := encode(r.Context(), h.answer(r.Context(), w, body, nil))
		status := http.StatusOK
		if failed {
			status = http.StatusBadRequest
		}
		write(w, status, text)
	}
}

func write(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client is gone
}

// encode returns the text of a response, which counts against the memory for answers until the request ends, and whether
// it is an error: if the memory is exhausted it is.
func encode(ctx context.Context, a *response) (text []byte, failed bool) {
	var out exchange.Encoder
	out.Begin(ctx)
	if err := out.Append(a); err != nil {
		a = &response{Version: a.Version, Method: a.Method, Error: faultOf(err), ID: a.ID}
		out.JSON = jsonappend.Append(out.JSON[:0], a)
	}
	return out.JSON, a.Error != nil
}

// answer answers a request. A panic is an error of this request alone.
func (h *handler) answer(ctx context.Context, w http.ResponseWriter, body []byte, of *session) *response {
	a := &response{Version: rpcVersion}
	err := guard.Call(func() error {
		var q request
		if err := json.Unmarshal(body, &q); err != nil {
			return notParsed(body, err)
		}
		a.Method, a.ID = q.Method, q.ID
		read, err := q.method()
		if err != nil {
			return err
		}
		answer, err := read(&params{q.Params, h.network})
		if err == nil {
			a.Result, err = answer(&call{h, ctx, func() error { return ratelimit.Submission(w) }, of})
		}
		return err
	})
	if err != nil {
		a.Result, a.Error = nil, faultOf(err)
		if a.Error.Code == internalError {
			h.Log.Error("a request of the API of Ogmios failed", "method", a.Method, "error", err)
		}
	}
	return a
}

// socket answers the requests of a WebSocket connection, one after the other, until it ends. A request for the mempool can
// wait, but not longer than the client is connected.
func (h *handler) socket(w http.ResponseWriter, r *http.Request) {
	if err := ratelimit.Stream(w); err != nil {
		h.WriteProblem(w, problem.Of(err))
		return
	}
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		OriginPatterns: h.Origins, InsecureSkipVerify: slices.Contains(h.Origins, "*"), // there are no cookies
	}) // answers if it fails
	if err != nil {
		return
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(maxRequest)
	ctx, end := context.WithCancel(r.Context())
	defer end()
	messages, gone := h.receive(ctx, socket)
	state := &session{gone: gone}
	defer state.close()
	for {
		var body []byte
		select {
		case body = <-messages:
		case <-time.After(idleTimeout):
		}
		if body == nil { // the client is gone, or sent nothing for a long time
			return
		}
		if h.message(w, r, socket, body, state) != nil {
			return
		}
	}
}

// message answers a request of a connection, within the limits of the client. The error is one of the connection: the
// client is gone, or does not read.
func (h *handler) message(w http.ResponseWriter, r *http.Request, socket *websocket.Conn, body []byte, of *session) error {
	a := &response{Version: rpcVersion}
	ctx, end, err := ratelimit.Message(r.Context(), w)
	if err != nil {
		a.Error = faultOf(err)
	} else {
		defer end()
		a = h.answer(ctx, w, body, of)
	}
	text, _ := encode(ctx, a)
	meter.Of(ctx).Pause()
	writing, cancel := context.WithTimeout(r.Context(), h.WriteTimeout)
	defer cancel()
	return socket.Write(writing, websocket.MessageText, text)
}

// receive reads messages until ctx ends or the client is gone. It then closes the channel, and ends the context.
func (h *handler) receive(ctx context.Context, socket *websocket.Conn) (<-chan []byte, context.Context) {
	messages := make(chan []byte, maxPending)
	gone, leave := context.WithCancel(ctx)
	go func() {
		defer close(messages)
		defer leave()
		_ = guard.Do(h.Log, "an Ogmios connection", func() {
			for {
				_, body, err := socket.Read(ctx)
				if err != nil {
					return
				}
				select {
				case messages <- body:
				case <-ctx.Done():
					return
				}
			}
		})
	}()
	return messages, gone
}
