package ergoexplorer

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/boxes"
	"birthmark/api/problem"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Options configure a handler.
type Options struct {
	Chain *boxes.Chain
	Path  string       // below which the API is served: "/explorer", for /explorer/api/v1/…
	Log   *slog.Logger // nil: no log

	// AnyOrigin lets web pages of every origin read answers, as the explorer does.
	AnyOrigin bool
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
	r     *http.Request
	w     http.ResponseWriter
	v     *boxes.View
	query map[string]string
}

// prefix is that of all paths of the API.
const prefix = "/api/v1/"

// endpoint answers requests for a path; args are the parts of the path in place of *.
type endpoint struct {
	method  string
	path    string
	answer  func(q *request, args []string) error
	pending bool // it reads the mempool
}

// endpoints are all endpoints by their number of parts and their first part.
var endpoints = func() map[string][]endpoint {
	byStart := map[string][]endpoint{}
	for _, list := range [][]endpoint{addressEndpoints, boxEndpoints, blockEndpoints, txEndpoints, tokenEndpoints, stateEndpoints, streamEndpoints} {
		for _, e := range list {
			key := startOf(strings.Split(e.path, "/"))
			byStart[key] = append(byStart[key], e)
		}
	}
	return byStart
}()

func startOf(path []string) string { return strconv.Itoa(len(path)) + path[0] }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{handler: h, Answer: boxes.NewAnswer(w, r), r: r, w: w}
	defer q.Free()
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	if h.AnyOrigin {
		header["Access-Control-Allow-Origin"] = []string{"*"}
	}
	path, ok := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, h.Path), prefix)
	err := errNoPath
	if r.Pattern = ""; ok {
		err = q.route(strings.Split(path, "/"))
	}
	if err != nil {
		q.fail(err)
		return
	}
	q.End()
}

// route answers the request for a path. It sets the route for metrics.
func (q *request) route(path []string) error {
	if q.r.Method == http.MethodOptions {
		h := q.w.Header()
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
		h.Set("Access-Control-Allow-Headers", "*")
		return nil
	}
	e, args, err := find(q.r.Method, path)
	if err != nil {
		return err
	}
	q.r.Pattern = q.Path + prefix + strings.ReplaceAll(e.path, "*", "{id}")
	q.query = map[string]string{}
	for name, values := range q.r.URL.Query() {
		q.query[name] = values[0]
	}
	view := q.Chain.View
	if e.pending {
		view = q.Chain.PendingView
	}
	return view(q.Ctx, func(v *boxes.View) error {
		q.v = v
		return e.answer(q, args)
	})
}

// find returns the endpoint for a path, and the parts in place of *.
func find(method string, path []string) (*endpoint, []string, error) {
	err := errNoPath
	all := endpoints[startOf(path)]
	for i := range all {
		args, ok := match(all[i].path, path)
		if !ok {
			continue
		}
		if all[i].method == method || all[i].method == http.MethodGet && method == http.MethodHead {
			return &all[i], args, nil
		}
		err = &failure{http.StatusMethodNotAllowed, "Method not allowed: expected " + all[i].method}
	}
	return nil, nil, err
}

func match(pattern string, path []string) (args []string, ok bool) {
	for _, part := range path {
		var want string
		if want, pattern, _ = strings.Cut(pattern, "/"); want == "*" {
			args = append(args, part)
		} else if want != part {
			return nil, false
		}
	}
	return args, true
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

// fail answers with an error. Errors after a part of the answer was sent cut the connection, so that the client
// notices.
func (q *request) fail(err error) {
	if q.Sent {
		panic(http.ErrAbortHandler)
	}
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
	body, err := json.Marshal(f)
	if err != nil {
		panic(err) // impossible: the fields are simple
	}
	q.w.Header()["Content-Type"] = []string{"application/json"}
	q.w.WriteHeader(f.Status)
	_, _ = q.w.Write(body) // fails only if the client is gone
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
	switch q.query["sortDirection"] {
	case "", "desc":
	case "asc":
		p.ascending = true
	default:
		return p, bad("sortDirection: expected asc or desc")
	}
	return p, nil
}

// number reads a parameter that is a number; there is false if it is absent.
func (q *request) number(name string, to *int) (there bool, err error) {
	text := q.query[name]
	if text == "" {
		return false, nil
	}
	n, err := strconv.ParseInt(text, 10, 48)
	if err != nil || n < 0 {
		return false, bad("%s: expected a number from 0 on", name)
	}
	*to = int(n)
	return true, nil
}

func (q *request) flag(name string) (bool, error) {
	switch q.query[name] {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, bad("%s: expected true or false", name)
}

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

// addressIndex returns the index of addresses, which the chain always has.
func (q *request) addressIndex() *model.Index {
	all := q.Chain.Model.Indexes()
	return &all[slices.IndexFunc(all, func(x model.Index) bool { return x.Name == boxes.AddressIndex })]
}

// ofAddress returns the boxes of an address: those of its tree.
func (q *request) ofAddress(text string) (*boxes.Holder, error) {
	stored, err := q.addressIndex().Parse(text)
	if err != nil {
		return nil, bad("%s", err)
	}
	return q.v.Tree(ergo.TreeHash(ergo.AddressTree(stored)))
}

// ofTree returns the boxes of a tree in hex.
func (q *request) ofTree(text string) (*boxes.Holder, error) {
	tree, err := hex.DecodeString(text)
	if err != nil || len(tree) == 0 {
		return nil, bad("the ErgoTree is not hex")
	}
	return q.v.Tree(ergo.TreeHash(tree))
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
