package exchange

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"birthmark/core/meter"
	"birthmark/model"
)

// chain is the view of the tests: its number of reads.
type chain struct{ reads int }

var errUnknown = errors.New("unknown")

// server serves endpoints of all forms over c.
func server(t *testing.T, c *chain) *httptest.Server {
	number := func(r *Request) int {
		text, _ := r.Arg("n")
		n, err := strconv.Atoi(text)
		if err != nil {
			r.Refuse(err)
		}
		return n
	}
	h := Handler(Protocol[*chain]{
		Path: "/api",
		Open: func(_ *Request, fn func(*chain) error) error { c.reads++; return fn(c) },
		Error: func(_ *Request, err error) Failure {
			return Failure{http.StatusBadRequest, TypeText, []byte("failed: " + err.Error())}
		},
		NotFound: func(_ *Request, path string, allowed []string) error {
			return errors.New("no " + path + " but " + strings.Join(allowed, ","))
		},
		MaxBody: 10,
		Endpoints: []Endpoint[*chain]{
			{Method: http.MethodGet, Path: "list/{n}", Answer: func(r *Request) func(*chain) (any, error) {
				n := number(r)
				return func(*chain) (any, error) {
					r.CacheFor(7)
					return List(func(yield func(string, error) bool) {
						for i := range n {
							if !yield(strings.Repeat("x", 1000), nil) || i == 99_999 && !yield("", errUnknown) {
								return
							}
						}
					}), nil
				}
			}},
			{Method: http.MethodGet, Path: "list/first", Answer: func(*Request) func(*chain) (any, error) {
				return func(*chain) (any, error) { return Text("never"), nil }
			}},
			{Method: http.MethodGet, Path: "unknown", Answer: func(*Request) func(*chain) (any, error) {
				return func(*chain) (any, error) { return nil, errUnknown }
			}},
			{Method: http.MethodPost, Path: "echo", Node: func(r *Request) (any, error) { return Text(r.Content()), nil }},
			{Method: http.MethodGet, Path: "{name}/value", Node: func(r *Request) (any, error) {
				name, _ := r.Arg("name")
				_, other := r.Arg("other")
				return map[string]any{"name": name, "other": other, "query": r.Param("q")}, nil
			}},
		},
	})
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func ask(t *testing.T, s *httptest.Server, method, path, body string) (*http.Response, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	got, err := io.ReadAll(a.Body)
	if err != nil {
		got = append(got, "…cut"...)
	}
	return a, string(got)
}

func TestRequestsAreAnswered(t *testing.T) {
	var c chain
	s := server(t, &c)
	for _, q := range []struct {
		method, path, body string
		status             int
		answer             string
		reads              int
	}{
		{"GET", "/api/list/2", "", 200, `["` + strings.Repeat("x", 1000) + `","` + strings.Repeat("x", 1000) + `"]`, 1},
		{"GET", "/api/list/0", "", 200, `[]`, 1},
		{"HEAD", "/api/list/2", "", 200, "", 1},
		{"GET", "/api/list/first", "", 400, `failed: strconv.Atoi: parsing "first": invalid syntax`, 0}, // the first endpoint counts
		{"POST", "/api/list/1", "", 400, "failed: no /list/1 but GET", 0},
		{"GET", "/api/list/1/", "", 400, "failed: no /list/1/ but ", 0},
		{"GET", "/api/unknown", "", 400, "failed: unknown", 1},
		{"POST", "/api/echo", "hello", 200, "hello", 0},
		{"POST", "/api/echo", "hello world", 400, "failed: http: request body too large", 0},
		{"GET", "/api/a%20b/value?q=%C3%A9", "", 200, `{"name":"a b","other":false,"query":"é"}`, 0},
		{"GET", "/api//value", "", 200, `{"name":"","other":false,"query":""}`, 0},
	} {
		c.reads = 0
		a, got := ask(t, s, q.method, q.path, q.body)
		if a.StatusCode != q.status || got != q.answer || c.reads != q.reads {
			t.Errorf("%s %s: %d %s after %d reads, expected %d %s after %d", q.method, q.path, a.StatusCode, got, c.reads, q.status, q.answer, q.reads)
		}
		if cache := a.Header.Get("Cache-Control"); q.status == http.StatusBadRequest && cache != "no-store" {
			t.Errorf("%s %s: Cache-Control %q", q.method, q.path, cache)
		}
	}
	if a, _ := ask(t, s, "HEAD", "/api/list/2", ""); a.Header.Get("Content-Length") != "2007" || a.Header.Get("Cache-Control") != "public, max-age=7" {
		t.Errorf("HEAD: %v", a.Header)
	}
}

// A long list is sent in parts, and an error after the first part cuts the connection.
func TestLongListsAreSentInParts(t *testing.T) {
	s := server(t, &chain{})
	a, got := ask(t, s, "GET", "/api/list/1000", "")
	if a.ContentLength != -1 || len(got) != 1000*1003+1 || !strings.HasSuffix(got, `x"]`) {
		t.Errorf("length %d, %d bytes", a.ContentLength, len(got))
	}
	if _, got := ask(t, s, "GET", "/api/list/100001", ""); !strings.HasSuffix(got, "…cut") {
		t.Errorf("the answer is whole: %d bytes", len(got))
	}
}

// A protocol has its own media type of JSON, statuses of success, and answers to OPTIONS.
func TestProtocolsHaveTheirForms(t *testing.T) {
	s := httptest.NewServer(Handler(Protocol[*chain]{
		Path: "/api", JSON: "application/json;charset=utf-8", End: "\n", Trim: true, Preflight: http.Header{"Access-Control-Allow-Headers": {"content-type"}},
		Error:    func(*Request, error) Failure { return Failure{Status: http.StatusNotFound} },
		NotFound: func(*Request, string, []string) error { return errUnknown },
		Endpoints: []Endpoint[*chain]{
			{Method: http.MethodGet, Path: "", Node: func(*Request) (any, error) { return 1, nil }},
			{Method: http.MethodPost, Path: "accepted", Node: func(r *Request) (any, error) {
				r.SetStatus(http.StatusAccepted)
				return 1, nil
			}},
			{Method: http.MethodPost, Path: "nothing", Node: func(r *Request) (any, error) {
				r.SetStatus(http.StatusNoContent)
				return Nothing{}, nil
			}},
		},
	}))
	t.Cleanup(s.Close)
	for _, q := range []struct {
		method, path string
		status       int
		kind, answer string
	}{
		{"GET", "/api/", 200, "application/json;charset=utf-8", "1\n"},
		{"POST", "/api/accepted", 202, "application/json;charset=utf-8", "1\n"},
		{"POST", "/api//accepted/", 202, "application/json;charset=utf-8", "1\n"},
		{"POST", "/api/nothing", 204, "", ""},
		{"OPTIONS", "/api/accepted", 204, "", ""},
		{"OPTIONS", "/api/other", 204, "", ""},
		{"GET", "/api/other", 404, "", ""},
	} {
		a, got := ask(t, s, q.method, q.path, "")
		if kind := a.Header.Get("Content-Type"); a.StatusCode != q.status || kind != q.kind || got != q.answer {
			t.Errorf("%s %s: %d %s %s, expected %d %s %s", q.method, q.path, a.StatusCode, kind, got, q.status, q.kind, q.answer)
		}
		if allowed := a.Header.Get("Access-Control-Allow-Headers"); (allowed != "") != (q.method == "OPTIONS") {
			t.Errorf("%s %s: Access-Control-Allow-Headers %q", q.method, q.path, allowed)
		}
	}
}

// catalogue has two lists of sections, which have lists themselves.
type catalogue struct {
	Name  string         `json:"name"`
	Some  Items[section] `json:"some"`
	Count int            `json:"count"`
	None  Items[section] `json:"none"`
	More  Items[section] `json:"more"`
	End   bool           `json:"end"`
}

type section struct {
	Title string        `json:"title"`
	Words Items[string] `json:"words"`
}

// Lists within values are sent in parts, too.
func TestItemsAreSentInParts(t *testing.T) {
	sections := func(r *Request, n, words int) Items[section] {
		return ItemsOf(r, func(yield func(section, error) bool) {
			for i := range n {
				s := section{strconv.Itoa(i), ItemsOf(r, func(yield func(string, error) bool) {
					for range words {
						if !yield("word", nil) {
							return
						}
					}
				})}
				if !yield(s, nil) {
					return
				}
			}
		})
	}
	s := httptest.NewServer(Handler(Protocol[*chain]{
		Error:    func(*Request, error) Failure { return Failure{Status: http.StatusNotFound} },
		NotFound: func(*Request, string, []string) error { return errUnknown },
		Endpoints: []Endpoint[*chain]{{Method: http.MethodGet, Path: "{n}", Node: func(r *Request) (any, error) {
			text, _ := r.Arg("n")
			n, err := strconv.Atoi(text)
			return &catalogue{"all", sections(r, 2, n), n, sections(r, 0, 0), sections(r, 1, 1), true}, err
		}}},
	}))
	t.Cleanup(s.Close)
	for _, n := range []int{0, 1, 2, 20_000} {
		words := "[" + strings.TrimSuffix(strings.Repeat(`"word",`, n), ",") + "]"
		want := `{"name":"all","some":[{"title":"0","words":` + words + `},{"title":"1","words":` + words + `}],"count":` + strconv.Itoa(n) +
			`,"none":[],"more":[{"title":"0","words":["word"]}],"end":true}`
		a, got := ask(t, s, "GET", "/"+strconv.Itoa(n), "")
		if got != want || (a.ContentLength < 0) != (len(want) >= partSize) {
			t.Errorf("%d words: length %d, %.200s", n, a.ContentLength, got)
		}
	}
}

// An encoder without a request sends lists in parts, and its unsent bytes count against the memory for answers.
func TestEncodersOfOtherFramings(t *testing.T) {
	budget := meter.NewBudget(100_000)
	m := meter.New(nil, 0, 0, budget)
	var sent []byte
	parts := 0
	var e Encoder
	e.Send = func() error {
		sent, parts, e.JSON = append(sent, e.JSON...), parts+1, e.JSON[:0]
		return nil
	}
	e.Begin(meter.With(t.Context(), m))
	if err := e.Append(List(func(func(string, error) bool) {})); err != nil || string(e.JSON) != "[]" {
		t.Errorf("%s, %v", e.JSON, err)
	}
	e.Begin(e.Ctx)
	numbers := func(yield func([]int, error) bool) { _ = yield([]int{1}, nil) && yield([]int{2, 3}, nil) }
	if err := e.Append(Values(numbers)); err != nil || string(e.JSON) != "[1][2,3]" {
		t.Errorf("%s, %v", e.JSON, err)
	}
	e.Begin(e.Ctx)
	if err := e.Append(Values(func(func(int, error) bool) {})); err != nil || len(e.JSON) > 0 {
		t.Errorf("%s, %v", e.JSON, err)
	}
	e.Begin(e.Ctx)
	words := func(yield func(string, error) bool) {
		for range 1000 {
			if !yield(strings.Repeat("x", 1000), nil) {
				return
			}
		}
	}
	if err := e.Append(List(words)); err != nil || parts != 1000*1003/partSize || budget.Used() > 1003 {
		t.Errorf("%d parts, %d bytes are held, %v", parts, budget.Used(), err)
	}
	if all := len(sent) + len(e.JSON); all != 1000*1003+1 {
		t.Errorf("%d bytes", all)
	}
	e.Begin(e.Ctx)
	held := budget.Used()
	if err := e.Append(strings.Repeat("x", 100_000)); err != nil || budget.Used()-held != 100_002-meter.Free {
		t.Errorf("%d bytes are held for 100,002, %v", budget.Used()-held, err)
	}
	if _, code := model.KindOf(e.Append(strings.Repeat("x", 100_000))); code != "answer_too_large" {
		t.Errorf("error %q above the memory for answers", code)
	}
	m.End()
	if n := budget.Used(); n != 0 {
		t.Errorf("%d bytes are held at the end", n)
	}
}

// The memory of an answer is not that of another one that is made at the same time.
func TestAnswersDoNotShareMemory(t *testing.T) {
	var s *httptest.Server
	s = httptest.NewServer(Handler(Protocol[*chain]{
		Error:    func(*Request, error) Failure { return Failure{Status: http.StatusNotFound} },
		NotFound: func(*Request, string, []string) error { return errUnknown },
		Endpoints: []Endpoint[*chain]{
			{Method: http.MethodGet, Path: "inner", Node: func(*Request) (any, error) { return Text("inner"), nil }},
			{Method: http.MethodGet, Path: "outer", Node: func(*Request) (any, error) {
				return List(func(yield func(string, error) bool) {
					for range 3 {
						if _, got := ask(t, s, "GET", "/inner", ""); !yield("outer", nil) || got != "inner" {
							t.Errorf("the inner answer is %q", got)
						}
					}
				}), nil
			}},
		},
	}))
	t.Cleanup(s.Close)
	for range 3 {
		if _, got := ask(t, s, "GET", "/outer", ""); got != `["outer","outer","outer"]` {
			t.Errorf("the outer answer is %s", got)
		}
	}
}

// An endpoint can answer HEAD alone, and has the unconfirmed transactions if its row has them.
func TestRowsOfEndpoints(t *testing.T) {
	answer := func(r *Request) func(*chain) (any, error) {
		return func(*chain) (any, error) { return Text(strconv.FormatBool(r.Mempool())), nil }
	}
	s := httptest.NewServer(Handler(Protocol[*chain]{
		Open:     func(_ *Request, fn func(*chain) error) error { return fn(nil) },
		Error:    func(_ *Request, err error) Failure { return Failure{405, TypeText, []byte(err.Error())} },
		NotFound: func(_ *Request, _ string, allowed []string) error { return errors.New(strings.Join(allowed, ",")) },
		Endpoints: []Endpoint[*chain]{
			{Method: http.MethodGet, Path: "a/b", Answer: answer},
			{Method: http.MethodHead, Path: "a/{x}", Answer: answer},
			{Method: http.MethodGet, Path: "{x}", Answer: answer, Mempool: true},
			{Method: http.MethodGet, Path: "rest/{x}/{y...}", Node: func(r *Request) (any, error) {
				x, _ := r.Arg("x")
				y, _ := r.Arg("y")
				return Text(x + " " + y), nil
			}},
		},
	}))
	t.Cleanup(s.Close)
	for _, q := range []struct {
		method, path string
		status       int
		answer       string
	}{
		{"GET", "/a/b", 200, "false"}, {"HEAD", "/a/b", 200, ""}, {"HEAD", "/a/c", 200, ""}, {"GET", "/a/c", 405, "HEAD"}, {"GET", "/a", 200, "true"},
		{"POST", "/a/b", 405, "GET,HEAD"}, {"GET", "/a/b/c", 405, ""}, {"GET", "/rest/b", 405, ""}, {"GET", "/rest/b/", 200, "b "},
		{"GET", "/rest/b/c/d/", 200, "b c/d/"},
	} {
		if a, got := ask(t, s, q.method, q.path, ""); a.StatusCode != q.status || got != q.answer {
			t.Errorf("%s %s: %d %s, expected %d %s", q.method, q.path, a.StatusCode, got, q.status, q.answer)
		}
	}
}

// A client that has the answer of a tip gets 304 before anything is read, unless the answer depends on more than the tip.
// An invalid argument is refused nevertheless.
func TestClientsThatHaveTheAnswer(t *testing.T) {
	c := &chain{}
	answer := func(r *Request) func(*chain) (any, error) {
		if r.Param("bad") != "" {
			r.Refuse(errUnknown)
		}
		return func(c *chain) (any, error) {
			c.reads++
			r.SetType("text/x-number")
			return Text("1"), nil
		}
	}
	etag := ""
	s := httptest.NewServer(Handler(Protocol[*chain]{
		Open: func(_ *Request, fn func(*chain) error) error { return fn(c) },
		ETag: func(*chain) string { return etag },
		Error: func(*Request, error) Failure {
			return Failure{Status: http.StatusBadRequest}
		},
		Endpoints: []Endpoint[*chain]{
			{Method: http.MethodGet, Path: "chain", Answer: answer},
			{Method: http.MethodGet, Path: "health", Answer: answer, Volatile: true},
		},
	}))
	t.Cleanup(s.Close)
	for _, q := range []struct {
		path, etag, have string
		status, reads    int
	}{
		{"/chain", "", "*", 200, 1}, {"/chain", "tip", "", 200, 1}, {"/chain", "tip", "other", 200, 1}, {"/chain", "tip", "tip", 304, 0},
		{"/chain", "tip", `W/"other", "tip"`, 304, 0}, {"/chain", `"tip"`, `W/"tip"`, 304, 0}, {"/chain?bad=1", "tip", "tip", 400, 0},
		{"/health", "tip", "tip", 200, 1},
	} {
		c.reads, etag = 0, q.etag
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+q.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("If-None-Match", q.have)
		a, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if a.StatusCode != q.status || c.reads != q.reads || q.status != 400 && a.Header.Get("Etag") != q.etag {
			t.Errorf("%s with %q: %d after %d reads, %v", q.path, q.have, a.StatusCode, c.reads, a.Header)
		}
		if kind := a.Header.Get("Content-Type"); q.status == 200 && kind != "text/x-number" {
			t.Errorf("%s: Content-Type %q", q.path, kind)
		}
	}
}

// An endpoint of another router appends its answer, or sends one that requests share. A client that has it gets 304, and
// HEAD has the same headers.
func TestSingleEndpoints(t *testing.T) {
	shared := []byte("shared")
	single := func(method string, node func(r *Request) (any, error)) http.Handler {
		return Single(Protocol[*chain]{
			MaxBody:  10,
			Error:    func(_ *Request, err error) Failure { return Failure{400, TypeText, []byte(err.Error())} },
			NotFound: func(_ *Request, path string, allowed []string) error { return fmt.Errorf("%s: use %s", path, allowed) },
		}, Endpoint[*chain]{Method: method, Node: node})
	}
	mux := http.NewServeMux()
	mux.Handle("/appended/{n}", single(http.MethodGet, func(r *Request) (any, error) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		if err := r.Append(n); err != nil {
			return nil, err
		}
		return r.SetETag(`"`+string(r.Encoder().JSON)+`"`, Appended{}), r.Append(JSON("\n"))
	}))
	mux.Handle("/shared", single(http.MethodGet, func(r *Request) (any, error) { return r.SetETag(`"s"`, Shared(shared)), nil }))
	mux.Handle("/flushed", single(http.MethodGet, func(r *Request) (any, error) {
		for range 3 {
			if err := errors.Join(r.Append(JSON("line\n")), r.Flush()); err != nil {
				return nil, err
			}
		}
		if r.Param("fail") != "" {
			return nil, errUnknown
		}
		return Appended{}, nil
	}))
	mux.Handle("/echo", single(http.MethodPost, func(r *Request) (any, error) { return Text(r.Content()), nil }))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("less") != "" {
			r.Body = http.MaxBytesReader(w, r.Body, 5)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	for _, q := range []struct {
		method, path, body, have string
		status                   int
		length                   int64
		etag, answer             string
	}{
		{"GET", "/appended/7", "", "", 200, 2, `"7"`, "7\n"}, {"HEAD", "/appended/7", "", "", 200, 2, `"7"`, ""},
		{"GET", "/appended/7", "", `"8"`, 200, 2, `"7"`, "7\n"}, {"GET", "/appended/7", "", `W/"7"`, 304, -1, `"7"`, ""},
		{"POST", "/appended/7", "", "", 400, 24, "", "/appended/7: use [GET]"},
		{"GET", "/shared", "", "", 200, 6, `"s"`, "shared"}, {"HEAD", "/shared", "", "", 200, 6, `"s"`, ""},
		{"GET", "/shared", "", `"s"`, 304, -1, `"s"`, ""},
		{"GET", "/flushed", "", "", 200, -1, "", "line\nline\nline\n"}, {"HEAD", "/flushed", "", "", 200, -1, "", ""},
		{"GET", "/flushed?fail=1", "", "", 200, -1, "", "line\nline\nline\n…cut"},
		{"POST", "/echo", "123456", "", 200, 6, "", "123456"}, {"POST", "/echo?less=1", "123456", "", 400, 30, "", "http: request body too large"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), q.method, s.URL+q.path, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		if q.have != "" {
			r.Header.Set("If-None-Match", q.have)
		}
		a, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil {
			got = append(got, "…cut"...)
		}
		if a.StatusCode != q.status || string(got) != q.answer || a.Header.Get("Etag") != q.etag || q.status == 200 && a.ContentLength != q.length {
			t.Errorf("%s %s: %d %q, length %d, %v", q.method, q.path, a.StatusCode, got, a.ContentLength, a.Header)
		}
	}
}
