package netserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"birthmark/api/problem"
)

// A web page can make its own host name resolve to this machine, and then read the answers of a server here (DNS
// rebinding). The Host header of such requests has the name of that page's site.

// IsLocalHost reports whether a Host header is an IP address, a name of this machine, or one of names (lower case). A
// request without the header does not come from a browser.
func IsLocalHost(host string, names []string) bool {
	if host == "" {
		return true
	}
	if _, err := netip.ParseAddrPort(host); err == nil {
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	name, _, _ := strings.Cut(host, ":")
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(names, name)
}

// WrongHost returns the problem of a request for another host.
func WrongHost(host string) *problem.Problem {
	return problem.New(http.StatusMisdirectedRequest, CodeWrongHost,
		"this server does not answer for host %.100q: use an address or localhost, or add the name to hosts in "+
			"its settings", host)
}

// onlyLocalHosts rejects requests for other hosts than this machine.
func onlyLocalHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsLocalHost(r.Host, nil) {
			problem.Write(w, WrongHost(r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}
