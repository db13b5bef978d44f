package api

import (
	"net/http"
	"slices"

	"birthmark/api/exchange"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
)

// operations lists every operation, in the order of the documentation. Routes, the OpenAPI document and the pages of the
// documentation are made from it.
func (o *Options) operations() []*operation {
	ops := slices.Concat(chainOperations(), blockOperations(), statisticsOperations(), txOperations(), outputOperations(),
		valueOperations(), assetOperations(), mempoolOperations(), nodeOperations())
	if o.Fields != nil {
		ops = append(ops, fieldsOperation(o.Fields))
	}
	if o.Events != nil {
		ops = append(ops, eventsOperation())
	}
	if o.Watch != nil {
		ops = append(ops, watchOperation())
	}
	return ops
}

// routes returns the multiplexer of all operations and documents. A pattern matches the path segment by segment before
// it is unescaped, so that a value may contain slashes (%2F), any bytes, and be "..". Patterns have no method: a request
// with another one gets a problem document.
func (a *API) routes() *http.ServeMux {
	mux := http.NewServeMux()
	// both serves a path with and without a slash at its end.
	both := func(path string, h http.Handler) {
		mux.Handle(path, h)
		mux.HandleFunc(path+"/{$}", func(w http.ResponseWriter, r *http.Request) {
			r.Pattern = path
			h.ServeHTTP(w, r)
		})
	}
	both("/v1", a.single(a.serveChains))
	both("/v1/search", a.single(a.serveSearch))
	both("/v1/{chain}", a.single(a.serveIndex))
	for _, op := range a.listed {
		both(op.Path, a.handlerOf(op))
	}
	mux.Handle("/v1/{chain}/", a.single(nil))
	for path, d := range a.Documents.Files {
		mux.Handle(path, a.single(func(r *exchange.Request) (any, error) {
			r.SetType(d.Type)
			body := a.Documents.Content(d, r.Request)
			res := result{text: body, etag: tagOf(nil, body)}
			return res.send(r), nil
		}))
	}
	mux.Handle("/", a.single(nil))
	return mux
}

// handlerOf returns the handler of an operation. Package events serves streams of events and watch lists.
func (a *API) handlerOf(op *operation) http.Handler {
	p, e := a.protocol(), exchange.Endpoint[struct{}]{Method: op.Method, Unread: op.Upload}
	e.Node = func(r *exchange.Request) (any, error) {
		c, err := a.chainOf(r.Request)
		switch {
		case err != nil:
			return nil, err
		case op.Upload:
			return c.watch, nil
		case op.Answer == nil:
			return c.events, ratelimit.Stream(r.Writer())
		}
		return a.serve(r, c, op)
	}
	return exchange.Single(p, e)
}

// single returns the handler of a path outside of the operations; without answer: of unknown paths.
func (a *API) single(answer func(*exchange.Request) (any, error)) http.Handler {
	e := exchange.Endpoint[struct{}]{Node: answer}
	if answer != nil {
		e.Method = http.MethodGet
	}
	return exchange.Single(a.protocol(), e)
}

func (a *API) protocol() exchange.Protocol[struct{}] {
	return exchange.Protocol[struct{}]{Error: failure, NotFound: a.notFound, MaxBody: maxBody, Log: a.Log}
}

// chainOf returns the chain that the path names.
func (a *API) chainOf(r *http.Request) (*chain, error) {
	name := r.PathValue("chain")
	if c := a.chains[name]; c != nil {
		return c, nil
	}
	r.Pattern = ""
	return nil, problem.New(http.StatusNotFound, "unknown_chain", "no chain %q: this server has %s", name, a.names)
}

// notFound returns the error of an unknown path, or of another method than that of the path, which may be empty.
func (a *API) notFound(r *exchange.Request, _ string, methods []string) error {
	chain := r.PathValue("chain")
	if chain != "" {
		if _, err := a.chainOf(r.Request); err != nil {
			return err
		}
	}
	method := methods[0]
	if method == "" {
		r.Pattern = ""
		if chain == "" {
			return problem.New(http.StatusNotFound, "unknown_path",
				"no such path: the API is below /v1, its documentation at /docs and /openapi.json")
		}
		return problem.New(http.StatusNotFound, "unknown_path",
			"no such path: below /v1/%s there are %s (write a slash in a value as %%2F)", chain, a.paths)
	}
	if method == http.MethodGet {
		method = "GET, HEAD"
	}
	r.Header().Set("Allow", method)
	return problem.New(http.StatusMethodNotAllowed, "method_not_allowed",
		"method %s is not allowed for %s: use %s", r.Method, r.Pattern, method)
}
