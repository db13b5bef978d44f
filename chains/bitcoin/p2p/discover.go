package p2p

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

const (
	// mostFound is how many addresses are kept of those that were found.
	mostFound = 2000
	// mostRefused is how many addresses are remembered that are of no use.
	mostRefused = 5000
	// seedPause is the least time between two looks at the DNS seeds.
	seedPause = time.Minute
)

// services are what a peer has to offer for us to connect to it.
const services = wire.SFNodeNetwork | wire.SFNodeWitness

// finding is the search for peers where none are named.
type finding struct {
	wanted  bool // there is none left to try
	asking  bool
	last    time.Time
	reason  string // why none was found
	useless map[string]bool
}

// busy reports whether peers may come of it soon.
func (f *finding) busy() bool { return f.asking || f.last.IsZero() }

// refused remembers an address so that it is not taken again.
func (f *finding) refused(e *endpoint) {
	if f.useless == nil || len(f.useless) >= mostRefused {
		f.useless = map[string]bool{}
	}
	f.useless[e.address] = true
}

// find asks the network's DNS seeds, when there is no address left to try.
func (n *Network) find(ctx context.Context) {
	for ctx.Err() == nil {
		n.mu.Lock()
		f := &n.finding
		due := f.last.IsZero() || f.wanted && time.Since(f.last) > seedPause
		if due {
			f.asking, f.wanted = true, false
		}
		wake := n.wake
		n.mu.Unlock()
		if due {
			n.seed(ctx)
			continue
		}
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
}

// seed takes what the DNS seeds say.
func (n *Network) seed(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.o.Handshake)
	defer cancel()
	var found []string
	reason := "the DNS seeds know none"
	for _, s := range n.o.Params.DNSSeeds {
		ips, err := net.DefaultResolver.LookupHost(ctx, seedName(s))
		if err != nil {
			reason = fmt.Sprintf("the DNS seed %s %s", s.Host, short(err))
		}
		for _, ip := range ips {
			found = append(found, net.JoinHostPort(ip, n.o.Params.DefaultPort))
		}
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.finding.asking, n.finding.last, n.finding.reason = false, time.Now(), reason
	for _, a := range found {
		n.learn(a)
	}
	n.o.Log.Debug("asked the DNS seeds", "found", len(found))
	n.changed()
}

// seedName is the name a seed is asked by: one that can be told is told which services a peer has to offer.
func seedName(s chaincfg.DNSSeed) string {
	if !s.HasFiltering {
		return s.Host
	}
	return fmt.Sprintf("x%x.%s", uint64(services), s.Host)
}

// learn adds an address, unless it is known or of no use.
func (n *Network) learn(address string) {
	if len(n.pool) >= mostFound || n.finding.useless[address] {
		return
	}
	for _, e := range n.pool {
		if e.address == address {
			return
		}
	}
	n.pool = append(n.pool, &endpoint{address: address})
}

func (r *remote) onAddr(m *wire.MsgAddr) {
	for _, a := range m.AddrList {
		r.hearsOf(a.IP, a.Port, a.Services)
	}
}

func (r *remote) onAddrV2(m *wire.MsgAddrV2) {
	for _, a := range m.AddrList {
		if legacy := a.ToLegacy(); legacy != nil {
			r.hearsOf(legacy.IP, legacy.Port, legacy.Services)
		}
	}
}

// hearsOf takes an address that a peer tells of. Those of a private network only one tells that is in it.
func (r *remote) hearsOf(ip net.IP, port uint16, offers wire.ServiceFlag) {
	n := r.n
	at, ok := netip.AddrFromSlice(ip)
	r.addresses++
	if at = at.Unmap(); !ok || r.addresses > mostFound || len(n.named) > 0 || port == 0 || offers&services != services {
		return
	}
	from, err := netip.ParseAddrPort(r.sock.RemoteAddr().String())
	if err != nil || !public(at) && public(from.Addr().Unmap()) || at.IsUnspecified() || at.IsMulticast() {
		return
	}
	n.learn(net.JoinHostPort(at.String(), strconv.Itoa(int(port))))
}

func public(a netip.Addr) bool { return a.IsGlobalUnicast() && !a.IsPrivate() }
