package ratelimit

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/cors"

	"birthmark/api/auth"
)

// preflightAge is how long browsers cache the answer to a preflight.
const preflightAge = time.Hour

var (
	requestHeaders = []string{"Accept", "Authorization", "Content-Type", "If-None-Match", "Last-Event-ID", auth.Header, auth.ProjectHeader}
	exposedHeaders = []string{"ETag", "X-Tip", "X-Tip-Height", "Retry-After", rateHeader, policyHeader, "Link"}
)

// withOrigins returns next with the headers that let web pages of other origins read answers (CORS).
func (h *handler) withOrigins(next http.Handler) http.Handler {
	switch {
	case len(h.Origins) == 0:
		return next
	case slices.Contains(h.Origins, "*"):
		return h.anyOrigin(next)
	}
	return cors.New(cors.Options{
		AllowedOrigins: h.Origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
		AllowedHeaders: requestHeaders,
		ExposedHeaders: exposedHeaders,
		MaxAge:         int(preflightAge / time.Second),
	}).Handler(next)
}

// anyOrigin opens the answers of APIs to all web pages. The headers do not depend on the request, so that caches keep one
// answer for all. They do not allow credentials that a browser adds on its own, so that a page can use no API key but its
// own. A preflight needs no key, because browsers send it without.
func (h *handler) anyOrigin(next http.Handler) http.Handler {
	const methods = "GET, HEAD, POST"
	exposed := []string{strings.Join(exposedHeaders, ", ")}
	age := []string{strconv.Itoa(int(preflightAge / time.Second))}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.ContainsFunc(h.APIs, func(at string) bool { return r.URL.Path == at || strings.HasPrefix(r.URL.Path, at+"/") }) {
			next.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header["Access-Control-Allow-Origin"] = []string{"*"}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			header["Access-Control-Expose-Headers"] = exposed
			next.ServeHTTP(w, r)
			return
		}
		header["Access-Control-Allow-Methods"] = []string{methods}
		if h.Writes(r.URL.Path) {
			header["Access-Control-Allow-Methods"] = []string{methods + ", PUT, DELETE"}
		}
		// The asterisk stands for all headers but Authorization (Fetch standard).
		header["Access-Control-Allow-Headers"] = []string{"*, Authorization"}
		header["Access-Control-Max-Age"] = age
		w.WriteHeader(http.StatusNoContent)
	})
}
