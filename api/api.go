package api

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"birthmark/api/docs"
	"birthmark/api/served"
	"birthmark/model"
)

// Options configure the API.
type Options struct {
	Chains []*served.Chain // with different names
	Log    *slog.Logger    // nil: [slog.Default]

	Version string // of the program

	// Fields returns the fields that expressions of custom indexes can use on a chain; an error of kind NotFound if the
	// chain has no expressions. Nil: the path /v1/NAME/fields does not exist.
	Fields func(chain string) (*FieldsAnswer, error)

	// Events serves /v1/NAME/events; nil: the path does not exist.
	Events func(*served.Chain) http.Handler

	// Watch serves /v1/NAME/watch; nil: the path does not exist.
	Watch func(*served.Chain) http.Handler

	// StreamTime is the time after which a streamed list releases its snapshot, and continues on a new one. 0: 20 s.
	StreamTime time.Duration

	// WriteTimeout is the time in which a client must accept each piece of a streamed list. 0: 10 s.
	WriteTimeout time.Duration

	// CacheBytes is the size of the cache of answers per chain: half for answers at the tip, half for blocks.
	// 0: 64 MiB; negative: no cache.
	CacheBytes int

	// ImmutableDepth is the number of blocks above a block after which answers that cannot change are cached for ever
	// (Cache-Control: immutable). 0: the deepest reorganization of the chain, or [DefaultImmutableDepth].
	ImmutableDepth int

	// BasePath is the prefix of the paths of the server as clients see them, which requests do not have; empty: none.
	BasePath string

	// Address returns scheme and host by which a client reaches the server, for documents. Nil: http://127.0.0.1:8080.
	Address func(*http.Request) string

	Keys docs.Keys // whether requests need API keys, for documents

	// Done ends streamed lists, each with a cursor; nil: never.
	Done <-chan struct{}
}

// DefaultImmutableDepth is the default of ImmutableDepth on chains without a bound on reorganizations. Bitcoin's
// consensus assumes that reorganizations are shorter: a coinbase can be spent after 100 blocks.
const DefaultImmutableDepth = 100

// API is the handler of /v1 and the OpenAPI documents: see [API.Patterns]. It is safe for concurrent
// use.
type API struct {
	Options
	Documents *docs.Docs

	chains map[string]*chain
	listed []*operation // in the order of the documentation
	mux    *http.ServeMux
	names  string // of the chains, for errors
	paths  string // of the operations, for errors
}

// chain is a served chain and the state that its requests share.
type chain struct {
	*served.Chain
	events  http.Handler
	watch   http.Handler
	indexes indexesTag
	answers answerCache // at the tip
	blocks  answerCache // documents of blocks, by hash
	calls   calls
	deep    model.HeightPk             // blocks above one after which it is immutable
	newest  atomic.Pointer[tipHeaders] // of the newest tip that was served
}

// New makes the handler.
func New(o Options) (*API, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.CacheBytes = cmp.Or(o.CacheBytes, 64<<20)
	o.StreamTime = cmp.Or(o.StreamTime, 20*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	a := &API{Options: o, chains: map[string]*chain{}, listed: o.operations()}
	var names []string
	for _, c := range o.Chains {
		if c.Name == "" || strings.ContainsAny(c.Name, "/%?#") || c.Name == "search" {
			return nil, fmt.Errorf("chain name %q cannot be part of a path", c.Name)
		}
		if a.chains[c.Name] != nil {
			return nil, fmt.Errorf("two chains have the name %s", c.Name)
		}
		made := &chain{
			Chain: c, deep: model.HeightPk(cmp.Or(o.ImmutableDepth, c.Model.Traits().DeepestFork, DefaultImmutableDepth)), answers: newAnswerCache(o.CacheBytes / 2), blocks: newAnswerCache(o.CacheBytes / 2),
		}
		if o.Events != nil {
			made.events = o.Events(c)
		}
		if o.Watch != nil {
			made.watch = o.Watch(c)
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
	var err error
	if a.Documents, err = a.describe(); err != nil {
		return nil, err
	}
	a.mux = a.routes()
	return a, nil
}

// describe makes the documents.
func (a *API) describe() (*docs.Docs, error) {
	o := docs.Options{
		Keys: a.Keys, BasePath: a.BasePath, Address: a.Address, ListChains: ChainsAnswer{}, GetChain: ChainAnswer{},
		Search: SearchAnswer{}, ChainParam: chainArgument, SearchParam: &searchParameter.Param, StreamEnd: StreamEnd{},
	}
	for _, op := range a.listed {
		o.Operations = append(o.Operations, &op.Operation)
	}
	for _, c := range a.Chains {
		o.Chains = append(o.Chains, c.Name)
	}
	return docs.New(o)
}

// Patterns returns the patterns of [http.ServeMux] that the API serves.
func (a *API) Patterns() []string {
	patterns := []string{"/v1", "/v1/"}
	for path := range a.Documents.Files {
		patterns = append(patterns, path)
	}
	slices.Sort(patterns)
	return patterns
}

// ServeHTTP answers a request. It sets [http.Request.Pattern] to the path in the OpenAPI document, or to "" if the path
// is unknown.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }
