package kupo

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/model"
)

// Options configure a handler.
type Options struct {
	Chain   *served.Chain
	Path    string       // below which the API is served: "/kupo"
	Version string       // of this program
	InSync  func() bool  // whether the database is near the tip of its source
	Log     *slog.Logger // nil: no log
}

// indexes are what patterns, datums and scripts need.
var indexes = []string{utxo.AddressIndex, utxo.PaymentIndex, utxo.StakeIndex, utxo.PolicyIndex, utxo.DatumIndex, utxo.ScriptIndex}

// New returns the handler of all requests below the path of o. The error is of kind [model.Refused] if the chain is
// another one, or if its database lacks an index or raw transactions; it contains what adds them.
func New(ctx context.Context, o Options) (http.Handler, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := o.Chain
	if c.Model.Name() != "cardano" {
		return nil, model.Errorf(model.Refused, "unsupported", "%s: Kupo's API is for cardano only", c.Name)
	}
	return &handler{o}, c.View(ctx, func(v *query.View) error {
		return v.From(ctx, func(q *query.Query) error {
			for _, name := range indexes {
				if _, err := q.Index(name); err != nil {
					return model.Errorf(model.Refused, "unknown_index", "%s: Kupo's API needs the index %s: set indexes: kupo in the "+
						"settings, and run birthmark index add %s", c.Name, name, name)
				}
			}
			if !q.HasRaw() {
				return model.Errorf(model.Refused, "no_raw", "%s: Kupo's API needs raw transactions: sync into a new database with raw: keep", c.Name)
			}
			return nil
		})
	})
}

type handler struct{ Options }

// request is a request and its answer.
type request struct {
	*handler
	utxo.Reader // of one snapshot
	ctx         context.Context
	r           *http.Request
	w           http.ResponseWriter

	out  []byte // of the answer
	sent bool   // a part of the answer was sent
}

const jsonType = "application/json;charset=utf-8"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{handler: h, ctx: r.Context(), r: r, w: w}
	header := w.Header()
	header["Content-Type"] = []string{jsonType}
	path := strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, h.Path), "/"), "/")
	if path[0] == "v1" {
		path = path[1:]
	}
	if err := q.route(path); err != nil {
		q.fail(err)
		return
	}
	if !q.sent {
		header["Content-Length"] = []string{strconv.Itoa(len(q.out))}
	}
	_, _ = w.Write(q.out) // fails only if the client is gone
}

// operation answers the requests with a method below an endpoint.
type operation func(q *request, args []string) error

// operations are the operations by endpoint and method. Those of [reading] answer from a snapshot of the database.
var operations = map[string]map[string]operation{
	"matches":     {http.MethodGet: (*request).matches, http.MethodDelete: (*request).deleteMatches},
	"datums":      {http.MethodGet: (*request).datum},
	"scripts":     {http.MethodGet: (*request).script},
	"metadata":    {http.MethodGet: (*request).metadata},
	"checkpoints": {http.MethodGet: (*request).checkpoints},
	"patterns":    {http.MethodGet: (*request).patterns, http.MethodPut: (*request).patterns, http.MethodDelete: (*request).deletePattern},
	"health":      {http.MethodGet: (*request).health},
	"metrics":     {http.MethodGet: (*request).metrics},
}

// reading are the endpoints whose answers a client can have already.
var reading = []string{"matches", "datums", "scripts", "metadata", "checkpoints"}

// route answers the request for a path. It sets the route for metrics.
func (q *request) route(path []string) error {
	q.r.Pattern = ""
	if len(path) == 0 || operations[path[0]] == nil {
		return errNoEndpoint
	}
	endpoint, args, method := path[0], path[1:], q.r.Method
	q.r.Pattern = q.Path + "/" + endpoint
	if method == http.MethodOptions {
		return nil
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	answer := operations[endpoint][method]
	if answer == nil {
		return errMethod
	}
	if method != http.MethodGet || !slices.Contains(reading, endpoint) {
		return answer(q, args)
	}
	return q.view(func() error {
		tip, err := q.setTip()
		if err != nil {
			return err
		}
		if tip != nil && q.hasAnswer(tip) {
			q.sent = true
			q.w.WriteHeader(http.StatusNotModified)
			return nil
		}
		return answer(q, args)
	})
}

// view calls f with a snapshot of the database.
func (q *request) view(f func() error) error {
	return q.Chain.View(q.ctx, func(v *query.View) error {
		return v.From(q.ctx, func(s *query.Query) error {
			q.Q = s
			return f()
		})
	})
}

// setTip sets the headers with the tip, and returns it; nil before the first block.
func (q *request) setTip() (*utxo.Point, error) {
	if q.Q.Tip.IsOrigin() {
		return nil, nil
	}
	tip, err := q.Point(q.Q.Tip.Height)
	if err != nil {
		return nil, err
	}
	h := q.w.Header()
	h["X-Most-Recent-Checkpoint"] = []string{strconv.FormatUint(tip.Slot, 10)}
	h["Etag"] = []string{tip.Hash.String()}
	return &tip, nil
}

// hasAnswer reports whether the client has the answer for a tip, whose ETag is without quotes.
func (q *request) hasAnswer(tip *utxo.Point) bool {
	etag, have := tip.Hash.String(), q.r.Header["If-None-Match"]
	return served.MatchesETag(have, etag) || served.MatchesETag(have, `"`+etag+`"`)
}

// flushAt is the size in bytes of the parts in which long answers are sent.
const flushAt = 64 << 10

// flush sends the answer so far if it is long. A long answer has no time limit.
func (q *request) flush() error {
	if len(q.out) < flushAt {
		return nil
	}
	if !q.sent {
		if err := ratelimit.Stream(q.w); err != nil {
			return err
		}
		q.sent = true
	}
	_, err := q.w.Write(q.out)
	if q.out = q.out[:0]; err == nil {
		err = q.ctx.Err()
	}
	return err
}

func (q *request) add(parts ...string) {
	for _, p := range parts {
		q.out = append(q.out, p...)
	}
}

func (q *request) addUint(n uint64) { q.out = strconv.AppendUint(q.out, n, 10) }

func (q *request) addPoint(p utxo.Point) {
	q.add(`{"slot_no":`)
	q.addUint(p.Slot)
	q.add(`,"header_hash":"`, p.Hash.String(), `"`)
}
