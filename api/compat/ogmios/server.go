package ogmios

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/internal/guard"
)

// Options configure a handler.
type Options struct {
	Chain   *served.Chain
	Path    string       // of the endpoint: "/ogmios"
	Log     *slog.Logger // nil: no log
	Origins []string     // of web pages that can connect by WebSocket; "*": every origin
}

// Limits of a client.
const (
	maxRequest   = 256 << 10 // bytes: nodes accept transactions of 16 KiB
	maxPending   = 8         // requests of a connection that are received while an earlier one waits
	idleTimeout  = 10 * time.Minute
	writeTimeout = 20 * time.Second
)

// New returns the handler of the endpoint. The chain has what [Needs] requires.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
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
		WriteProblem(w, problem.New(http.StatusNotFound, "not_found", "expected the path %s", h.Path))
		return
	}
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Headers", "*")
	case r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		h.socket(w, r)
	case r.Method != http.MethodPost:
		WriteProblem(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "expected POST with a request of JSON-RPC, or a WebSocket"))
	default:
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			WriteProblem(w, problem.Of(err))
			return
		}
		a := h.answer(r.Context(), w, body, nil)
		status := http.StatusOK
		if a.Error != nil {
			status = http.StatusBadRequest
		}
		write(w, status, a)
	}
}

func write(w http.ResponseWriter, status int, a *response) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(jsonappend.Append(nil, a)) // fails only if the client is gone
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
		WriteProblem(w, problem.Of(err))
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
		a := h.message(w, r, body, state)
		writing, cancel := context.WithTimeout(r.Context(), writeTimeout)
		err := socket.Write(writing, websocket.MessageText, jsonappend.Append(nil, a))
		cancel()
		if err != nil {
			return
		}
	}
}

// message answers a request of a connection, within the limits of the client.
func (h *handler) message(w http.ResponseWriter, r *http.Request, body []byte, of *session) *response {
	ctx, end, err := ratelimit.Message(r.Context(), w)
	if err != nil {
		return &response{Version: rpcVersion, Error: faultOf(err)}
	}
	defer end()
	return h.answer(ctx, w, body, of)
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
