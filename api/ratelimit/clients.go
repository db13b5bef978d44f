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

// client is who asks: the name of a key, else an address. An IPv6 client has at least a /64 to choose from, which is one.
type client struct {
	key  string
	from netip.Prefix // zero: by a socket of this machine, without a proxy that says more
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

// local reports whether the client is on this machine, where it may be a proxy for any number of others.
func (c client) local() bool {
	return c.key == "" && (!c.from.IsValid() || c.from.Addr().IsLoopback())
}

// clients remembers how much each client asked of late, of a bounded number of them.
type clients struct {
	seed   maphash.Seed
	share  int64 // of a client; 0: no limit
	shards [shards]shard
}

type shard struct {
	mu   sync.Mutex
	most int
	by   map[client]*account
}

// account is what a client asked of late.
type account struct {
	limiter *rate.Limiter
	used    time.Time           // guarded by the shard
	share   *semaphore.Weighted // of what is done at once of what is expensive; nil: no limit
	busy    atomic.Int64        // its expensive requests that are being answered, or wait; and its streams
	streams atomic.Int64
}

const (
	shards = 32

	// forgetAmong is how many a client to forget is chosen from.
	forgetAmong = 16
)

func newClients(most int, share int64) *clients {
	cs := &clients{seed: maphash.MakeSeed(), share: share}
	for i := range cs.shards {
		cs.shards[i].most = max(most/shards, 1)
		cs.shards[i].by = map[client]*account{}
	}
	return cs
}

// of is the account of c, whose rate is r now.
func (cs *clients) of(c client, r Rate, now time.Time) *account {
	s := &cs.shards[maphash.Comparable(cs.seed, c)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.by[c]
	if a == nil {
		if len(s.by) >= s.most {
			s.forget(now)
		}
		a = &account{limiter: rate.NewLimiter(r.limit())}
		if cs.share > 0 {
			a.share = semaphore.NewWeighted(cs.share)
		}
		s.by[c] = a
	}
	if limit, burst := r.limit(); a.limiter.Limit() != limit || a.limiter.Burst() != burst {
		a.limiter.SetLimitAt(now, limit) // its key's file says otherwise now
		a.limiter.SetBurstAt(now, burst)
	}
	a.used = now
	return a
}

// forget makes room: of some clients those go that may do all again that a new one may, or else the one that was seen
// longest ago. Who is being answered stays.
func (s *shard) forget(now time.Time) {
	seen, gone := 0, 0
	var oldest client
	var since time.Time
	for c, a := range s.by { // in an order that differs each time
		if seen == forgetAmong {
			break
		}
		seen++
		switch {
		case a.busy.Load() > 0:
		case a.limiter.TokensAt(now) >= float64(a.limiter.Burst()):
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

// limited reports whether there is a limit.
func (r Rate) limited() bool { return r.PerSecond > 0 }

func (r Rate) limit() (rate.Limit, int) {
	if !r.limited() {
		return rate.Inf, 0
	}
	return rate.Limit(r.PerSecond), max(r.Burst, 1)
}
