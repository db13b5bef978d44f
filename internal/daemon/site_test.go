package daemon

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"birthmark/api/explorer/static"
	"birthmark/api/served"
	"birthmark/internal/config"
	"birthmark/internal/progress"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// sited returns a server with settings, whose handler has the chains one and two.
func sited(t *testing.T, set map[string]string) (*Server, error) {
	t.Helper()
	settings := config.Default()
	for key, value := range set {
		if err := settings.Override(config.Override{Key: key, Value: value, Origin: "--" + key}); err != nil {
			return nil, err
		}
	}
	host := &Host{Log: slog.New(slog.DiscardHandler), Console: &progress.Console{}, Now: time.Now, Version: "v1"}
	s, err := host.Listen(settings, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = s.Close() })
	var chains []*served.Chain
	for _, name := range []string{"one", "two"} {
		db := shownBlocks(t, modeltest.Variants()[0].NewGenerator(testseed.Rand(t).Uint64()).Blocks(6))
		c := newHandle(host, db).chain(db.Chain())
		c.Name = name
		chains = append(chains, c)
	}
	return s, s.wire(t.Context(), chains)
}

func get(s *Server, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", path, nil)
	r.Host = "localhost"
	s.handler.ServeHTTP(w, r)
	return w
}

// links are the places of a page that name paths.
var links = regexp.MustCompile(`\s(?:href|src|action|data-chain|data-events|data-base|data-api)="([^"]+)"`)

// With a base path every link of every page is below it, and leads to the same answer whether or not the proxy removes
// the base path from requests.
func TestLinksAreBelowTheBasePath(t *testing.T) {
	const base = "/explorer/btc"
	s, err := sited(t, map[string]string{"base_path": base + "/"})
	if err != nil {
		t.Fatal(err)
	}
	seen, pages := map[string]bool{base + "/": true}, []string{base + "/"}
	for i := 0; i < len(pages) && i < 250; i++ {
		path := pages[i]
		kept, shortened := get(s, path), get(s, strings.TrimPrefix(path, base))
		if kept.Code != shortened.Code || kept.Body.String() != shortened.Body.String() || kept.Header().Get("Location") != shortened.Header().Get("Location") {
			t.Errorf("%s: %d with the base path, %d without", path, kept.Code, shortened.Code)
		}
		found := []string{kept.Header().Get("Location")}
		if kept.Code != 200 && found[0] == "" {
			t.Errorf("%s: %d %s", path, kept.Code, kept.Body)
		}
		if strings.HasPrefix(kept.Header().Get("Content-Type"), "text/html") {
			for _, m := range links.FindAllStringSubmatch(kept.Body.String(), -1) {
				found = append(found, strings.ReplaceAll(m[1], "&amp;", "&"))
			}
		}
		for _, link := range found {
			link, _, _ = strings.Cut(link, "#")
			if link == "" || link == base || len(link) > 8000 || strings.HasPrefix(link, "?") || seen[link] || strings.Contains(link, "/events") || strings.HasSuffix(link, "/search") {
				continue
			}
			if seen[link] = true; !strings.HasPrefix(link+"/", base+"/") {
				t.Errorf("%s links to %s", path, link)
				continue
			}
			pages = append(pages, link)
		}
	}
	for _, kind := range []string{"/one/block/", "/one/tx/", "/one/address/", "/one/status", "/two", "/v1/one/", "/docs", "/static/", "/openapi.json"} {
		if !strings.Contains(strings.Join(pages, " "), base+kind) {
			t.Errorf("no link to %s", base+kind)
		}
	}
	for path, to := range map[string]string{
		base: base + "/", base + "/one/": base + "/one", base + "/one//status?x=1": base + "/one/status?x=1", "/one//status": base + "/one/status",
		base + "/one/status/": base + "/one/status", base + "/favicon.ico": base + "/static/", "/search?q=1": "",
	} {
		if w := get(s, path); !strings.HasPrefix(w.Header().Get("Location"), to) {
			t.Errorf("%s: %d %v, expected a redirect to %s", path, w.Code, w.Header(), to)
		}
	}
	if got := s.URL(); !strings.HasSuffix(got, base+"/") {
		t.Errorf("the server announces %s", got)
	}
	if w := get(s, "/v1/one/find/address/a%2F%2Fb"); w.Header().Get("Location") != "" {
		t.Errorf("a value with slashes: %d %v", w.Code, w.Header())
	}
}

