package blockfrost

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"birthmark/api/compat/blockfrost/positions"
	"birthmark/api/compat/blockfrost/state"
	"birthmark/api/compat/utxo"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Options configure a handler.
type Options struct {
	Chain   *served.Chain
	Path    string       // below which the API is served: "/api/v0"
	Version string       // of this program
	InSync  func() bool  // whether the database is near the tip of its source
	Log     *slog.Logger // nil: no log

	// AnyOrigin lets web pages of every origin read answers, as Blockfrost does.
	AnyOrigin bool
}

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
	h := &handler{Options: o, pages: positions.New(), network: state.Networks[c.Model.Network()], parameters: new(state.Last)}
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

type handler struct {
	Options
	pages   *positions.Memory
	network *state.Network // nil: its constants are unknown

	parameters *state.Last
}

// request is a request and its answer.
type request struct {
	*handler
	utxo.Reader // of one snapshot
	view        *query.View
	ctx         context.Context
	r           *http.Request
	w           http.ResponseWriter
	args        []string   // the variable parts of the path
	values      url.Values // of the query
	release     func()     // of the cost of an expensive answer; nil: it is cheap
	answer      any        // JSON, or already encoded as json.RawMessage
}

const jsonType = "application/json; charset=utf-8"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["Content-Type"] = []string{jsonType}
	if h.AnyOrigin {
		header["Access-Control-Allow-Origin"] = []string{"*"}
	}
	if r.Method == http.MethodOptions {
		header["Access-Control-Allow-Headers"] = []string{"project_id, content-type"}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	q := &request{handler: h, ctx: r.Context(), r: r, w: w}
	defer func() {
		if q.release != nil {
			q.release()
		}
	}()
	err := q.route(strings.TrimPrefix(r.URL.Path, h.Path))
	var body []byte
	if err == nil {
		body, err = encoded(q.answer)
	}
	if err != nil {
		q.fail(err)
		return
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	_, _ = w.Write(body) // fails only if the client is gone
}

// encoded returns an answer as JSON.
func encoded(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// route answers the request for a path. It sets the route for metrics.
func (q *request) route(path string) error {
	q.r.Pattern = ""
	path = strings.Trim(path, "/")
	rt, args := find(q.r.Method, path)
	if rt == nil {
		return errPath
	}
	q.r.Pattern = q.Path + "/" + rt.path
	if rt.reason != "" {
		return notImplemented(rt.reason)
	}
	q.args = args
	values, err := url.ParseQuery(q.r.URL.RawQuery)
	if err != nil {
		return errPath
	}
	q.values = values
	if rt.plain {
		return rt.answer(q)
	}
	return q.Chain.View(q.ctx, func(v *query.View) error {
		return v.From(q.ctx, func(s *query.Query) error {
			q.view, q.Q = v, s
			return rt.answer(q)
		})
	})
}

// expensive makes the request one that reads many rows: it counts as such until it is answered.
func (q *request) expensive() error {
	if q.release != nil {
		return nil
	}
	release, err := ratelimit.Take(q.w, ratelimit.Heavy)
	q.release = release
	return err
}

// root answers where the documentation of the API is, and the version of this program.
func root(q *request) error {
	q.answer = struct {
		URL     string `json:"url"`
		Version string `json:"version"`
	}{"https://blockfrost.io/", q.Version}
	return nil
}
