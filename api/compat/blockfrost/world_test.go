package blockfrost_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/blockfrost"
	"birthmark/api/compat/utxo"
	"birthmark/api/served"
	"birthmark/chains/cardano"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/schema"
	"birthmark/internal/testblocks"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

const path = "/api/v0"

// maxPosition bounds the memory of a position, of which the server stores many: an address has the most bytes.
const maxPosition = 300

// world is a database of Cardano, the handler that serves it, and a naive model of the same blocks.
type world struct {
	store *storetest.Faulty // nil: no requests are repeated with reads that fail
	db    *core.DB
	naive *naive
	chain *served.Chain
	moved bool // blocks were added after pages were read
	http.Handler
}

// newWorld makes a database in memory without blocks.
func newWorld(t testing.TB, network string) *world {
	t.Helper()
	return newWorldIn(t, network, memory.New())
}

// newWorldIn makes a database without blocks in a store.
func newWorldIn(t testing.TB, network string, store storage.Store) *world {
	t.Helper()
	c, err := cardano.New(network)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Define([]model.Definition{blockfrost.Labels, blockfrost.Subjects, blockfrost.Scripts, utxo.FailedDatums, utxo.FailedScripts}); err != nil {
		t.Fatal(err)
	}
	o := core.Options{Chain: c, Raw: true, CacheBytes: 4 << 20, Keep: map[string]model.IndexOptions{}}
	for _, need := range blockfrost.Needs.Parts {
		if need.Index != "" {
			o.Indexes = append(o.Indexes, need.Index)
			o.Keep[need.Index] = model.IndexOptions{
				Balance: need.Options.Has(schema.FeatureBalance), Unspent: need.Options.Has(schema.FeatureUnspent),
				History: need.Options.Has(schema.FeatureHistory),
			}
		}
	}
	o.Indexes = append(o.Indexes, utxo.FailedDatums.Name, utxo.FailedScripts.Name)
	db, err := core.Open(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{db: db, naive: newNaive(c)}
	w.chain = &served.Chain{
		Name: "cardano-preview", Model: c, View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
	}
	h, largest := blockfrost.NewWithPositions(blockfrost.Options{
		Chain: w.chain, Path: path, Version: "1.2.3", InSync: func() bool { return true },
	})
	w.Handler = answertest.Recorded(t, h)
	t.Cleanup(func() {
		if n, position := largest(); n > maxPosition {
			t.Errorf("a position of a page holds %d bytes, at most %d are expected: %T", n, maxPosition, position)
		}
	})
	t.Cleanup(func() { coretest.Consistent(t, db) })
	return w
}

// preview syncs real blocks of the preview network.
func preview(t testing.TB, to model.HeightPk) *world {
	t.Helper()
	store := storetest.NewFaulty(memory.New())
	w := newWorldIn(t, "preview", store)
	w.store = store
	w.sync(t, "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), to)
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

// ask sends a request and returns the status and the body of the answer.
func (w *world) ask(t testing.TB, method, endpoint string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path+endpoint, strings.NewReader(""))
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	validate(t, r.Pattern, rec.Code, rec.Body.String())
	if rec.Code == http.StatusOK {
		likeReal(t, method+" /"+strings.TrimPrefix(strings.TrimPrefix(r.Pattern, path), "/"), parsed(t, endpoint, rec.Body.String()))
	}
	return rec.Code, rec.Body.String()
}

// get returns the value of a successful answer.
func (w *world) get(t testing.TB, endpoint string) any {
	t.Helper()
	status, body := w.ask(t, http.MethodGet, endpoint)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", endpoint, status, body)
	}
	return parsed(t, endpoint, body)
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

// generic returns a value as it is read from JSON.
func generic(t testing.TB, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, "model", string(b))
}
