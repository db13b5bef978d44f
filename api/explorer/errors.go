package explorer

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"birthmark/api/problem"
	"birthmark/model"
)

// failure is the body of an error page.
type failure struct {
	Status  int
	Heading string
	What    string   // what failed
	Try     []string // hints

	Replaced *replacements // of a transaction that left the mempool; nil: none
}

// errorPage returns the page of an error. Internal errors are logged, and their text is not shown.
func (s *site) errorPage(r *http.Request, err error) *page {
	is := problem.Of(err)
	f := &failure{Status: is.Status, What: is.Detail}
	switch {
	case is.Code == "timeout":
		f.Heading = "Request timed out"
		f.What = "the page took longer than " + s.Timeout.String()
		f.Try = []string{"Try again: part of the data is cached now.", "Request parts of it from the API."}
	case is.Code == "unknown_path":
		f.Heading = "Page not found"
	case is.Status == http.StatusNotFound:
		f.Heading = "Not found"
		f.Try = []string{"Check that you copied the whole value.",
			"It may belong to another chain or network."}
	case is.Code == "cursor_rolled_back":
		f.Heading = "This page of the list has changed"
		f.Try = []string{"A reorganization removed the block at which it began. Return to the start of the list."}
	case is.Status == http.StatusBadRequest:
		f.Heading = "Invalid request"
		if strings.Contains(r.URL.Path, "/address/") {
			f.Heading = "Invalid address"
		}
		f.Try = []string{"Check that you copied the whole value."}
	case is.Status == http.StatusMethodNotAllowed:
		f.Heading = "Method not allowed"
	case is.Status == http.StatusTooManyRequests:
		f.Heading = "Too many requests"
		f.Try = []string{"Wait a moment and reload the page."}
	case is.Status == http.StatusServiceUnavailable:
		f.Heading = "Service unavailable"
		f.Try = []string{"Try again later. The status page shows the state of the database."}
	default:
		s.Log.Error("page failed", "path", loggedPath(r), "error", err)
		f.Heading = "Internal error"
	}
	return &page{Kind: "error", Title: f.Heading, Description: f.Heading, Status: f.Status, Body: f}
}

// fail answers with an error page without a chain; hints replace those of the error.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error, hints ...string) {
	p := s.errorPage(r, err)
	if len(hints) > 0 {
		p.Body.(*failure).Try = hints
	}
	p.frame = s.frameOf(r)
	s.send(w, r, p)
}

// unknownPath is the page of an unknown path below a chain.
func (v *visit) unknownPath() (*page, error) {
	if path, ok := strings.CutSuffix(v.req.URL.EscapedPath(), "/"); ok {
		return &page{Location: v.site.BasePath + path}, nil
	}
	return nil, model.Errorf(model.NotFound, "unknown_path", "no page %s", v.req.URL.Path)
}

// unknownChain is the page of an unknown path.
func (s *site) unknownChain(w http.ResponseWriter, r *http.Request) {
	if forPrograms(r) {
		problem.Write(w, problem.New(http.StatusNotFound, "unknown_path",
			"no path %s: the API is below %s/v1, its documentation at %[2]s/docs", r.URL.Path, s.BasePath))
		return
	}
	names := make([]string, len(s.Chains))
	for i, c := range s.Chains {
		names[i] = c.Name
	}
	s.fail(w, r, model.Errorf(model.NotFound, "unknown_path", "no page %s", r.URL.Path),
		"Paths begin with a chain: "+strings.Join(names, ", ")+".")
}

// reading rejects methods other than GET, HEAD and more.
func (s *site) reading(next http.HandlerFunc, more ...string) http.HandlerFunc {
	allowed := append([]string{http.MethodGet, http.MethodHead}, more...)
	return func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(allowed, r.Method) {
			next(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		s.fail(w, r, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "%s: expected %s", r.Method, strings.Join(allowed, " or ")))
	}
}

// apiPath matches paths that other APIs have.
var apiPath = regexp.MustCompile(`^/(api|rest|rpc|graphql|v[0-9]+)(/|$)`)

// forPrograms reports whether a program sent a request for an unknown path, to answer with JSON instead of a page.
func forPrograms(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return apiPath.MatchString(r.URL.Path) || strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}
