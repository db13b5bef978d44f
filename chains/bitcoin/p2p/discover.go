package p2p

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

const (
	// maxDiscovered is the maximum number of discovered addresses.
	maxDiscovered = 2000
	// maxRefused is the maximum number of stored useless addresses.
	maxRefused = 5000
	// seedPause is the minimum time between two queries of the DNS seeds.
	seedPause = time.Minute
)

// services returns the services that a discovered peer must offer.
func (o *Options) services() wire.ServiceFlag { return wire.SFNodeNetwork | o.Services }

// discovery is the state of the search for peers. It is used if no peers are configured.
type discovery struct {
	wanted  bool      // there is no address that can be tried
	asking  bool      // a query of the DNS seeds is active
	last    time.Time // end of the last query; zero: none yet
	reason  string    // why the last query found no peers
	useless map[string]bool
}

// busy reports whether a query is active or was not made yet.
func (f *discovery) busy() bool { return f.asking || f.last.IsZero() }

// refused records that the address of an endpoint must not be used again.
func (f *discovery) refused(e *endpoint) {
	if f.useless == nil || len(f.useless) >= maxRefused {
		f.useless = map[string]bool{}
	}
	f.useless[e.address] = true
}

// discover queries the DNS seeds of the network when there is no address that can be tried, until ctx ends.
func (n *Network) discover(ctx context.Context) {
	for ctx.Err() == nil {
		var due bool
		var wake chan struct{}
		n.locked(func() {
			f := &n.discovery
			if due = f.last.IsZero() || f.wanted && time.Since(f.last) > seedPause; due {
				f.asking, f.wanted = true, false
			}
			wake = n.wake
		})
		if due {
			n.querySeeds(ctx)
			continue
		}
		_ = wait(ctx, wake, seedPause)
	}
}

// querySeeds queries all DNS seeds and adds the addresses that they return.
func (n *Network) querySeeds(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.o.Handshake)
	defer cancel()
	var found, failed []string
	for _, s := range n.o.Params.DNSSeeds {
		ips, err := n.o.LookupHost(ctx, n.o.seedName(s))
		if err != nil {
			failed = append(failed, s.Host+" "+short(err))
		}
		for _, ip := range ips {
			found = append(found, net.JoinHostPort(ip, n.o.Params.DefaultPort))
		}
	}
	reason := "no DNS seed returned an address that is not known to be useless"
	if len(failed) > 0 {
		reason = "the DNS seed " + strings.Join(failed, ", ")
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	n.mu.Lock()
	defer n.mu.Unlock()
	n.discovery.asking, n.discovery.last, n.discovery.reason = false, time.Now(), reason
	for _, a := range found {
		n.addAddress(a)
	}
	n.o.Log.Debug("queried the DNS seeds", "found", len(found))
	n.changed()
}

// seedName returns the host name for a query of a seed. If the seed can filter, the name contains the required
// services.
func (o *Options) seedName(s chaincfg.DNSSeed) string {
	if !s.HasFiltering {
		return s.Host
	}
	return fmt.Sprintf("x%x.%s", uint64(o.services()), s.Host)
}

// addAddress adds an address to the pool, unless it is known, it is useless, or the pool is full.
func (n *Network) addAddress(address string) {
	if len(n.pool) >= maxDiscovered || n.discovery.useless[address] {
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
		r.discovered(a.IP, a.Port, a.Services)
	}
}

func (r *remote) onAddrV2(m *wire.MsgAddrV2) {
	for _, a := range m.AddrList {
		if legacy := a.ToLegacy(); legacy != nil {
			r.discovered(legacy.IP, legacy.Port, legacy.Services)
		}
	}
}

// discovered adds an address that a peer sent. A private address is only accepted from a peer with a private address.
func (r *remote) discovered(ip net.IP, port uint16, offers wire.ServiceFlag) {
	n := r.n
	at, ok := netip.AddrFromSlice(ip)
	r.addresses++
	if at = at.Unmap(); !ok || r.addresses > maxDiscovered || len(n.named) > 0 || port == 0 || n.o.services()&^offers != 0 {
		return
	}
	from, err := netip.ParseAddrPort(r.sock.RemoteAddr().String())
	if err != nil || !public(at) && public(from.Addr().Unmap()) || at.IsUnspecified() || at.IsMulticast() {
		return
	}
	n.addAddress(net.JoinHostPort(at.String(), strconv.Itoa(int(port))))
}

func public(a netip.Addr) bool { return a.IsGlobalUnicast() && !a.IsPrivate() }
