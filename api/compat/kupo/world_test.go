package kupo_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/kupo"
	"birthmark/api/compat/utxo"
	"birthmark/api/served"
	"birthmark/chains/cardano"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

const path = "/preview/kupo"

// names are the indexes of the preset kupo.
var names = []string{"address", "payment_credential", "stake_credential", "policy", "datum_hash", "script_hash"}

// world is a database of Cardano, the handler that serves it, and a naive model of the same blocks.
type world struct {
	store *storetest.Faulty // nil: no requests are repeated with reads that fail
	db    *core.DB
	chain *served.Chain
	naive *naive
	http.Handler
}

// newWorld makes a database in memory without blocks. unspent is whether indexes keep the unspent outputs of their
// values.
func newWorld(t testing.TB, network string, unspent bool) *world {
	t.Helper()
	return newWorldIn(t, network, unspent, memory.New())
}

// newWorldIn makes a database without blocks in a store.
func newWorldIn(t testing.TB, network string, unspent bool, store storage.Store) *world {
	t.Helper()
	c, err := cardano.New(network)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Define([]model.Definition{utxo.FailedDatums, utxo.FailedScripts}); err != nil {
		t.Fatal(err)
	}
	indexes := slices.Concat(names, []string{utxo.FailedDatums.Name, utxo.FailedScripts.Name})
	o := core.Options{Chain: c, Indexes: indexes, Raw: true, CacheBytes: 4 << 20, Keep: map[string]model.IndexOptions{}}
	for _, name := range names[:4] {
		o.Keep[name] = model.IndexOptions{Unspent: unspent}
	}
	db, err := core.Open(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{db: db, naive: newNaive(c)}
	w.chain = &served.Chain{
		Name: "cardano-preview", Model: c, View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
	}
	h := kupo.New(kupo.Options{
		Chain: w.chain, Path: path, Version: "1.2.3", InSync: func() bool { return true },
	})
	w.Handler = answertest.Recorded(t, h)
	t.Cleanup(func() { coretest.Consistent(t, db) })
	return w
}

// sync indexes the blocks of a source up to a height, in the database and in the model.
func (w *world) sync(t testing.TB, uri string, to model.HeightPk) {
	t.Helper()
	s, err := w.db.Chain().Open(t.Context(), model.SourceOptions{URI: uri, Indexes: w.db.Indexes(), Raw: true, To: &to})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := core.Sync(t.Context(), w.db, recorded{s, w.naive}, core.SyncOptions{To: &to}); err != nil {
		t.Fatal(err)
	}
	if w.naive.err != nil {
		t.Fatal(w.naive.err)
	}
}

// recorded is a source whose events the model applies too.
type recorded struct {
	model.Source
	naive *naive
}

func (r recorded) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range r.Source.Follow(ctx, known) {
			if err == nil {
				r.naive.err = errors.Join(r.naive.err, r.naive.apply(e))
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request. headers are alternating names and values.
func (w *world) ask(t testing.TB, method, endpoint string, headers ...string) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path+endpoint, strings.NewReader(""))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return answer{rec.Code, rec.Result().Header, rec.Body.String()}
}

// get returns the value of a successful answer.
func (w *world) get(t testing.TB, endpoint string) any {
	t.Helper()
	a := w.ask(t, http.MethodGet, endpoint)
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", endpoint, a.status, a.body)
	}
	return parsed(t, endpoint, a.body)
}

func parsed(t testing.TB, endpoint, body string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v: %.300s", endpoint, err, body)
	}
	return v
}
