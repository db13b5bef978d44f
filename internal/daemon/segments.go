package daemon

import (
	"context"
	"net/http"
	"sync"

	"birthmark/api/docs"
	"birthmark/api/segments"
	"birthmark/core/segment"
	"birthmark/internal/config"
	"birthmark/internal/guard"
	"birthmark/internal/replica"
	"birthmark/internal/snapshot/target"
	"birthmark/model"
)

// segmentOptions returns how the updates of a database in dir are recorded.
func (h *Host) segmentOptions(set *config.Chain, dir string) segment.Options {
	o := segment.Options{Dir: dir, Log: h.Log}
	switch {
	case set.Segments.Enabled():
		o.Mode, o.Keep = segment.Record, max(0, int64(set.Segments.Keep))
	case set.Segments.Keep == config.SegmentsOff || !set.WAL:
		o.Mode = segment.Ignore
	}
	return o
}

// segments returns the log of the database; nil if its updates are not recorded.
func (d *Database) segments() *segment.Log {
	if r, ok := d.Store.(*segment.Recorder); ok {
		return r.Log()
	}
	return nil
}

// segmentsTarget returns the folder or bucket of the settings to which segments are published.
func segmentsTarget(set *config.Chain) (target.Target, error) {
	to, err := storageAt(set, set.Segments.To, true)
	if err != nil {
		return nil, At(set.Origin("segments.to"), err)
	}
	return to, nil
}

// OpenFeed returns where a replica gets its segments: see [replica.Open].
func OpenFeed(set *config.Chain, from, key string) (replica.Feed, error) {
	return replica.Open(from, key, storageOptions(set))
}

// publish publishes segments to the folder or bucket of the settings until stop is called.
func (s *Session) publish(ctx context.Context) (stop func()) {
	log := s.db.segments()
	if s.blocks == nil || log == nil || s.set.Segments.To == "" {
		return func() {}
	}
	to, err := segmentsTarget(s.set)
	if err != nil {
		s.Log.Error("segments are not published", "error", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	p := &replica.Publisher{Log: log, To: to, Logs: s.Log, Tip: func() model.Point { return s.db.Tip() }}
	done.Go(func() {
		if err := guard.Call(func() error { return p.Run(ctx) }); err != nil {
			s.Log.Error("segments are no longer published", "error", err)
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// serveSegments serves the segments of chains at /v1/CHAIN/segments.
func (s *Server) serveSegments(mux *http.ServeMux, done <-chan struct{}) {
	for _, c := range s.chains {
		if c.Segments == nil {
			continue
		}
		mux.Handle("/v1/"+c.Name+"/segments", segments.Handler(segments.Options{
			Log: c.Segments, NeedsKey: s.keys() != docs.NoKeys, Done: done, Errors: s.h.Log,
			Tip: func() model.Point { tip, _ := c.Moved(); return tip },
		}))
	}
}
