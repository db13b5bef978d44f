package electrum

import (
	"math"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// clients counts what each client uses. A client is an IPv4 address or an IPv6 /64.
type clients struct {
	limits *Limits
	now    func() time.Time

	mu  sync.Mutex
	by  map[netip.Prefix]*client
	all int // connections
}

// client counts the resources that a client uses. The nil client has no limits.
type client struct {
	of    *clients
	from  netip.Prefix
	conns int
	subs  int
	cost  float64
	at    time.Time // of cost

	submits *rate.Limiter // nil: no limit
}

// open counts a new connection. The reason is that of its rejection, empty: it is open. limited: the client has limits.
func (cs *clients) open(from netip.Prefix, limited bool) (c *client, reason string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.limits.MaxConnections > 0 && cs.all >= cs.limits.MaxConnections {
		return nil, connectionLimit
	}
	if limited {
		if c = cs.by[from]; c == nil {
			c = &client{of: cs, from: from, at: cs.now()}
			if n := cs.limits.SubmitPerMinute; n > 0 {
				c.submits = rate.NewLimiter(rate.Limit(n/60), int(math.Ceil(n)))
			}
			cs.by[from] = c
		}
		if cs.limits.ClientConns > 0 && c.conns >= cs.limits.ClientConns {
			return nil, clientLimit
		}
		c.conns++
	}
	cs.all++
	return c, ""
}

func (cs *clients) close(c *client) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.all--
	if c != nil {
		c.conns--
	}
}

// sweep forgets the clients without connections whose cost has fallen to 0.
func (cs *clients) sweep() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for from, c := range cs.by {
		if c.conns == 0 && c.current() == 0 {
			delete(cs.by, from)
		}
	}
}

// current returns the cost now. of.mu is held.
func (c *client) current() float64 {
	now := c.of.now()
	c.cost = max(0, c.cost-now.Sub(c.at).Seconds()*c.of.limits.CostPerSecond)
	c.at = now
	return c.cost
}

// spend adds to the cost of the client. It returns false above the hard limit.
func (c *client) spend(cost float64) bool {
	if c == nil || c.of.limits.CostPerSecond == 0 {
		return true
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	l := c.of.limits
	c.cost = c.current() + cost
	return l.HardCost == 0 || c.cost <= l.HardCost
}

// delay returns how long the next request of the client is delayed: the time in which the cost falls to the soft limit.
func (c *client) delay() time.Duration {
	if c == nil || c.of.limits.CostPerSecond == 0 || c.of.limits.SoftCost == 0 {
		return 0
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	l := c.of.limits
	return time.Duration(max(0, c.current()-l.SoftCost) / l.CostPerSecond * float64(time.Second))
}

// subscribe changes the number of subscriptions of the client; false: the limit is reached.
func (c *client) subscribe(change int) bool {
	if c == nil {
		return true
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if limit := c.of.limits.ClientSubs; change > 0 && limit > 0 && c.subs+change > limit {
		return false
	}
	c.subs += change
	return true
}

// submit counts submitted transactions of the client; false: the limit is reached.
func (c *client) submit(n int) bool {
	return c == nil || c.submits == nil || c.submits.AllowN(c.of.now(), n)
}
