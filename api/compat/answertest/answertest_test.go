package answertest_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
)

// failing is a test whose failures are kept.
type failing struct {
	testing.TB
	errors []string
}

func (f *failing) Helper()             {}
func (f *failing) Logf(string, ...any) {}
func (f *failing) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

// api is an API with the answers of some paths.
type api map[string]string

func (a api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	if path == "/x/panic" {
		panic("out of order")
	}
	body, ok := a[r.Method+" "+path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
	}
	fmt.Fprint(w, body)
}

func TestCrawlFindsEveryRefusal(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	good := func() api {
		return api{
			"GET /x/list":         `{"items":[{"id":"a/b","n":7,"owner":{"id":"me"}},{"id":"c","n":8}],"root":"` + hash + `","said":{"text":"hex:00"}}`,
			"GET /x/item/a%2Fb/7": `{"assets":{"gold":1}}`,
			"GET /x/item/c/8":     `{"next":null,"assets":{}}`,
			"GET /x/person/me":    "<!DOCTYPE html><a href='/x/page#top'>b</a>",
			"GET /x/page":         hash,
			"POST /x/asset":       `[]`,
			"GET /x/hash/" + hash: `{}`,
		}
	}
	crawl := answertest.Crawl{
		Seeds: []string{"/list"},
		Rules: []answertest.Rule{
			{Keys: []string{"items.id"}, Targets: []string{"/item/{}/{n}", "/item/{}/{absent}"}},
			{Keys: []string{"owner.id"}, Targets: []string{"/person/{}"}},
			{Keys: []string{"assets{}"}, Targets: []string{`POST /asset ["{=}"]`}},
			{Keys: []string{"href"}, Pattern: regexp.MustCompile("/x/.*"), Targets: []string{"/page"}},
			{Keys: []string{"text"}, Pattern: regexp.MustCompile("[0-9a-f]{64}"), Targets: []string{"/hash/{}"}},
			{Keys: []string{"next"}, Targets: []string{"/list/{}"}, Rare: true},
		},
		Plain: []string{"root"}, Contents: []string{"said"},
	}
	for _, c := range []struct {
		name   string
		change func(api, *answertest.Crawl)
		errors []string // parts of them
	}{
		{"all is well", func(api, *answertest.Crawl) {}, nil},
		{"an item is refused", func(a api, _ *answertest.Crawl) { delete(a, "GET /x/item/a%2Fb/7") }, []string{"/item/a%2Fb/7: 404", "no text of the rule [assets{}]"}},
		{"a refusal is documented", func(a api, c *answertest.Crawl) {
			delete(a, "GET /x/item/c/8")
			c.Excused = func(target string, status int, _ []byte) bool { return target == "/item/c/8" && status == 404 }
		}, nil},
		{"a handler panics", func(a api, c *answertest.Crawl) { c.Seeds = append(c.Seeds, "/panic") }, []string{"/panic: 500 panic: out of order"}},
		{"a private form", func(a api, _ *answertest.Crawl) { a["GET /x/item/c/8"] = `["hex:00"]` }, []string{`text is "hex:00"`}},
		{"a private form in the own API", func(a api, c *answertest.Crawl) {
			a["GET /x/item/c/8"] = `{"value":"hex:00"}`
			c.Own = true
		}, nil},
		{"a text without a rule", func(_ api, c *answertest.Crawl) { c.Plain = []string{} }, []string{"texts of the key root have no rule"}},
		{"a rule without a text", func(_ api, c *answertest.Crawl) { c.Rules[5].Rare = false }, []string{"no text of the rule [next]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, crawl := good(), crawl
			crawl.Rules = slices.Clone(crawl.Rules)
			c.change(a, &crawl)
			crawl.Ask = answertest.HTTP(a, "/x")
			f := &failing{TB: t}
			crawl.Run(f)
			slices.Sort(f.errors)
			if len(f.errors) != len(c.errors) {
				t.Fatalf("%q", f.errors)
			}
			for i, part := range c.errors {
				if !strings.Contains(f.errors[i], part) {
					t.Errorf("%q, expected %q", f.errors[i], part)
				}
			}
		})
	}
}

func TestCrawlEndsAtItsLimit(t *testing.T) {
	asked := 0
	answertest.Crawl{
		Ask: func(string) (int, []byte) {
			asked++
			return http.StatusOK, fmt.Appendf(nil, "%d", asked)
		},
		Seeds: []string{"/"}, Rules: []answertest.Rule{{Keys: []string{"text"}, Targets: []string{"/{}"}}}, Most: 30,
	}.Run(t)
	if asked != 30 {
		t.Errorf("%d requests", asked)
	}
}
