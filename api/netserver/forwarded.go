package netserver

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Network returns the network that counts as one client: an IPv4 address or an IPv6 /64.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return netip.PrefixFrom(a, 32)
	}
	p, _ := a.Prefix(64) // cannot fail for IPv6
	return p
}

// AddressOf returns the IP address of a remote address; the zero Addr for a Unix socket.
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

// Sender returns the network that a request comes from: the last address of X-Forwarded-For that is not one of the
// proxies. Each proxy appends the address of its client; a client can forge the entries before.
func Sender(r *http.Request, proxies []netip.Prefix) netip.Prefix {
	at := AddressOf(r.RemoteAddr)
	forwarded := r.Header["X-Forwarded-For"]
	if len(forwarded) > 0 && (!at.IsValid() || Trusts(proxies, at)) {
		hops := strings.Split(strings.Join(forwarded, ","), ",")
		for _, hop := range slices.Backward(hops) {
			a, err := netip.ParseAddr(strings.TrimSpace(hop))
			if err != nil {
				break // not written by our proxy
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

// safeHost matches hosts that need no escapes in documents.
var safeHost = regexp.MustCompile(`^[A-Za-z0-9.:_\[\]-]{1,255}$`)

// AddressOfServer returns scheme and host by which the client of a request reaches the server, such as
// https://explorer.example.org. The scheme comes from X-Forwarded-Proto if a proxy has sent the request.
func AddressOfServer(r *http.Request, proxies []netip.Prefix) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	at := AddressOf(r.RemoteAddr)
	if proto := r.Header.Get("X-Forwarded-Proto"); (proto == "http" || proto == "https") && (!at.IsValid() || Trusts(proxies, at)) {
		scheme = proto
	}
	if !safeHost.MatchString(r.Host) {
		return scheme + "://localhost"
	}
	return scheme + "://" + r.Host
}
