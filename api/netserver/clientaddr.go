package netserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Network is what counts as one client of an address.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return netip.PrefixFrom(a, 32)
	}
	p, _ := a.Prefix(64) // of an IPv6 address there is one
	return p
}

// AddressOf is the address at the other end, not valid where that is a socket of this machine.
func AddressOf(remote string) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}

// Trusts reports whether an address is one of the proxies.
func Trusts(proxies []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Sender is the address that a request comes from: the last one on its way that is no proxy of ours. Each of those has put
// the address it was asked from behind the others in X-Forwarded-For; what stands before anybody can have written.
func Sender(r *http.Request, proxies []netip.Prefix) netip.Prefix {
	at := AddressOf(r.RemoteAddr)
	said := r.Header["X-Forwarded-For"]
	if len(said) > 0 && (!at.IsValid() || Trusts(proxies, at)) {
		way := strings.Split(strings.Join(said, ","), ",")
		for _, hop := range slices.Backward(way) {
			a, err := netip.ParseAddr(strings.TrimSpace(hop))
			if err != nil {
				break // what a proxy of ours does not write: who asked it is all that is known
			}
			at = a.Unmap().WithZone("")
			if !Trusts(proxies, at) {
				break
			}
		}
	}
	if !at.IsValid() {
		return netip.Prefix{}
	}
	return Network(at)
}
