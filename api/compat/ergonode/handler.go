package ergonode

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
	Path  string       // below which the API is served: "/node"
	Log   *slog.Logger // nil: no log

	// AnyOrigin lets web pages of every origin read answers.
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
	v     *boxes.View // of one moment; nil: the endpoint needs none
	query map[string]string
}

// endpoint answers requests for a path; args are the parts of the path in place of *.
type endpoint struct {
	method string
	path   string
	answer func(q *request, args []string) error
	needs  moment
}

// moment is the part of the state that an endpoint reads.
type moment uint8

const (
	nothing moment = iota
	confirmed
	unconfirmed // also the mempool
)

// endpoints are all endpoints by their number of parts and their first part.
var endpoints = func() map[string][]endpoint {
	byStart := map[string][]endpoint{}
	for _, list := range [][]endpoint{blockchainEndpoints, blockEndpoints, utxoEndpoints, mempoolEndpoints, nodeEndpoints, utilEndpoints} {
		for _, e := range list {
			key := startOf(strings.Split(e.path, "/"))
			byStart[key] = append(byStart[key], e)
		}
	}
	return byStart
}()

func startOf(path []string) string { return strconv.Itoa(len(path)) + path[0] }

// find returns the endpoint for a path, and the parts in place of *.
func find(method string, path []string) (found *endpoint, args []string, err error) {
	err = errNotFound
	for i := range endpoints[startOf(path)] {
		e := &endpoints[startOf(path)][i]
		if args, ok := match(e.path, path); ok {
			if e.method == method || e.method == http.MethodGet && method == http.MethodHead {
				return e, args, nil
			}
			err = errMethod
		}
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

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{handler: h, Answer: boxes.NewAnswer(w, r), r: r, w: w}
	defer q.Free()
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	if h.AnyOrigin {
		header["Access-Control-Allow-Origin"] = []string{"*"}
	}
	if err := q.route(strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, h.Path), "/"), "/")); err != nil {
		q.fail(err)
		return
	}
	q.End()
}

// route answers the request for a path. It sets the route for metrics.
func (q *request) route(path []string) error {
	q.r.Pattern = ""
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
	q.r.Pattern = q.Path + "/" + strings.ReplaceAll(e.path, "*", "{id}")
	q.query = map[string]string{}
	for name, values := range q.r.URL.Query() {
		q.query[name] = values[0]
	}
	within := func(v *boxes.View) error {
		q.v = v
		return e.answer(q, args)
	}
	switch e.needs {
	case confirmed:
		return q.Chain.View(q.Ctx, within)
	case unconfirmed:
		return q.Chain.PendingView(q.Ctx, within)
	}
	return e.answer(q, args)
}

// failure is an error in the form of the node.
type failure struct {
	Status int     `json:"error"`
	Reason string  `json:"reason"`
	Detail *string `json:"detail"`
}

func (f *failure) Error() string { return f.Reason }

func bad(format string, args ...any) error {
	detail := fmt.Sprintf(format, args...)
	return &failure{http.StatusBadRequest, "bad.request", &detail}
}

var (
	errNotFound = &failure{Status: http.StatusNotFound, Reason: "not-found"}
	errMethod   = func() error {
		detail := "this endpoint has another method"
		return &failure{http.StatusMethodNotAllowed, "method-not-allowed", &detail}
	}()
)

