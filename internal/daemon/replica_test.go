package daemon

import (
	"log/slog"
	"testing"
	"time"

	"birthmark/core/coretest"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/model"
	"birthmark/storage/memory"
)

// The state, the progress and the control socket of a replica can be read while it replaces its database, such as for a
// custom index that the primary added. The race detector finds an access without the mutex.
func TestAReplicaIsReadWhileItReplacesItsDatabase(t *testing.T) {
	store := memory.New()
	db := coretest.Open(t, store, coretest.UniformChain, 1<<20)
	coretest.AppendAll(t, db, coretest.Uniform(10), 10)
	chain := db.Chain()
	host := &Host{
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
		NewChain: func(string, string) (model.Chain, error) { return chain, nil },
	}
	set := &config.Chain{Memory: 64 << 20}
	r := &Replica{Host: host, set: set, DB: &Database{DB: db, Dir: t.TempDir(), Store: store, release: func() {}}}
	server, err := r.Control()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ended := make(chan error, 1)
	go func() {
		for range 20 {
			if err := r.reopen(t.Context(), nil); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for read := 0; ; read++ {
		r.State()
		if done := r.Reading().Done; done != 9 {
			t.Fatalf("the progress is at block %d, expected 9", done)
		}
		reply, err := control.Ask(t.Context(), r.DB.Dir, control.Request{Do: control.State})
		if err != nil || reply.Replica == nil || len(reply.States) == 0 {
			t.Fatalf("%+v, %v", reply, err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}
