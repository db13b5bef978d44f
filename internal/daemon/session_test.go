package daemon

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/rocks"
)

// A change that is requested after a build ended, and before the session received its end, is carried out: here the
// drop of the index to which an option was just added.
func TestAChangeRequestedAtTheEndOfABuildIsCarriedOut(t *testing.T) {
	v := coretest.UniformChain
	v.Kept = false
	store := memory.New()
	opened := coretest.Open(t, store, v, 1<<20)
	coretest.AppendAll(t, opened, coretest.Uniform(10), 10)
	db := &Database{DB: opened, Dir: t.TempDir(), Store: store, release: func() {}}
	host := &Host{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	requested := make(chan struct{})
	s := host.NewSession(new(config.Chain), db, func(ctx context.Context) error { // blocks arrive until the drop was requested
		select {
		case <-requested:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	t.Cleanup(func() { _ = s.Close() })
	builds := 0
	s.built = func() {
		if builds++; builds > 1 {
			return
		}
		defer close(requested)
		if _, err := s.ask(t.Context(), control.Request{Do: control.Drop, Index: "tag"}); err != nil {
			t.Error(err)
		}
	}
	if err := db.AddIndex(t.Context(), "tag", model.IndexOptions{Balance: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	states, err := db.IndexStates(t.Context())
	if err != nil || slices.ContainsFunc(states, func(x query.IndexState) bool { return x.Name == "tag" }) {
		t.Errorf("after %d builds the indexes are %+v (%v), expected none named tag", builds, states, err)
	}
	if builds != 2 {
		t.Errorf("%d builds, expected 2", builds)
	}
	coretest.Consistent(t, opened)
}

// recording records the URIs of the sources that it opens.
type recording struct {
	model.Chain
	opened *[]string
}

func (c recording) Open(_ context.Context, o model.SourceOptions) (model.Source, error) {
	*c.opened = append(*c.opened, o.URI)
	return nil, errors.New("no source")
}

// The source of a request applies to the index that the request adds. It applies neither to later requests, nor if the
// request is refused.
func TestTheSourceOfARequestIsForThatRequest(t *testing.T) {
	v := coretest.UniformChain
	v.Kept = false
	var opened []string
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: recording{v.Chain("one"), &opened}})
	if err != nil {
		t.Fatal(err)
	}
	coretest.AppendAll(t, db, coretest.Uniform(3), 3)
	host := &Host{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	set := &config.Chain{Source: "file:///settings"}
	s := host.NewSession(set, &Database{DB: db, Dir: t.TempDir(), release: func() {}}, nil)
	t.Cleanup(func() { _ = s.Close() })
	var want []string
	for _, r := range []struct{ index, source, used string }{
		{"tag", "file:///request", "file:///request"},
		{"nonsense", "file:///refused", "file:///request"},
		{"tag", "", "file:///settings"},
	} {
		_, err := s.Do(t.Context(), control.Request{
			Do: control.Add, Index: r.index, Source: r.source, Keep: model.IndexOptions{Balance: true},
		})
		if (err == nil) != (r.index == "tag") {
			t.Errorf("index %s: %v", r.index, err)
		}
		if _, err := s.openForBuild(t.Context(), &schema.Index{Index: model.Index{Name: "tag"}}, nil); err == nil {
			t.Error("a source was opened")
		}
		if want = append(want, r.used); !slices.Equal(opened, want) {
			t.Errorf("opened %q, expected %q", opened, want)
		}
	}
}

// A database whose lock is held by a process that creates a snapshot is opened when it has released the lock; another
// holder is an error at once.
func TestOpeningWaitsForASnapshot(t *testing.T) {
	dir := t.TempDir()
	set := &config.Chain{DB: dir, WAL: true, Memory: 64 << 20}
	host := &Host{Log: slog.New(slog.DiscardHandler), Now: time.Now}
	lock := func(holder string) *storage.FileLock {
		t.Helper()
		l, err := storage.LockFile(filepath.Join(dir, rocks.LockName), dir, holder)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := lock("pid 1, birthmark sync, since now")
	if _, err := host.openUnlocked(t.Context(), set.DB, rocks.Options{WAL: true}); err == nil {
		t.Error("a locked database is opened")
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	l = lock("pid 1, birthmark snapshot create, since now")
	released := make(chan error, 1)
	waiting := slog.New(notify{func() { released <- l.Release() }})
	store, err := (&Host{Log: waiting, Now: time.Now}).openUnlocked(t.Context(), set.DB, rocks.Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-released, store.Close()); err != nil {
		t.Error(err)
	}
}

// notify is a log that calls a function for each line.
type notify struct{ line func() }

func (n notify) Enabled(context.Context, slog.Level) bool  { return true }
func (n notify) Handle(context.Context, slog.Record) error { n.line(); return nil }
func (n notify) WithAttrs([]slog.Attr) slog.Handler        { return n }
func (n notify) WithGroup(string) slog.Handler             { return n }