// fail answers with an error. Errors after a part of the answer was sent cut the connection, so that the client
// notices.
func (q *request) fail(err error) {
	if q.Sent {
		panic(http.ErrAbortHandler)
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		p := problem.Of(err)
		f = &failure{p.Status, strings.ReplaceAll(p.Code, "_", "-"), &p.Detail}
		switch p.Status {
		case http.StatusInternalServerError:
			q.Log.Error("a request of the API of Ergo's node failed", "path", q.r.URL.Path, "error", err)
		case http.StatusBadRequest:
			f.Reason = "bad.request"
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
	maxItems = 16384   // of a page
	maxBody  = 1 << 20 // bytes
)

// page is the window of a list.
type page struct {
	offset, limit int
	ascending     bool

	unconfirmed, unspent bool // includeUnconfirmed, excludeMempoolSpent
}

// page reads the parameters of a list. what names its items in errors.
func (q *request) page(what string) (p page, err error) {
	p.limit = 5
	for name, to := range map[string]*int{"offset": &p.offset, "limit": &p.limit} {
		if err := q.number(name, to); err != nil {
			return p, err
		}
	}
	if p.limit > maxItems {
		return p, bad("No more than %d %s can be requested", maxItems, what)
	}
	switch q.query["sortDirection"] {
	case "", "desc":
	case "asc":
		p.ascending = true
	default:
		return p, bad("Invalid parameter for sort direction, valid values are \"ASC\" and \"DESC\": asc or desc")
	}
	for name, to := range map[string]*bool{"includeUnconfirmed": &p.unconfirmed, "excludeMempoolSpent": &p.unspent} {
		switch q.query[name] {
		case "", "false":
		case "true":
			*to = true
		default:
			return p, bad("%s: expected true or false", name)
		}
	}
	return p, nil
}

// number reads a parameter that is a number, if it is there.
func (q *request) number(name string, to *int) error {
	text := q.query[name]
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return bad("%s: expected a number from 0 on", name)
	}
	*to = int(n)
	return nil
}

// body reads the body of the request.
func (q *request) body() ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(q.w, q.r.Body, maxBody))
}

// text reads a body that is one string, in JSON or as it is.
func (q *request) text() (string, error) {
	body, err := q.body()
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal([]byte(text), &text); err != nil {
			return "", bad("the body is not a JSON string: %s", err)
		}
	}
	return text, nil
}

// ids reads a body that is a list of ids.
func (q *request) ids() ([]sigma.ID, error) {
	body, err := q.body()
	if err != nil {
		return nil, err
	}
	var texts []string
	if err := json.Unmarshal(body, &texts); err != nil {
		return nil, bad("the body is not a JSON list of ids: %s", err)
	}
	if len(texts) > maxItems {
		return nil, bad("No more than %d ids can be requested", maxItems)
	}
	ids := make([]sigma.ID, len(texts))
	for i, text := range texts {
		if ids[i], err = parseID(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func parseID(text string) (sigma.ID, error) {
	id, ok := boxes.ParseID(text)
	if !ok {
		return id, bad("Wrong modifierId format: expected 64 hex digits")
	}
	return id, nil
}

// stored returns the value of the index of addresses for an address.
func (q *request) stored(text string) ([]byte, error) {
	stored, err := q.addressIndex().Parse(text)
	if err != nil {
		return nil, bad("%s", err)
	}
	return stored, nil
}

// addressIndex returns the index of addresses, which the chain always has.
func (q *request) addressIndex() *model.Index {
	all := q.Chain.Model.Indexes()
	return &all[slices.IndexFunc(all, func(x model.Index) bool { return x.Name == boxes.AddressIndex })]
}

// address returns the ErgoTree of an address.
func (q *request) address(text string) ([]byte, error) {
	stored, err := q.stored(text)
	if err != nil {
		return nil, err
	}
	return ergo.AddressTree(stored), nil
}

// holder returns the boxes of an address, or of a tree in hex if tree is set.
func (q *request) holder(text string, tree bool) (*boxes.Holder, error) {
	var raw []byte
	var err error
	if tree {
		raw, err = parseTree(text)
	} else {
		raw, err = q.address(text)
	}
	if err != nil {
		return nil, err
	}
	return q.v.Tree(ergo.TreeHash(raw))
}

func parseTree(text string) ([]byte, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return nil, bad("the ErgoTree is not hex")
	}
	return raw, nil
}

// rows is the number of boxes that are read together.
const rows = 128
