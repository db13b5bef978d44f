package explorer

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/model"
)

// period is the part of a history that a visitor selected.
type period struct {
	From, To string // dates in UTC, as the form has them; empty: no limit
	query.Range
}

// period returns the dates in the query of the page.
func (v *visit) period() (p period, err error) {
	for _, end := range []struct {
		name string
		text *string
		time **int64
		last bool
	}{{"from", &p.From, &p.FromTime, false}, {"to", &p.To, &p.ToTime, true}} {
		if *end.text = v.query(end.name); *end.text == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, *end.text); err != nil {
			return p, model.Errorf(model.Usage, "bad_value", "%s %q: expected a date such as 2009-01-12", end.name, *end.text)
		}
		unix, _ := query.ParseTime(*end.text, end.last) // checked above
		*end.time = &unix
	}
	return p, nil
}

// Set reports whether the period is limited.
func (p period) Set() bool { return p.Range != query.Range{} }

// values returns the period as the query of a URL.
func (p period) values() url.Values {
	q := url.Values{}
	if p.From != "" {
		q.Set("from", p.From)
	}
	if p.To != "" {
		q.Set("to", p.To)
	}
	return q
}

// listParameters are the parameters of /v1 for those of a history.
var listParameters = map[string]string{"from": "time_from", "to": "time_to", "after": "after", "direction": "direction", "asset": "asset"}

// apiQuery adds the period and the filter to the path of the history in /v1.
func (b *valueBody) apiQuery(path string) string {
	q := b.Period.values()
	b.Filter.addTo(q)
	to := url.Values{}
	for name := range q {
		to.Set(listParameters[name], q.Get(name))
	}
	if len(to) == 0 {
		return path
	}
	return path + "?" + to.Encode()
}

// historyCSV serves the whole history of a value as a CSV file, newest first: /v1 streams it.
func (s *site) historyCSV(chain *served.Chain) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		index := cmp.Or(r.PathValue("index"), "address")
		given, q := r.URL.Query(), url.Values{"order": {"desc"}}
		for name, of := range listParameters {
			if text := given.Get(name); text != "" {
				q.Set(of, text)
			}
		}
		if given.Get("raw") != "" {
			q.Set("raw_amounts", "true")
		}
		s.askAPI(w, r, chain, []string{"history", index}, q, "text/csv")
	}
}

// answerOf serves an answer of /v1 about an address as JSON, for a value that is hidden in the path.
func (s *site) answerOf(chain *served.Chain, operation string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.askAPI(w, r, chain, []string{operation, "address"}, r.URL.Query(), "application/json")
	}
}

// askAPI serves the answer of /v1 about the value in the path of a request.
func (s *site) askAPI(w http.ResponseWriter, r *http.Request, chain *served.Chain, operation []string, q url.Values, accept string) {
	value, _, err := s.hider.reveal(r.PathValue("value"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	to, err := url.Parse(pathOf("/v1/"+chain.Name, append(operation, value)) + "?" + q.Encode())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	asked := r.Clone(r.Context())
	asked.URL = to
	asked.Header.Set("Accept", accept)
	s.API.ServeHTTP(w, asked)
}
