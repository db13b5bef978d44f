package ergographql

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
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

	"birthmark/api/bounded"
	"birthmark/api/compat/boxes"
	"birthmark/api/jsonappend"
	"birthmark/api/problem"
	"birthmark/core/meter"
	"birthmark/internal/guard"
)

// Options configure a handler.
type Options = boxes.Options

// New returns the handler of the endpoint.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &handler{Options: o, constants: bounded.Cache[string, constant]{Max: maxConstants, Size: constant.size}}
}

type handler struct {
	Options
	constants bounded.Cache[string, constant] // by body of the request
}

//go:embed schema.graphql
var text string

// Limits of a request.
const (
	maxBody  = 1 << 20 // bytes
	maxQuery = 16 << 10
	maxDepth = 16 // that of introspection, as tools request it, is 15
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

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	r.Pattern = h.Path
	if r.Method == http.MethodOptions {
		header.Set("Access-Control-Allow-Methods", http.MethodPost)
		header.Set("Access-Control-Allow-Headers", "*")
		return
	}
	answer, err := h.answer(w, r)
	if err != nil {
		var status int
		status, answer = h.failed(err)
		w.WriteHeader(status)
	}
	_, _ = w.Write(answer) // fails only if the client is gone
}

// answer executes the query in the body of a request.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) (answer []byte, err error) {
	if r.Method != http.MethodPost {
		return nil, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "expected POST with a query in JSON")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, err
	}
	if known, ok := h.constants.Get(string(raw)); ok {
		return known.answer, nil
	}
	var body struct {
		Query         string                     `json:"query"`
		OperationName string                     `json:"operationName"`
		Variables     map[string]json.RawMessage `json:"variables"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Query == "" {
		return nil, bad(`the body: expected {"query": "…", "variables": {…}}`)
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
	err = h.Chain.PendingView(r.Context(), func(v *boxes.View) error {
		ctx, end := context.WithCancelCause(r.Context())
		defer end(nil)
		q := &request{handler: h, ctx: ctx, w: w, v: v, end: end}
		a := schema().Exec(context.WithValue(ctx, requestKey{}, q), withoutUnused(body.Query), body.OperationName, variables)
		m := meter.Of(ctx)
		if err := cmp.Or(context.Cause(ctx), m.Err(), m.Hold(int64(len(a.Data)))); err != nil { // the answer is a copy
			return err
		}
		answer = jsonappend.Append(nil, a)
		if q.reads == 0 && len(a.Errors) == 0 {
			h.constants.Put(string(raw), constant{len(raw), answer})
		}
		return nil
	})
	return answer, err
}

// constant is the answer to a body whose query does not read the chain, such as that of introspection: it depends on the
// schema alone.
type constant struct {
	body   int // bytes
	answer []byte
}

func (c constant) size() int { return c.body + len(c.answer) }

// maxConstants is the memory for constant answers in bytes. That of the usual introspection has 30 kB.
const maxConstants = 1 << 20

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

// read resolves a field that reads the chain. A panic is an error of the field.
func read[T any](ctx context.Context, fn func(*request) (T, error)) (value T, err error) {
	q := ctx.Value(requestKey{}).(*request)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.reads++; q.reads > maxReads {
		err = problem.New(http.StatusBadRequest, "too_many", "a query can have at most %d lists: send several queries", maxReads)
	} else {
		err = guard.Call(func() (err error) {
			value, err = fn(q)
			return err
		})
	}
	if err != nil {
		err = q.fieldError(err)
	}
	return value, err
}
