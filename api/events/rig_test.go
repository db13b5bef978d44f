package events_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api/events"
	"birthmark/api/served"
	"birthmark/api/watchlist"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// world is a served database that can be reopened.
type world struct {
	t     testing.TB
	model model.Chain
	keep  map[string]model.IndexOptions
	store storage.Store

	mu    sync.RWMutex
	db    *core.DB
	moved chan struct{} // closed when the tip changes or db is replaced

	lists *watchlist.Lists // nil: no watch lists
}

func newWorld(t testing.TB, c model.Chain, keep map[string]model.IndexOptions) *world {
	w := &world{t: t, model: c, keep: keep, store: memory.New(), moved: make(chan struct{})}
	w.reopen()
	return w
}

func worldOf(t testing.TB, v modeltest.Variant) *world { return newWorld(t, v.Chain("one"), v.Keep()) }

// reopen opens the store again and replaces the database that is served.
func (w *world) reopen() {
	w.t.Helper()
	db, err := core.Open(context.Background(), w.store, core.Options{Chain: w.model, Keep: w.keep, Indexes: indexesOf(w.model)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.db = db
	w.mu.Unlock()
	w.notify()
}

func (w *world) notify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.moved)
	w.moved = make(chan struct{})
}

func indexesOf(c model.Chain) (names []string) {
	for _, x := range c.Indexes() {
		if x.Default {
			names = append(names, x.Name)
		}
	}
	return names
}

func (w *world) now() *core.DB {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.db
}

// served returns the chain as the server uses it.
func (w *world) served() *served.Chain {
	return &served.Chain{
		Name: "test", Model: w.model,
		View: func(ctx context.Context, fn func(*query.View) error) error { return w.now().View(ctx, fn) },
		Moved: func() (model.Point, <-chan struct{}) {
			w.mu.RLock()
			defer w.mu.RUnlock()
			return w.db.Tip(), w.moved
		},
		State: func() served.State { return served.State{} },
		Watch: w.lists,
	}
}

func (w *world) grow(blocks ...*model.Block) {
	w.t.Helper()
	for len(blocks) > 0 {
		n := min(5, len(blocks))
		if err := w.now().Append(context.Background(), blocks[:n]); err != nil {
			w.t.Fatal(err)
		}
		w.notify()
		blocks = blocks[n:]
	}
}

func (w *world) rollback(to model.Point) {
	w.t.Helper()
	if err := w.now().Rollback(context.Background(), to); err != nil {
		w.t.Fatal(err)
	}
	w.notify()
}

// serve starts a server whose root is the event stream.
func (w *world) serve(o events.Options) *httptest.Server {
	s := httptest.NewServer(events.Handler(w.served(), o))
	w.t.Cleanup(s.Close)
	return s
}

// event is one event of a stream, as received.
type event struct{ name, id, data string }

// stream is a client's connection. It parses events as the HTML standard specifies, except for what the server never
// writes. An event without the empty line at its end is incomplete and is discarded.
type stream struct {
	lines *bufio.Reader
	body  io.ReadCloser
	end   context.CancelFunc
}

// connect opens a stream with a query; id may be empty.
func connect(t testing.TB, url, query, id string) *stream {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != events.ContentType {
		text, _ := io.ReadAll(a.Body)
		t.Fatalf("%s: %s %s", query, a.Status, text)
	}
	return &stream{bufio.NewReader(a.Body), a.Body, end}
}

// next returns the next event. It skips comments and the field retry.
func (s *stream) next() (e event, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return event{}, err
		}
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			if line == "" && e.name != "" {
				return e, nil
			}
		case "event":
			e.name = value
		case "data":
			e.data += value
		case "id":
			e.id = value
		case "retry":
		default:
			return event{}, fmt.Errorf("unexpected line %q", line)
		}
	}
}

func (s *stream) close() {
	s.end()
	_ = s.body.Close()
}

// wallet is a client that follows reorganizations as docs/events.md describes.
type wallet struct {
	mu      sync.Mutex
	have    []entry
	pending []entry
	at      int64 // the height of the last block, -1 before the first
	hash    string
	id      string // the last event id, saved together with have
	blocks  int
	back    int
	wrong   error
}

type entry struct {
	height int64
	text   string
}

func newWallet() *wallet { return &wallet{at: -1} }

// take applies an event and records the first error.
func (w *wallet) take(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.apply(e); err != nil && w.wrong == nil {
		w.wrong = fmt.Errorf("%w in %+v", err, e)
	}
}

func (w *wallet) apply(e event) error {
	switch e.name {
	case "output":
		var o query.OutputAnswer
		if err := json.Unmarshal([]byte(e.data), &o); err != nil {
			return err
		}
		w.pending = append(w.pending, entry{int64(o.Height), e.data})
	case "spend":
		var s changes.SpendAnswer
		if err := json.Unmarshal([]byte(e.data), &s); err != nil {
			return err
		}
		w.pending = append(w.pending, entry{int64(s.SpentBy.Height), e.data})
	case "tip":
		var b query.BlockSummaryAnswer
		if err := json.Unmarshal([]byte(e.data), &b); err != nil {
			return err
		}
		if int64(b.Height) <= w.at {
			return fmt.Errorf("block %d after block %d", b.Height, w.at)
		}
		w.have = append(w.have, w.pending...)
		w.pending, w.at, w.hash = nil, int64(b.Height), b.Hash
		w.blocks++
	case "rollback":
		var r struct{ To *query.PointAnswer }
		if err := json.Unmarshal([]byte(e.data), &r); err != nil {
			return err
		}
		if e.id == "" {
			return fmt.Errorf("rollback without id")
		}
		w.back++
		if w.pending, w.at, w.hash = nil, -1, ""; r.To != nil {
			w.at, w.hash = int64(r.To.Height), r.To.Hash
		}
		// Genesis outputs have height 0 and are rolled back with the first block.
		w.have = slices.DeleteFunc(w.have, func(e entry) bool { return e.height > w.at })
	default:
		return fmt.Errorf("unknown event")
	}
	if e.id != "" {
		w.id = e.id
	}
	return nil
}

// stop simulates the end of the program: pending events are in memory only and are lost.
func (w *wallet) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = nil
}

func (w *wallet) lastID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

// rollbacks returns the number of received rollbacks. The first event of each connection is one.
func (w *wallet) rollbacks() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.back
}

func (w *wallet) height() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// texts returns the confirmed events in order.
func (w *wallet) texts() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.have {
		all = append(all, e.text)
	}
	return all
}

func (w *wallet) isAt(hash string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hash == hash, w.wrong
}

// arrives waits until the wallet is at the tip of the world.
func (w *wallet) arrives(t testing.TB, c *world) {
	t.Helper()
	hash := ""
	if tip := c.now().Tip(); !tip.IsOrigin() {
		hash = c.model.FormatHash(tip.Hash)
	}
	until(t, "a wallet to be at the tip", func() bool {
		there, wrong := w.isAt(hash)
		if wrong != nil {
			t.Fatal(wrong)
		}
		return there
	})
}

// until waits until ok returns true. It fails the test after two minutes.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(testrun.Patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout while waiting for %s", what)
		}
	}
}

// byHand returns empty blocks of the heights from up to to-1.
func byHand(from, to int) (blocks []*model.Block) {
	hash := func(i int) model.Hash { return model.Hash{1, byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := from; i < to; i++ {
		b := &model.Block{Height: model.HeightPk(i), Hash: hash(i)}
		if i > 0 {
			b.Parent = hash(i - 1)
		}
		blocks = append(blocks, b)
	}
	return blocks
}
