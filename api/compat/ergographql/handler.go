package ergographql

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"

	graphql "github.com/graph-gophers/graphql-go"

	"birthmark/api/compat/boxes"
	"birthmark/api/problem"
)

// Options configure a handler.
type Options struct {
	Chain *boxes.Chain
	Path  string       // of the endpoint: "/graphql"
	Log   *slog.Logger // nil: no log
}

// New returns the handler of the endpoint.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &handler{o}
}

type handler struct{ Options }

//go:embed schema.graphql
var text string

// Limits of a request.
const (
	maxBody  = 1 << 20 // bytes
	maxQuery = 16 << 10
	maxDepth = 8
	maxReads = 20 // fields of Query, Mutation and Mempool
)

var schema = sync.OnceValue(func() *graphql.Schema {
	return graphql.MustParseSchema(text, &root{},
		graphql.UseFieldResolvers(), graphql.MaxDepth(maxDepth), graphql.MaxQueryLength(maxQuery))
})

// request is a request whose fields are resolved.
type request struct {
	*handler
	ctx context.Context
	w   http.ResponseWriter

	mu    sync.Mutex  // fields are resolved at once, but a view is used from one goroutine
	v     *boxes.View // of one moment
	reads int
}

type requestKey struct{}

// failed is the body of an answer without data.
type failed struct {
	Errors []message `json:"errors"`
}

type message struct {
	Message string `json:"message"`
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	r.Pattern = h.Path
	var answer any
	var err error
	switch r.Method {
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "POST")
		header.Set("Access-Control-Allow-Headers", "*")
		return
	case http.MethodPost:
		answer, err = h.answer(w, r)
	default:
		err = problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "expected POST with a query in JSON")
	}
	if err != nil {
		p := problem.Of(err)
		h.log(err)
		w.WriteHeader(p.Status)
		answer = failed{[]message{{p.Detail}}}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		panic(err) // impossible: the fields are simple
	}
	_, _ = w.Write(body) // fails only if the client is gone
}

// log logs an error that is the server's fault.
func (h *handler) log(err error) {
	if problem.Of(err).Status == http.StatusInternalServerError {
		h.Log.Error("a request of the API of ergo-graphql failed", "error", err)
	}
}

// answer executes the query in the body of a request.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) (*graphql.Response, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, err
	}
	var body struct {
		Query         string                     `json:"query"`
		OperationName string                     `json:"operationName"`
		Variables     map[string]json.RawMessage `json:"variables"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Query == "" {
		return nil, problem.New(http.StatusBadRequest, "bad_request", `the body: expected {"query": "…", "variables": {…}}`)
	}
	variables := make(map[string]any, len(body.Variables))
	for name, value := range body.Variables {
		if value[0] == '{' { // amounts of transactions do not fit into floating-point numbers
			variables[name] = value
			continue
		}
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			return nil, err
		}
		variables[name] = v
	}
	var answer *graphql.Response
	err = h.Chain.PendingView(r.Context(), func(v *boxes.View) error {
		q := &request{handler: h, ctx: r.Context(), w: w, v: v}
		answer = schema().Exec(context.WithValue(r.Context(), requestKey{}, q), withoutUnused(body.Query), body.OperationName, variables)
		return nil
	})
	return answer, err
}

// declaration is a declaration of a variable without a default value.
var declaration = regexp.MustCompile(`\$(\w+)\s*:\s*[\[\]!\w]+\s*`)

// withoutUnused removes the declarations of variables that a query does not use, because they are an error in GraphQL:
// Fleet's query for unconfirmed boxes has one.
func withoutUnused(query string) string {
	return declaration.ReplaceAllStringFunc(query, func(text string) string {
		name := declaration.FindStringSubmatch(text)[1]
		if strings.Count(query, "$"+name) > 1 {
			return text
		}
		return ""
	})
}

// read resolves a field.
func read[T any](ctx context.Context, fn func(*request) (T, error)) (value T, err error) {
	q := ctx.Value(requestKey{}).(*request)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.reads++; q.reads > maxReads {
		err = problem.New(http.StatusBadRequest, "too_many", "a query can have at most %d lists: send several queries", maxReads)
	}
	if err == nil {
		value, err = fn(q)
	}
	if err != nil {
		q.log(err)
		err = errors.New(problem.Of(err).Detail)
	}
	return value, err
}
