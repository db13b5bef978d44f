package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/model"
)

// Options say what is served and how.
type Options struct {
	Chains []*served.Chain // by different names
	Log    *slog.Logger    // of what failed; nil: [slog.Default]

	Version string // of the program, as documents name it

	// Fields is what expressions of one's own indexes can name on a chain; an error of kind NotFound where they name
	// nothing. Nil: the server does not know, and the path is not there.
	Fields func(chain string) (*FieldsAnswer, error)

	// Events answers /v1/NAME/events; nil: the path is not there.
	Events func(*served.Chain) http.Handler

	// StreamTime is how long a list that is streamed may hold its snapshot; then it ends with the cursor to go on from.
	// 0: twenty seconds.
	StreamTime time.Duration

	// WriteTimeout is how long a client may take for a piece of a list that is streamed, before it is dropped. 0: ten seconds.
	WriteTimeout time.Duration

	// Kept is how many bytes of answers are kept for each chain: half of them until the tip moves, half of blocks for longer.
	// 0: 64 MiB; less: none.
	Kept int

	// Done ends the lists that are streamed, each with the cursor to go on from; nil: only their clients do.
	Done <-chan struct{}
}

// API is the handler of /v1, the OpenAPI documents and the documentation: see [API.Patterns]. It may answer many
// requests at once.
type API struct {
	Options
	chains    map[string]*chain
	listed    []*operation         // in the order of the documentation
	documents map[string]*document // by path
	mux       *http.ServeMux
	names     string // of the chains, for errors
	paths     string // of the operations, for errors
}

// chain is a chain that is served, with what every request of it needs.
type chain struct {
	*served.Chain
	events  http.Handler
	mark    catalogueMark
	kept    keptAnswers // until the chain moves
	blocks  keptAnswers // the documents of blocks, by hash
	flights flights
	named   atomic.Pointer[tipNames] // of the newest tip that was answered at
}

// New makes the handler.
func New(o Options) (*API, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Kept == 0 {
		o.Kept = 64 << 20
	}
	if o.StreamTime == 0 {
		o.StreamTime = 20 * time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 10 * time.Second
	}
	a := &API{Options: o, chains: map[string]*chain{}, listed: o.operations()}
	var names []string
	for _, c := range o.Chains {
		if c.Name == "" || strings.ContainsAny(c.Name, "/%?#") {
			return nil, fmt.Errorf("chain %q: no name that a path can hold", c.Name)
		}
		if a.chains[c.Name] != nil {
			return nil, fmt.Errorf("two chains by the name %s", c.Name)
		}
		made := &chain{Chain: c, kept: keptAnswers{most: o.Kept / 2}, blocks: keptAnswers{most: o.Kept / 2}}
		if o.Events != nil {
			made.events = o.Events(c)
		}
		a.chains[c.Name] = made
		names = append(names, c.Name)
	}
	a.names = strings.Join(names, ", ")
	var paths []string
	for _, op := range a.listed {
		paths = append(paths, op.path[1:])
	}
	a.paths = strings.Join(paths, ", ")
	documents, err := a.makeDocuments()
	if err != nil {
		return nil, err
	}
	a.documents = documents
	a.mux = a.routes()
	return a, nil
}

// Patterns are the patterns of [http.ServeMux] for which the API answers.
func (a *API) Patterns() []string {
	patterns := []string{"/v1", "/v1/"}
	for path := range a.documents {
		patterns = append(patterns, path)
	}
	slices.Sort(patterns)
	return patterns
}

// ServeHTTP answers a request. It sets [http.Request.Pattern] to the path as the OpenAPI document has it, or to nothing
// if the path is unknown.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// fail answers with the problem that err is, and logs what is no fault of the request.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problem.Of(err)
	if kind, _ := model.KindOf(err); p.Status >= 500 && kind == model.Internal && r.Context().Err() == nil {
		a.Log.ErrorContext(r.Context(), "request failed", "route", r.Pattern, "error", err)
	}
	if p.Status == http.StatusServiceUnavailable && w.Header()["Retry-After"] == nil {
		w.Header().Set("Retry-After", "1")
	}
	problem.Write(w, p)
}
