package ergonode

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
	Path  string       // below which the API is served: "/node"
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
	v *boxes.View // of one moment; nil: the endpoint needs none
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

var endpoints = boxes.NewRouter(
	func(e endpoint) (method, path string) { return e.method, e.path },
	blockchainEndpoints, blockEndpoints, utxoEndpoints, mempoolEndpoints, nodeEndpoints, utilEndpoints,
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{handler: h, Answer: boxes.NewAnswer(w, r), r: r, w: w}
	defer q.Free()
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	if err := q.route(strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, h.Path), "/"), "/")); err != nil {
		q.fail(err)
		return
	}
	q.End()
}

// route answers the request for a path. It sets the route for metrics.
func (q *request) route(path []string) error {
	q.r.Pattern = ""
	if q.Preflight() {
		return nil
	}
	e, args, other := endpoints.Find(q.r.Method, path)
	switch {
	case other != "":
		return errMethod
	case e == nil:
		return errNotFound
	}
	q.r.Pattern = q.Path + "/" + strings.ReplaceAll(e.path, "*", "{id}")
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

// fail answers with an error.
func (q *request) fail(err error) {
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
	q.Fail(f.Status, f)
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
	var ok bool
	if p.ascending, ok = q.Ascending(); !ok {
		return p, bad("Invalid parameter for sort direction, valid values are \"ASC\" and \"DESC\": asc or desc")
	}
	if p.unconfirmed, err = q.Flag("includeUnconfirmed"); err != nil {
		return p, err
	}
	p.unspent, err = q.Flag("excludeMempoolSpent")
	return p, err
}

// number reads a parameter that is a number, if it is there.
func (q *request) number(name string, to *int) error {
	_, err := q.Number(name, 32, to)
	return err
}

// body reads the body of the request.
func (q *request) body() ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(q.w, q.r.Body, maxBody))
}

// text reads a body that is one string: a JSON string, or text without quotes.
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
	stored, err := q.Chain.AddressIndex().Parse(text)
	if err != nil {
		return nil, bad("%s", err)
	}
	return stored, nil
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
		raw, err = boxes.ParseTree(text)
	} else {
		raw, err = q.address(text)
	}
	if err != nil {
		return nil, err
	}
	return q.v.HolderOf(raw)
}

// rows is the number of boxes that are read together.
const rows = 128