func TestSitesHaveTheirOwnAppearance(t *testing.T) {
	logo := filepath.Join(t.TempDir(), "logo.SVG")
	const image = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>`
	if err := os.WriteFile(logo, []byte(image), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sited(t, map[string]string{"title": "Coins & more", "notice": "Closed on <Sunday>.", "logo": logo})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/one", "/one/status", "/nowhere"} {
		page := get(s, path).Body.String()
		for _, want := range []string{"· Coins &amp; more</title>", "<span>Coins &amp; more</span>", `content="Coins &amp; more"`,
			"Closed on &lt;Sunday&gt;.", `<meta property="og:title"`, `<meta property="og:description"`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %s", path, want)
			}
		}
		src := regexp.MustCompile(`<img src="([^"]+)"`).FindStringSubmatch(page)
		if src == nil {
			t.Fatalf("%s has no image", path)
		}
		if w := get(s, src[1]); w.Body.String() != image || w.Header().Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%s: %d %v", src[1], w.Code, w.Header())
		}
	}
	robots := get(s, "/robots.txt")
	if robots.Code != 200 || !strings.HasPrefix(robots.Header().Get("Content-Type"), "text/plain") || !strings.Contains(robots.Body.String(), "Disallow: /v1/") {
		t.Errorf("robots.txt: %d %s", robots.Code, robots.Body)
	}
}

func TestWrongSitesAreRefused(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.png")
	if err := os.WriteFile(large, make([]byte, static.MaxLogo+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, value, want string }{
		{"base_path", "explorer", "is not a path such as /explorer"}, {"base_path", "/", "is not a path"},
		{"base_path", "/a/../b", "is not a path"}, {"base_path", "/a b", "is not a path"}, {"base_path", "https://a.org/b", "is not a path"},
		{"base_path", "/one", "the server has a path /one already"}, {"base_path", "/v1/x", "/v1 already"}, {"base_path", "/metrics", "/metrics already"},
		{"base_path", "/docs", "/docs already"}, {"title", strings.Repeat("x", 61), "has 61 characters: expected one line of at most 60"},
		{"notice", "a\nb", "expected one line"}, {"asset_pictures", "ipfs.io", "is not the URL of a gateway"}, {"asset_pictures", "https://a.org/?x=", "is not the URL of a gateway"},
		{"asset_pictures", "https://a.org/;script-src *", "is not the URL of a gateway"}, {"logo", "/no/such.svg", "no such file"}, {"logo", large, "expected 1 to 100000"}, {"logo", "site_test.go", "expected .svg, .png"},
		{"immutable_depth", "-1", "not a number"}, {"labels_file", "/no/such.txt", "no such file"},
	} {
		if _, err := sited(t, map[string]string{c.key: c.value}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "--"+c.key) {
			t.Errorf("%s %q: %v, expected %q", c.key, c.value, err, c.want)
		}
	}
}

// The documentation is sent again only if it has changed.
func TestDocumentationHasAnETag(t *testing.T) {
	s, err := sited(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	tag := get(s, "/docs").Header().Get("Etag")
	for path, want := range map[string]int{"/docs": http.StatusNotModified, "/docs?q=tx": http.StatusOK} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		r.Header.Set("If-None-Match", tag)
		if s.handler.ServeHTTP(w, r); tag == "" || w.Code != want {
			t.Errorf("%s with the ETag %s: %d, expected %d", path, tag, w.Code, want)
		}
	}
}

// Programs that look for other APIs get JSON, and people get a page.
func TestUnknownPathsOfProgramsAreJSON(t *testing.T) {
	s, err := sited(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api", "/api/v2/tx/00", "/v2", "/v2/blocks", "/v3/x", "/rest/tx/00.json", "/v1x", "/nowhere"} {
		w := get(s, path)
		want := "application/problem+json"
		if path == "/v1x" || path == "/nowhere" {
			want = "text/html; charset=utf-8"
		}
		if w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != want {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
}
