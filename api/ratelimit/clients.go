package ratelimit

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// client identifies a client: by the name of its API key, or else by its IP address. An IPv6 /64 is one client.
type client struct {
	key  string
	from netip.Prefix // zero: connected by a Unix socket, without X-Forwarded-For
}

func (c client) String() string {
	switch {
	case c.key != "":
		return "key " + c.key
	case !c.from.IsValid():
		return "local"
	case c.from.IsSingleIP():
		return c.from.Addr().String()
	}
	return c.from.String()
}

// local reports whether the client is on this machine. It may be a proxy for others.
func (c client) local() bool {
	return c.key == "" && (!c.from.IsValid() || c.from.Addr().IsLoopback())
}

// clients tracks the recent requests of a bounded number of clients.
type clients struct {
	seed   maphash.Seed
	share  int64 // of the expensive work, per client; 0: no limit
	submit Rate  // of submitted transactions, per client
	shards [shards]shard
}

type shard struct {
	mu   sync.Mutex
	most int
	by   map[client]*account
}

// account tracks one client.
type account struct {
	limiter *rate.Limiter
	submit  *rate.Limiter       // of submitted transactions
	used    time.Time           // guarded by the shard
	share   *semaphore.Weighted // of the expensive work; nil: no limit
	busy    atomic.Int64        // expensive requests that run or wait, and streams
	streams atomic.Int64
}

const (
	shards = 32

	// evictionSample is how many clients are examined for an eviction.
	evictionSample = 16
)

func newClients(most int, share int64) *clients {
	cs := &clients{seed: maphash.MakeSeed(), share: share}
	for i := range cs.shards {
		cs.shards[i].most = max(most/shards, 1)
		cs.shards[i].by = map[client]*account{}
	}
	return cs
}

// of returns the account of c and sets its rate to r.
func (cs *clients) of(c client, r Rate, now time.Time) *account {
	s := &cs.shards[maphash.Comparable(cs.seed, c)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.by[c]
	if a == nil {
		if len(s.by) >= s.most {
			s.evict(now)
		}
		a = &account{limiter: rate.NewLimiter(r.limit()), submit: rate.NewLimiter(cs.submit.limit())}
		if cs.share > 0 {
			a.share = semaphore.NewWeighted(cs.share)
		}
		s.by[c] = a
	}
	if limit, burst := r.limit(); a.limiter.Limit() != limit || a.limiter.Burst() != burst {
		a.limiter.SetLimitAt(now, limit) // the key file has changed
		a.limiter.SetBurstAt(now, burst)
	}
	a.used = now
	return a
}

// evict removes the clients with a full burst from a sample, which does not change their limits. If there are none, it
// removes the client that was idle longest.
// Clients with running requests stay.
func (s *shard) evict(now time.Time) {
	seen, gone := 0, 0
	var oldest client
	var since time.Time
	for c, a := range s.by { // random order
		if seen == evictionSample {
			break
		}
		seen++
		switch {
		case a.busy.Load() > 0:
		case full(a.limiter, now) && full(a.submit, now):
			delete(s.by, c)
			gone++
		case since.IsZero() || a.used.Before(since):
			oldest, since = c, a.used
		}
	}
	if gone == 0 && !since.IsZero() {
		delete(s.by, oldest)
	}
}

// full reports whether a client would lose nothing without its limiter.
func full(l *rate.Limiter, now time.Time) bool { return l.TokensAt(now) >= float64(l.Burst()) }
