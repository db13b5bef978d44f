package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/health"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// world is a served chain in memory.
type world struct {
	db     *core.DB
	blocks []*model.Block
	state  served.State
	fails  error // error of the database
	views  int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	v := modeltest.Variants()[0]
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one")})
	if err != nil {
		t.Fatal(err)
	}
	return &world{db: db, blocks: v.NewGenerator(1).Blocks(5)}
}

// handler returns a new handler without a cached result.
func (w *world) handler() http.Handler {
	db := w.db
	return health.Handler([]*served.Chain{{
		Name: "one", Model: db.Chain(), Moved: db.Moved, State: func() served.State { return w.state },
		View: func(ctx context.Context, fn func(*query.View) error) error {
			if w.views++; w.fails != nil {
				return w.fails
			}
			return db.View(ctx, fn)
		},
	}}, health.Defaults())
}

// ask requests a path and checks the status code against the expected one and the body.
func (w *world) ask(t *testing.T, path string, status int) health.Chain {
	t.Helper()
	rec := httptest.NewRecorder()
	w.handler().ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
	var a health.Answer
	if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil {
		t.Fatalf("%s: %v in %s", path, err, rec.Body)
	}
	if rec.Code != status || len(a.Chains) != 1 || a.OK != (status == 200) || a.Chains[0].OK != a.OK || (a.Chains[0].Why == "") != a.OK {
		t.Fatalf("%s: %d %s, expected %d", path, rec.Code, rec.Body, status)
	}
	if h := rec.Header(); h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
	return a.Chains[0]
}

func (w *world) append(t *testing.T, n int) {
	t.Helper()
	at := w.db.Tip().Height
	from := 0
	if !w.db.Tip().IsOrigin() {
		from = int(at-w.blocks[0].Height) + 1
	}
	if err := w.db.Append(t.Context(), w.blocks[from:from+n]); err != nil {
		t.Fatal(err)
	}
}

func (w *world) syncing(behind int) {
	h := w.db.Tip().Height
	w.state.Sync = &core.Progress{Height: h, Target: h + model.HeightPk(behind), Elapsed: time.Second}
}

func TestAChainIsReadyNearItsTip(t *testing.T) {
	w := newWorld(t)
	w.ask(t, "/healthz", 200)
	if c := w.ask(t, "/readyz", 503); c.Tip != nil || !strings.Contains(c.Why, "no block") {
		t.Errorf("%+v", c)
	}
	w.append(t, 3)
	w.state.Sync = &core.Progress{Height: w.db.Tip().Height}
	if c := w.ask(t, "/readyz", 503); c.Target != nil || !strings.Contains(c.Why, "not known") {
		t.Errorf("before the first answer of the source: %+v", c)
	}
	for behind, status := range map[int]int{0: 200, 2: 200, 3: 503, 1000: 503} {
		w.syncing(behind)
		c := w.ask(t, "/readyz", status)
		if c.Tip == nil || c.Tip.Height != uint32(w.db.Tip().Height) || c.Tip.Hash != w.db.Chain().FormatHash(w.db.Tip().Hash) || *c.Left != uint32(behind) ||
			*c.Target != c.Tip.Height+uint32(behind) {
			t.Errorf("%d behind: %+v", behind, c)
		}
		w.ask(t, "/healthz", 200)
	}
}

func TestChainWithoutItsOwnSyncIsReady(t *testing.T) {
	w := newWorld(t)
	w.append(t, 1)
	if c := w.ask(t, "/readyz", 200); c.Target != nil || c.Left != nil || c.Tip.Age != time.Now().Unix()-c.Tip.Time && c.Tip.Age != time.Now().Unix()-c.Tip.Time-1 {
		t.Errorf("%+v", c)
	}
}

func TestStalledSyncIsNotReady(t *testing.T) {
	w := newWorld(t)
	w.append(t, 1)
	w.syncing(0)
	w.state.Failed, w.state.Since = "http://10.0.0.1:8332 refused", time.Now().Add(-time.Second)
	w.ask(t, "/readyz", 200)
	w.state.Since = time.Now().Add(-health.Defaults().MaxFailure - time.Second)
	if c := w.ask(t, "/readyz", 503); !strings.Contains(c.Why, "failing") || strings.Contains(c.Why, "10.0.0.1") {
		t.Errorf("%+v", c)
	}
	w.ask(t, "/healthz", 200)
}

func TestFailingDatabaseIsUnhealthy(t *testing.T) {
	w := newWorld(t)
	w.append(t, 1)
	for err, shown := range map[error]bool{
		errors.New("/var/lib/x: disk is gone"):                                   false,
		model.Errorf(model.Refused, "shutting_down", "the server is going down"): true,
	} {
		w.fails = err
		for _, path := range []string{"/healthz", "/readyz"} {
			if c := w.ask(t, path, 503); strings.Contains(c.Why, err.Error()) != shown || c.Tip != nil {
				t.Errorf("%v: %+v", err, c)
			}
		}
	}
}

func TestMethodsAndPathsOfHealth(t *testing.T) {
	w := newWorld(t)
	for target, status := range map[string]int{"HEAD /healthz": 503, "POST /healthz": 405, "GET /health": 404} {
		w.fails = errors.New("x")
		method, path, _ := strings.Cut(target, " ")
		rec := httptest.NewRecorder()
		w.handler().ServeHTTP(rec, httptest.NewRequest(method, path, nil))
		if rec.Code != status {
			t.Errorf("%s: %d, expected %d", target, rec.Code, status)
		}
	}
}

// The database is read once a second for any number of requests, even if one of them is canceled.
func TestDatabaseIsReadOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.append(t, 3)
		h := w.handler()
		gone, leave := context.WithCancel(t.Context())
		leave()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, "GET", "/readyz", nil))
		ask := func(status int) {
			t.Helper()
			for range 100 {
				rec := httptest.NewRecorder()
				if h.ServeHTTP(rec, httptest.NewRequest("GET", "/readyz", nil)); rec.Code != status {
					t.Fatalf("%d %s, expected %d", rec.Code, rec.Body, status)
				}
			}
		}
		ask(200)
		w.fails = errors.New("disk is gone")
		ask(200)
		if w.views != 1 {
			t.Errorf("the database was read %d times in a second", w.views)
		}
		time.Sleep(time.Second)
		ask(503)
		if w.views != 2 {
			t.Errorf("the database was read %d times in two seconds", w.views)
		}
	})
}
