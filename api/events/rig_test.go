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
	moved chan struct{} // closed when db has another tip, or is another

	lists *watchlist.Lists // nil: none
}

func newWorld(t testing.TB, c model.Chain, keep map[string]model.IndexOptions) *world {
	w := &world{t: t, model: c, keep: keep, store: memory.New(), moved: make(chan struct{})}
	w.reopen()
	return w
}

func worldOf(t testing.TB, v modeltest.Variant) *world { return newWorld(t, v.Chain("one"), v.Keep()) }

// reopen puts another database in the position of the one that is served, of the same store.
func (w *world) reopen() {
	w.t.Helper()
	db, err := core.Open(context.Background(), w.store, core.Options{Chain: w.model, Keep: w.keep, Indexes: indexesOf(w.model)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.db = db
	w.mu.Unlock()
	w.tell()
}

func (w *world) tell() {
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

// served is the chain as a server has it.
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
		w.tell()
		blocks = blocks[n:]
	}
}

func (w *world) rollback(to model.Point) {
	w.t.Helper()
	if err := w.now().Rollback(context.Background(), to); err != nil {
		w.t.Fatal(err)
	}
	w.tell()
}

// serve serves the events at the server's root.
func (w *world) serve(o events.Options) *httptest.Server {
	s := httptest.NewServer(events.Handler(w.served(), o))
	w.t.Cleanup(s.Close)
	return s
}

// told is one event as it came.
type told struct{ name, id, data string }

// stream is a client's connection. It reads as the standard says, as far as a server writes so: what is not ended by an
// empty line is none.
type stream struct {
	lines *bufio.Reader
	body  io.ReadCloser
	end   context.CancelFunc
}

// connect connects with a query; id may be empty.
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

// next is the next event. Comments and retry are passed over.
func (s *stream) next() (e told, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return told{}, err
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
			return told{}, fmt.Errorf("a line %q", line)
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
	at      int64 // the height of the last block, -1: none
	hash    string
	id      string // of the last event that had one, kept with what it has
	blocks  int
	back    int
	wrong   error
}

type entry struct {
	height int64
	text   string
}

func newWallet() *wallet { return &wallet{at: -1} }

// take takes an event.
func (w *wallet) take(e told) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.apply(e); err != nil && w.wrong == nil {
		w.wrong = fmt.Errorf("%w in %+v", err, e)
	}
}

func (w *wallet) apply(e told) error {
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
			return fmt.Errorf("no id")
		}
		w.back++
		if w.pending, w.at, w.hash = nil, -1, ""; r.To != nil {
			w.at, w.hash = int64(r.To.Height), r.To.Hash
		}
		// What existed before the first block comes with it, at height 0.
		w.have = slices.DeleteFunc(w.have, func(e entry) bool { return e.height > w.at })
	default:
		return fmt.Errorf("an event of no kind")
	}
	if e.id != "" {
		w.id = e.id
	}
	return nil
}

// stop is what remains when the program ends: what does not count yet is in memory alone.
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

func (w *wallet) height() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// texts is what it has, in order.
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

// until waits for what comes at once, or never.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// byHand is empty blocks by their heights.
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
