package netserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"birthmark/api/problem"
)

// A page of another site can have its own name resolve to this machine and then read what a server here answers (DNS
// rebinding). Its requests name that site in Host, which tells them from those that are meant for the server.

// IsLocalHost reports whether a request for host is meant for a server that only this machine can reach: host is an address,
// a name of this machine, or one of names. A request without a host is not from a browser.
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

// WrongHost is the answer to a request for another host.
func WrongHost(host string) *problem.Problem {
	return problem.New(http.StatusMisdirectedRequest, CodeWrongHost,
		"this server does not answer for host %.100q: use an address or localhost, or add the name to hosts in "+
			"its settings", host)
}

// onlyLocalHosts is next for requests that are meant for a server that only this machine can reach.
func onlyLocalHosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsLocalHost(r.Host, nil) {
			problem.Write(w, WrongHost(r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}
