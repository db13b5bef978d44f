package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/api/health"
)

// The status is 0 if the server is well, 1 if a chain is not, 2 for a wrong URL, and 4 without a server of Birthmark.
func TestHealthOfAServer(t *testing.T) {
	t.Parallel()
	well := httptest.NewServer(health.Handler(nil, health.Defaults()))
	defer well.Close()
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"ok":false,"chains":[{"chain":"ergo","ok":true},{"chain":"bitcoin","ok":false,"why":"7 blocks left"}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"ok":true,"chains":[{"chain":"bitcoin","ok":true,"tip":{"height":170}}]}`)
	}))
	defer ill.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, c := range []struct {
		line   []string
		status int
		want   string
	}{
		{[]string{"health", well.URL}, exitDone, "ok"},
		{[]string{"health", well.URL + "/", "--ready", "--json"}, exitDone, `"ok":true`},
		{[]string{"health", ill.URL}, exitDone, "bitcoin  170"},
		{[]string{"health", ill.URL, "--ready"}, 1, "bitcoin: 7 blocks left"},
		{[]string{"health", other.URL}, 4, "is not that of birthmark serve"},
		{[]string{"health", gone.URL}, 4, "no server answers"},
		{[]string{"health", "127.0.0.1"}, 2, "invalid URL"},
	} {
		if r := birthmark(c.line...); r.status != c.status || !strings.Contains(r.stdout+r.stderr, c.want) {
			t.Errorf("%v: %+v, expected status %d and %q", c.line, r, c.status, c.want)
		}
	}
}
