package netserver

import (
	"net/http"
	"path"
	"strings"
)

// Below removes the base path from the paths of requests. A proxy may have removed it already.
func Below(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, ok := strings.CutPrefix(r.URL.EscapedPath(), base)
		if ok && rest == "" {
			http.Redirect(w, r, base+"/", http.StatusMovedPermanently)
			return
		}
		if ok && rest[0] == '/' {
			u := *r.URL
			u.Path, u.RawPath = strings.TrimPrefix(u.Path, base), strings.TrimPrefix(u.RawPath, base)
			r.URL = &u // of the same request: the handlers leave their pattern in it
		}
		// A mux would redirect to a clean path without the base path.
		if at := r.URL.EscapedPath(); !strings.HasPrefix(at, "/v1/") && cleaned(at) != at {
			to := base + cleaned(at)
			if r.URL.RawQuery != "" {
				to += "?" + r.URL.RawQuery
			}
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cleaned returns a path without empty and relative parts.
func cleaned(p string) string {
	c := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && c != "/" {
		c += "/"
	}
	return c
}
