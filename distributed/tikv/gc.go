package tikv

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tikv/client-go/v2/oracle"
)

const (
	collectEvery = 30 * time.Second
	registerAge  = time.Minute     // of a View or of a seal
	registerLife = 5 * time.Minute // if this process dies
)

// views are the timestamps that are being read.
type views struct {
	mu     sync.Mutex
	active map[uint64]int
	lost   atomic.Uint64 // timestamps below were garbage collected

	registered bool // used by one goroutine
}

// enter adds a View; the result removes it.
func (v *views) enter(ts uint64) (leave func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.active == nil {
		v.active = map[uint64]int{}
	}
	v.active[ts]++
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.active[ts]--; v.active[ts] == 0 {
			delete(v.active, ts)
		}
	}
}

// oldest returns the oldest timestamp that this process reads or shows.
func (s *Store) oldest() uint64 {
	s.shown.mu.Lock()
	oldest := s.shown.at
	s.shown.mu.Unlock()
	s.views.mu.Lock()
	defer s.views.mu.Unlock()
	for ts := range s.views.active {
		if oldest == 0 || ts < oldest {
			oldest = ts
		}
	}
	return oldest
}

// collect registers old Views, and in the process that writes advances the safe point and deletes dropped families.
func (s *Store) collect() {
	for sleep(s.background, collectEvery) == nil {
		_ = s.collectOnce(s.background) // the next round tries again; meanwhile more is kept than necessary
	}
}

func (s *Store) collectOnce(ctx context.Context) error {
	now, err := s.now(ctx)
	if err != nil {
		return err
	}
	if err := s.register(ctx, now); err != nil || s.readOnly {
		return err
	}
	safe, err := s.advance(ctx, now)
	if err != nil {
		return err
	}
	return s.destroy(ctx, safe)
}

// register protects the versions that this process reads from garbage collection, also by others.
func (s *Store) register(ctx context.Context, now uint64) error {
	oldest := s.oldest()
	if oldest == 0 || age(oldest, now) < registerAge {
		s.unregister(ctx)
		return nil
	}
	safe, err := s.client.GetPDClient().UpdateServiceGCSafePoint(ctx, s.service, int64(registerLife/time.Second), oldest)
	if err != nil {
		return err
	}
	s.views.registered = true
	if safe > oldest {
		s.views.lost.Store(safe)
	}
	return nil
}

func (s *Store) unregister(ctx context.Context) {
	if !s.views.registered {
		return
	}
	if _, err := s.client.GetPDClient().UpdateServiceGCSafePoint(ctx, s.service, 0, math.MaxUint64); err == nil {
		s.views.registered = false
	}
}

func age(ts, now uint64) time.Duration {
	return oracle.GetTimeFromTS(now).Sub(oracle.GetTimeFromTS(ts))
}

// advance moves on the safe point of the cluster, unless TiDB or another process does, and returns it.
func (s *Store) advance(ctx context.Context, now uint64) (safe uint64, err error) {
	pd := s.client.GetPDClient()
	if s.config.GCLife == 0 || s.hasTiDB() {
		return pd.UpdateGCSafePoint(ctx, 0) // returns the current one
	}
	target := oracle.GoTimeToTS(oracle.GetTimeFromTS(now).Add(-s.config.GCLife))
	if oldest := s.oldest(); oldest != 0 {
		target = min(target, oldest-1)
	}
	// The service of this name is the collector. The answer is the oldest timestamp that any process registered.
	if safe, err = pd.UpdateServiceGCSafePoint(ctx, "gc_worker", math.MaxInt64, target); err != nil {
		return 0, err
	}
	return s.client.GC(ctx, min(safe, target))
}

// hasTiDB reports whether TiDB uses the cluster: it collects garbage by rules of its own.
func (s *Store) hasTiDB() bool {
	servers, err := s.client.GetSafePointKV().GetWithPrefix("/topology/tidb")
	return err != nil || len(servers) > 0
}

// destroy deletes the rows of families that were dropped before the safe point.
func (s *Store) destroy(ctx context.Context, safe uint64) error {
	s.catalogue.mu.Lock()
	dropped := slices.Clone(s.catalogue.stored.Dropped)
	s.catalogue.mu.Unlock()
	for _, d := range dropped {
		if d.At >= safe {
			continue
		}
		first, end := s.keys.bounds(d.Number, nil, nil)
		if _, err := s.client.DeleteRange(ctx, first, end, 4); err != nil {
			return err
		}
		err := s.changeCatalogue(ctx, func(c *storedCatalogue, _ uint64) {
			c.Dropped = slices.DeleteFunc(c.Dropped, func(o droppedFamily) bool { return o.Number == d.Number })
		})
		if err != nil {
			return err
		}
	}
	return nil
}
