package daemon

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/model"
	"birthmark/storage/memory"
)

// A change that is requested after a build ended, and before the session received its end, is carried out: here the
// drop of the index to which an option was just added.
func TestAChangeRequestedAtTheEndOfABuildIsCarriedOut(t *testing.T) {
	v := coretest.UniformChain
	v.Kept = false
	store := memory.New()
	core := coretest.Open(t, store, v, 1<<20)
	coretest.AppendAll(t, core, coretest.Uniform(10), 10)
	db := &Database{DB: core, Dir: t.TempDir(), Store: store, release: func() {}}
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
	coretest.Consistent(t, core)
}
