package ergoexplorer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"birthmark/api/compat/boxes"
	"birthmark/api/problem"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
)

// Options configure a handler.
type Options struct {
	Chain *boxes.Chain
	Path  string       // below which the API is served: "/explorer", for /explorer/api/v1/…
	Log   *slog.Logger // nil: no log
}

// New returns the handler of all requests below the path of o.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &handler{o}
}

type handler struct{ Options }

// request is a request and its answer.
type request struct {
	*handler
	*boxes.Answer
	r *http.Request
	w http.ResponseWriter
	v *boxes.View
}

// prefix is that of the paths of version 1 of the API.
const prefix = "/api/v1/"

// endpoint answers requests for a path; args are the parts of the path in place of *.
type endpoint struct {
	method  string
	path    string
	answer  func(q *request, args []string) error
	pending bool // it reads the mempool
}

var endpoints = boxes.NewRouter(
	func(e endpoint) (method, path string) { return e.method, e.path },
	addressEndpoints, boxEndpoints, blockEndpoints, txEndpoints, tokenEndpoints, stateEndpoints, streamEndpoints,
)

// versions are the routers of the versions of the API, by the prefix of their paths.
var versions = map[string]boxes.Router[endpoint]{
	prefix:    endpoints,
	oldPrefix: boxes.NewRouter(func(e endpoint) (method, path string) { return e.method, e.path }, oldEndpoints),
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{handler: h, Answer: boxes.NewAnswer(w, r), r: r, w: w}
	defer q.Free()
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	err := errNoPath
	r.Pattern = ""
	for version := range versions {
		if path, ok := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, h.Path), version); ok {
			err = q.route(version, strings.Split(path, "/"))
		}
	}
	if err != nil {
		q.fail(err)
		return
	}
	q.End()
}

// route answers the request for a path of a version. It sets the route for metrics.
func (q *request) route(version string, path []string) error {
	if q.Preflight() {
		return nil
	}
	e, args, other := versions[version].Find(q.r.Method, path)
	switch {
	case other != "":
		return &failure{http.StatusMethodNotAllowed, "Method not allowed: expected " + other}
	case e == nil:
		return errNoPath
	}
	q.r.Pattern = q.Path + version + strings.ReplaceAll(e.path, "*", "{id}")
	view := q.Chain.View
	if e.pending {
		view = q.Chain.PendingView
	}
	return view(q.Ctx, func(v *boxes.View) error {
		q.v = v
		return e.answer(q, args)
	})
}

// failure is an error in the form of the explorer.
type failure struct {
	Status int    `json:"status"`
	Reason string `json:"reason"`
}

func (f *failure) Error() string { return f.Reason }

func bad(format string, args ...any) error {
	return &failure{http.StatusBadRequest, "Bad request: " + fmt.Sprintf(format, args...)}
}

func absent(format string, args ...any) error {
	return &failure{http.StatusNotFound, "Not found: " + fmt.Sprintf(format, args...)}
}

var errNoPath error = &failure{http.StatusNotFound, "Not found: no such path"}

// unsupported returns an endpoint that is not answered, with the reason.
func unsupported(reason string) func(*request, []string) error {
	return func(*request, []string) error {
		return &failure{http.StatusNotImplemented, "Not implemented: " + reason}
	}
}

// fail answers with an error.
func (q *request) fail(err error) {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		p := problem.Of(err)
		f = &failure{p.Status, p.Detail}
		switch p.Status {
		case http.StatusInternalServerError:
			q.Log.Error("a request of the API of Ergo's explorer failed", "path", q.r.URL.Path, "error", err)
		case http.StatusBadRequest:
			f.Reason = "Bad request: " + p.Detail
		case http.StatusNotFound:
			f.Reason = "Not found: " + p.Detail
		}
	}
	q.Fail(f.Status, f)
}

const (
	maxItems  = 500 // of a page
	maxTokens = 100 // boxes of a token in a page
	maxSpan   = 1536
	maxBody   = 1 << 20
)

// page is the window of a list.
type page struct {
	offset, limit int
	ascending     bool
}

// page reads the parameters of a list.
func (q *request) page(most int) (p page, err error) {
	p.limit = 20
	for name, to := range map[string]*int{"offset": &p.offset, "limit": &p.limit} {
		if _, err := q.number(name, to); err != nil {
			return p, err
		}
	}
	if p.limit > most || p.limit < 1 {
		return p, bad("limit is %d: expected 1 to %d", p.limit, most)
	}
	var ok bool
	if p.ascending, ok = q.Ascending(); !ok {
		return p, bad("sortDirection: expected asc or desc")
	}
	return p, nil
}

// number reads a parameter that is a number; there is false if it is absent.
func (q *request) number(name string, to *int) (there bool, err error) { return q.Number(name, 48, to) }

// body decodes the body of the request.
func (q *request) body(v any) error {
	raw, err := io.ReadAll(http.MaxBytesReader(q.w, q.r.Body, maxBody))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return bad("the body: %s", err)
	}
	return nil
}

func parseID(text string) (sigma.ID, error) {
	id, ok := boxes.ParseID(text)
	if !ok {
		return id, bad("%q is not an id: expected 64 hex digits", text)
	}
	return id, nil
}

// ofAddress returns the boxes of an address: those of its tree.
func (q *request) ofAddress(text string) (*boxes.Holder, error) {
	stored, err := q.Chain.AddressIndex().Parse(text)
	if err != nil {
		return nil, bad("%s", err)
	}
	return q.v.HolderOf(ergo.AddressTree(stored))
}

// ofTree returns the boxes of a tree in hex.
func (q *request) ofTree(text string) (*boxes.Holder, error) {
	tree, err := boxes.ParseTree(text)
	if err != nil {
		return nil, err
	}
	return q.v.HolderOf(tree)
}

// ofTemplate returns the boxes of a template.
func (q *request) ofTemplate(text string) (*boxes.Holder, error) {
	hash, err := parseID(text)
	if err != nil {
		return nil, err
	}
	return q.v.Template(hash)
}

// paged writes a list with its total.
func (q *request) paged(total int, items func() error) error {
	q.Add(`{"items":[`)
	if err := items(); err != nil {
		return err
	}
	q.Add(`],"total":`)
	q.Int(total)
	q.Add("}")
	return nil
}
