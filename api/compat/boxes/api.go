package boxes

import (
	"log/slog"
	"net/http"

	"birthmark/api/exchange"
)

// Options configure the handler of an API.
type Options struct {
	Chain *Chain
	Path  string       // of the API, or below which it is served: "/graphql", "/node", "/explorer" for /explorer/api/v1/…
	Log   *slog.Logger // nil: no log
}

// maxBody is the largest body of a request in bytes.
const maxBody = 1 << 20

// Handler returns the handler of all requests below the path of o. p has the endpoints and errors of the API; view returns
// the view of a request.
func Handler[V any](o Options, p exchange.Protocol[V], view func(*View, *exchange.Request) V) http.Handler {
	p.Path, p.Log, p.Preflight, p.MaxBody = o.Path, o.Log, Preflight, maxBody
	p.Open = func(r *exchange.Request, fn func(V) error) error {
		open := o.Chain.View
		if r.Mempool() {
			open = o.Chain.PendingView
		}
		return open(r.Context(), func(v *View) error { return fn(view(v, r)) })
	}
	return exchange.Handler(p)
}

// Get returns an endpoint of GET.
func Get[V any](path string, a func(*exchange.Request) func(V) (any, error)) exchange.Endpoint[V] {
	return exchange.Endpoint[V]{Method: http.MethodGet, Path: path, Answer: a}
}

// Post returns an endpoint of POST.
func Post[V any](path string, a func(*exchange.Request) func(V) (any, error)) exchange.Endpoint[V] {
	return exchange.Endpoint[V]{Method: http.MethodPost, Path: path, Answer: a}
}

// Pending returns an endpoint that also reads the unconfirmed transactions.
func Pending[V any](method, path string, a func(*exchange.Request) func(V) (any, error)) exchange.Endpoint[V] {
	return exchange.Endpoint[V]{Method: method, Path: path, Answer: a, Mempool: true}
}

// Viewless returns an endpoint that needs no view: its answer comes from the node, or from the arguments alone.
func Viewless[V any](method, path string, a func(*exchange.Request) (any, error)) exchange.Endpoint[V] {
	return exchange.Endpoint[V]{Method: method, Path: path, Node: a}
}
