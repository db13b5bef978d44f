package guard

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"birthmark/api/problem"
)

// A page of another site can have its own name resolve to this machine and then read what a server here answers (DNS
// rebinding). Its requests name that site in Host, which tells them from those that are meant for the server.

// meant reports whether a request for host is meant for a server that only this machine can reach: host is an address,
// a name of this machine, or one of names. A request without a host is not from a browser.
func meant(host string, names []string) bool {
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

// notMeant is the answer to a request for another host.
func notMeant(host string) *problem.Problem {
	return problem.New(http.StatusMisdirectedRequest, wrongHost,
		"this server does not answer for host %.100q: use an address or localhost, or add the name to hosts in "+
			"its settings", host)
}

// onlyMeant is next for requests that are meant for a server that only this machine can reach.
func onlyMeant(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !meant(r.Host, nil) {
			problem.Write(w, notMeant(r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}
