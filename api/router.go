package api

import (
	"net/http"
	"net/url"
	"strings"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
)

// maxWords is the most parts of a path below the chain.
const maxWords = 3

// serveChain answers for a path below /v1/. Paths are taken apart as they were written, so that a value may hold
// slashes (%2F) and any bytes, and be "..".
func (a *API) serveChain(w http.ResponseWriter, r *http.Request, path string) {
	name, rest, _ := strings.Cut(path, "/")
	c := a.chains[name]
	if c == nil {
		shown, err := url.PathUnescape(name)
		if err != nil {
			shown = name
		}
		problem.Write(w, problem.New(http.StatusNotFound, "unknown_chain", "no chain %q: this server has %s", shown, a.names))
		return
	}
	var words [maxWords]string
	n := 0
	for more := true; more; n++ {
		if n == maxWords {
			a.noPath(w, c)
			return
		}
		words[n], rest, more = strings.Cut(rest, "/")
	}
	var found *operation
	for _, op := range a.routes[words[0]] {
		if op.matches(words[:n]) && (found == nil || r.Method == op.method) {
			found = op
		}
	}
	if found == nil {
		a.noPath(w, c)
		return
	}
	r.Pattern = found.pattern
	if !allowed(w, r, found.method) {
		return
	}
	if found.stream {
		if r, err := ratelimit.Stream(w, r); err != nil {
			a.fail(w, r, err)
		} else {
			c.events.ServeHTTP(w, r)
		}
		return
	}
	q := request{chain: c, op: found}
	for i, word := range found.words {
		if word != "" {
			continue
		}
		value, err := url.PathUnescape(words[i])
		if err != nil {
			problem.Write(w, problem.New(http.StatusBadRequest, "bad_value", "path: %q is not percent-encoded", words[i]))
			return
		}
		q.args = append(q.args, value)
	}
	a.serve(w, r, &q)
}

// matches reports whether an operation is for the words of a path.
func (op *operation) matches(words []string) bool {
	if len(words) != len(op.words) {
		return false
	}
	for i, word := range op.words {
		if word != "" && word != words[i] {
			return false
		}
	}
	return true
}

func (a *API) noPath(w http.ResponseWriter, c *chain) {
	problem.Write(w, problem.New(http.StatusNotFound, "unknown_path", "no such path: below /v1/%s there are %s (a slash in a value is written %%2F)", c.Name, a.list))
}
