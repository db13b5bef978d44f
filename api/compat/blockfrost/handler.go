package blockfrost

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/utxo"
	"birthmark/api/problem"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Options configure a handler.
type Options = exchange.Options

// Indexes are the indexes that the API needs, with the features that they must have.
var Indexes = []struct {
	Name  string
	Needs schema.Features
}{
	{utxo.AddressIndex, schema.AccountFeatures},
	{utxo.PaymentIndex, schema.AccountFeatures},
	{utxo.StakeIndex, schema.AccountFeatures},
	{utxo.PolicyIndex, 0},
	{utxo.DatumIndex, 0},
	{utxo.ScriptIndex, schema.FeatureUnspent},
}

// New returns the handler of all requests below the path of o. The error is of kind [model.Refused] if the chain is
// another one, or if its database lacks an index, an option or raw transactions; it contains what adds them.
func New(ctx context.Context, o Options) (http.Handler, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := o.Chain
	if c.Model.Name() != "cardano" {
		return nil, model.Errorf(model.Refused, "unsupported", "%s: Blockfrost's API is for cardano only", c.Name)
	}
	h := handler{exchange.NewServer(o)}
	return h, c.View(ctx, func(v *query.View) error {
		return v.From(ctx, func(q *query.Query) error {
			for _, need := range Indexes {
				x, err := q.Index(need.Name)
				what := "the index " + need.Name
				if err == nil {
					missing := need.Needs &^ x.Active
					what = missing.String() + " of the index " + need.Name
					if missing == 0 {
						continue
					}
				}
				return model.Errorf(model.Refused, "unknown_index", "%s: Blockfrost's API needs %s: set indexes: blockfrost in the "+
					"settings, and run birthmark index add %s", c.Name, what, need.Name)
			}
			if !q.HasRaw() {
				return model.Errorf(model.Refused, "no_raw",
					"%s: Blockfrost's API needs raw transactions: sync into a new database with raw: keep", c.Name)
			}
			return nil
		})
	})
}

type handler struct{ *exchange.Server }

// request is a request to an endpoint of this package.
type request struct{ *exchange.Request }

// WriteProblem answers with an error of the server that is not specific to this API, such as a missing API key.
func WriteProblem(w http.ResponseWriter, p *problem.Problem) { exchange.WriteProblem(w, p) }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["Content-Type"] = []string{exchange.JSONType}
	if r.Method == http.MethodOptions {
		header["Access-Control-Allow-Headers"] = []string{"project_id, content-type"}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	q := &request{&exchange.Request{Server: h.Server, Ctx: r.Context(), R: r, W: w}}
	q.Long = q.Expensive
	defer func() {
		if q.Release != nil {
			q.Release()
		}
	}()
	err := q.route(strings.TrimPrefix(r.URL.Path, h.Path))
	var body []byte
	if err == nil {
		b := buffers.Get().(*bytes.Buffer)
		defer func() {
			if b.Cap() <= largestBuffer {
				b.Reset()
				buffers.Put(b)
			}
		}()
		body, err = exchange.Encode(q.Answer, b)
	}
	if err != nil {
		q.Fail(err)
		return
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	_, _ = w.Write(body) // fails only if the client is gone
}

// buffers are for answers.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const largestBuffer = 1 << 20

// route answers the request for a path. It sets the route for metrics.
func (q *request) route(path string) error {
	q.R.Pattern = ""
	path = strings.Trim(path, "/")
	rt, args := find(q.R.Method, path)
	if rt == nil {
		return exchange.ErrPath
	}
	q.R.Pattern = q.Path + "/" + rt.path
	values, err := url.ParseQuery(q.R.URL.RawQuery)
	if err != nil {
		return exchange.ErrPath
	}
	q.Values = values
	if err := q.read(rt, args); err != nil {
		return err
	}
	if rt.reason != "" {
		return exchange.NotImplemented(rt.reason)
	}
	if rt.plain {
		return rt.answer(q)
	}
	return q.Chain.View(q.Ctx, func(v *query.View) error {
		return v.From(q.Ctx, func(s *query.Query) error {
			q.View, q.Q = v, s
			return rt.answer(q)
		})
	})
}

// root answers where the documentation of the API is, and the version of this program.
func root(q *request) error {
	q.Answer = struct {
		URL     string `json:"url"`
		Version string `json:"version"`
	}{"https://blockfrost.io/", q.Version}
	return nil
}
