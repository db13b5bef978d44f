package ergographql

import (
	"cmp"
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
	"sync/atomic"

	graphql "github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/graph-gophers/graphql-go/trace/noop"

	"birthmark/api/compat/boxes"
	"birthmark/api/problem"
	"birthmark/core/meter"
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

	maxSelections = 20_000  // fields of a query after its fragments are expanded
	maxPairs      = 100_000 // of fields that are compared when a query is validated
	maxFields     = 200_000 // that are resolved: a field of a list once per element
)

var schema = sync.OnceValue(func() *graphql.Schema {
	return graphql.MustParseSchema(text, &root{},
		graphql.UseFieldResolvers(), graphql.MaxDepth(maxDepth), graphql.MaxQueryLength(maxQuery),
		graphql.MaxSelections(maxSelections), graphql.OverlapValidationLimit(maxPairs), graphql.Tracer(counter{}))
})

// request is a request whose fields are resolved.
type request struct {
	*handler
	ctx    context.Context
	w      http.ResponseWriter
	fields atomic.Int64            // that were resolved
	end    context.CancelCauseFunc // ends the query

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
		ctx, end := context.WithCancelCause(r.Context())
		defer end(nil)
		q := &request{handler: h, ctx: ctx, w: w, v: v, end: end}
		answer = schema().Exec(context.WithValue(ctx, requestKey{}, q), withoutUnused(body.Query), body.OperationName, variables)
		m := meter.Of(ctx)
		return cmp.Or(context.Cause(ctx), m.Err(), m.Hold(int64(len(answer.Data)))) // the body is a copy
	})
	return answer, err
}

// counter is the tracer that counts the fields that are resolved, those of introspection too.
type counter struct{ noop.Tracer }

// Fields are reported to the meter in batches. A field needs about fieldBytes until the answer is sent.
const (
	fieldBatch = 128
	fieldBytes = 512
)

// TraceField implements [tracer.Tracer].
func (counter) TraceField(
	ctx context.Context, _, _, _ string, _ bool, _ map[string]any,
) (context.Context, func(*gqlerrors.QueryError)) {
	q := ctx.Value(requestKey{}).(*request)
	if n := q.fields.Add(1); n%fieldBatch == 0 {
		m := meter.Of(ctx)
		err := cmp.Or(m.Fields(fieldBatch), m.Hold(fieldBatch*fieldBytes))
		if n > maxFields {
			err = problem.New(http.StatusBadRequest, "too_many", "a query can have at most %d fields in its answer: "+
				"request fewer fields, or fewer elements of lists", maxFields)
		}
		if err != nil {
			q.end(err)
		}
	}
	return ctx, func(*gqlerrors.QueryError) {}
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
