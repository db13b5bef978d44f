package api

import (
	"net/http"
	"slices"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
)

// operations lists every operation, in the order of the documentation. Routes, the OpenAPI document and the pages of the
// documentation are made from it.
func (o *Options) operations() []*operation {
	ops := slices.Concat(chainOperations(), blockOperations(), txOperations(), outputOperations(), valueOperations(), assetOperations(),
		mempoolOperations(), nodeOperations())
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
	mux.HandleFunc("/v1", a.serveChains)
	mux.HandleFunc("/v1/{$}", a.serveChains)
	// both serves a path with and without a slash at its end.
	both := func(path string, h http.HandlerFunc) {
		mux.HandleFunc(path, h)
		mux.HandleFunc(path+"/{$}", func(w http.ResponseWriter, r *http.Request) {
			r.Pattern = path
			h(w, r)
		})
	}
	both("/v1/search", a.serveSearch)
	both("/v1/{chain}", a.serveIndex)
	for _, op := range a.listed {
		both(op.Path, func(w http.ResponseWriter, r *http.Request) {
			if c := a.chainOf(w, r); c != nil && allowed(w, r, op.Method) {
				a.serveOperation(w, r, c, op)
			}
		})
	}
	mux.HandleFunc("/v1/{chain}/", a.unknownPath)
	for path, d := range a.Documents.Files {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if allowed(w, r, http.MethodGet) {
				a.serveDocument(w, r, d)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		r.Pattern = ""
		problem.Write(w, problem.New(http.StatusNotFound, "unknown_path",
			"no such path: the API is below /v1, its documentation at /docs and /openapi.json"))
	})
	return mux
}

// serveOperation answers a request for an operation of a chain.
func (a *API) serveOperation(w http.ResponseWriter, r *http.Request, c *chain, op *operation) {
	if op.Answer == nil {
		if err := ratelimit.Stream(w); err != nil {
			a.fail(w, r, err)
		} else {
			c.events.ServeHTTP(w, r)
		}
		return
	}
	if op.Upload {
		c.watch.ServeHTTP(w, r)
		return
	}
	q := request{chain: c, op: op, mempool: op.pending}
	for _, arg := range op.args {
		q.args = append(q.args, r.PathValue(arg))
	}
	if op.node != nil {
		a.serveNode(w, r, &q)
		return
	}
	a.serve(w, r, &q)
}

// chainOf returns the chain that the path names. If the server has no such chain, it answers and returns nil.
func (a *API) chainOf(w http.ResponseWriter, r *http.Request) *chain {
	name := r.PathValue("chain")
	c := a.chains[name]
	if c == nil {
		r.Pattern = ""
		problem.Write(w, problem.New(http.StatusNotFound, "unknown_chain", "no chain %q: this server has %s", name, a.names))
	}
	return c
}

func (a *API) unknownPath(w http.ResponseWriter, r *http.Request) {
	if c := a.chainOf(w, r); c != nil {
		r.Pattern = ""
		problem.Write(w, problem.New(http.StatusNotFound, "unknown_path",
			"no such path: below /v1/%s there are %s (write a slash in a value as %%2F)", c.Name, a.paths))
	}
}

// allowed reports whether a request has the method of its path; GET includes HEAD. If not, it answers.
func allowed(w http.ResponseWriter, r *http.Request, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	allow := method
	if method == http.MethodGet {
		allow = "GET, HEAD"
	}
	w.Header().Set("Allow", allow)
	problem.Write(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed",
		"method %s is not allowed for %s: use %s", r.Method, r.Pattern, allow))
	return false
}
