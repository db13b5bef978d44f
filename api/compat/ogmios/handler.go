package ogmios

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/internal/guard"
	"birthmark/model"
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
	idleTimeout  = 10 * time.Minute
	writeTimeout = 20 * time.Second
)

const rpcVersion = "2.0"

// Needs lists the abilities of the node that the methods use.
var Needs = served.Needs{Chain: "cardano", Node: "unix:///path/to/node.socket", Parts: []served.Need{
	{Node: served.Can[Node]}, {Node: served.Can[model.Submitter]},
}}

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

// request is a request of JSON-RPC.
type request struct {
	Version string          `json:"jsonrpc"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	ID      json.RawMessage `json:"id"` // any value; absent: the response has none either
}

// response is a response of JSON-RPC with the method, as Ogmios has it.
type response struct {
	Version string          `json:"jsonrpc"`
	Method  string          `json:"method,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
}

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
		answer := h.answer(r.Context(), body, submission(w), nil)
		status := http.StatusOK
		if answer.Error != nil {
			status = http.StatusBadRequest
		}
		write(w, status, answer)
	}
}

// answer answers a request.
func (h *handler) answer(ctx context.Context, body []byte, submit func() error, of *session) *response {
	var q request
	answer := &response{Version: rpcVersion}
	if err := json.Unmarshal(body, &q); err != nil {
		answer.Error = &fault{Code: parseError, Message: "the request: " + err.Error()}
		if json.Valid(body) {
			answer.Error.Code = invalidRequest
		}
		return answer
	}
	answer.Method, answer.ID = q.Method, q.ID
	f := methods[q.Method]
	switch {
	case q.Version != rpcVersion || q.Method == "":
		answer.Error = &fault{Code: invalidRequest, Message: `expected {"jsonrpc": "2.0", "method": "…", "params": {…}}`}
		return answer
	case q.Method == evaluate:
		answer.Error = &fault{Code: unknownMethod, Message: "evaluateTransaction needs an evaluator of Plutus scripts, which this server does " +
			"not have: evaluate in the client, or use Ogmios"}
		return answer
	case f == nil:
		answer.Error = &fault{Code: unknownMethod, Message: q.Method + " is not answered by this server: use Ogmios"}
		return answer
	}
	if bytes.Equal(q.Params, []byte("null")) {
		q.Params = nil
	}
	err := guard.Call(func() (err error) {
		answer.Result, err = f(&call{handler: h, ctx: ctx, params: q.Params, submit: submit, session: of})
		return err
	})
	if err != nil {
		answer.Result = nil
		answer.Error = faultOf(err)
		if answer.Error.Code == internalError {
			h.Log.Error("a request of the API of Ogmios failed", "method", q.Method, "error", err)
		}
	}
	return answer
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
		answer := h.message(w, r, body, state)
		writing, cancel := context.WithTimeout(r.Context(), writeTimeout)
		err := socket.Write(writing, websocket.MessageText, encoded(answer))
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
	return h.answer(ctx, body, submission(w), of)
}

// maxPending is the number of requests that are received while an earlier one waits.
const maxPending = 8

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
				case messages <- append([]byte{}, body...):
				case <-ctx.Done():
					return
				}
			}
		})
	}()
	return messages, gone
}
