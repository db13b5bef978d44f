package explorer

import (
	"net/http"
	"strings"

	"birthmark/api/problem"
	"birthmark/model"
)

// failure is the body of an error page.
type failure struct {
	Status  int
	Heading string
	What    string   // what went wrong, a sentence
	Try     []string // what may help
}

// errorPage says what went wrong. What is no fault of who asked is logged, and shown as little as it can be.
func (s *site) errorPage(r *http.Request, err error) *page {
	is := problem.Of(err)
	f := &failure{Status: is.Status, What: is.Detail}
	switch {
	case is.Code == "timeout":
		f.Heading = "That takes too long"
		f.What = "the page was not ready within " + s.Timeout.String() + " and was given up"
		f.Try = []string{"Try again: what was read is in memory now.", "Ask the API for parts of it."}
	case is.Status == http.StatusNotFound:
		f.Heading = "Nothing found"
		f.Try = []string{"Look whether it was copied whole: the search box takes hashes, heights, outputs, addresses and assets.",
			"It may belong to another chain or network."}
	case is.Code == "cursor_rolled_back":
		f.Heading = "This part of the list is gone"
		f.Try = []string{"A fork took the block it began behind off the chain. Begin at the start of the list."}
	case is.Status == http.StatusBadRequest:
		f.Heading = "That cannot be read"
		f.Try = []string{"Look for a typing error, or for a part that is missing at either end."}
	case is.Status == http.StatusTooManyRequests:
		f.Heading = "Too many requests"
		f.Try = []string{"Wait a moment and reload the page."}
	case is.Status == http.StatusServiceUnavailable:
		f.Heading = "Not now"
		f.Try = []string{"The status page says what the database is doing."}
	default:
		s.Log.Error("explorer: page failed", "path", r.URL.Path, "error", err)
		f.Heading = "This page could not be made"
	}
	return &page{Kind: "error", Title: f.Heading, Description: f.Heading, Status: f.Status, Body: f}
}

// fail answers with an error page of no chain.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := s.errorPage(r, err)
	p.frame = s.frameOf(r)
	s.send(w, r, p, "")
}

// unknownPath is a path of a chain that leads nowhere.
func (v *visit) unknownPath() (*page, error) {
	return nil, model.Errorf(model.NotFound, "unknown_path", "there is no page %s", v.req.URL.Path)
}

// unknownChain is a path that leads nowhere.
func (s *site) unknownChain(w http.ResponseWriter, r *http.Request) {
	names := make([]string, len(s.Chains))
	for i, c := range s.Chains {
		names[i] = c.Name
	}
	p := s.errorPage(r, model.Errorf(model.NotFound, "unknown_path", "there is no page %s", r.URL.Path))
	p.Body.(*failure).Try = []string{"Paths begin with the name of a chain: " + strings.Join(names, ", ") + "."}
	p.frame = s.frameOf(r)
	s.send(w, r, p, "")
}

// reading lets requests through that read.
func (s *site) reading(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next(w, r)
			return
		}
		p := &page{Kind: "error", Title: "Pages are only read", Description: "Pages are only read", Status: http.StatusMethodNotAllowed, Body: &failure{
			Status: http.StatusMethodNotAllowed, Heading: "Pages are only read", What: "the method " + r.Method + " does nothing here, GET and HEAD do",
		}}
		p.frame = s.frameOf(r)
		w.Header().Set("Allow", "GET, HEAD")
		s.send(w, r, p, "")
	}
}
