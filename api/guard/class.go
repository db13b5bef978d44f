package guard

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// class is what the path and the parameters of a request say about its answer.
type class struct {
	cost   int64 // see Cost
	stream bool  // goes on for as long as the client likes
	free   bool  // asked by those who watch over the server: no key, no rate
}

const (
	plainCost  = 1
	batchCost  = 2
	termCost   = 1 // of each further term of a search
	rankCost   = 4
	wholeCost  = 8
	costlyPage = 250 // entries of a page that cost as much as a plain request
	mostCost   = 16
)

// Cost is how expensive the answer to a request may be, in plain requests: 1 for most, more for long pages, batches, searches
// for many terms, the richest, and whole lists. It counts against a client's rate; what costs more than 1 counts also
// against Options.Expensive while it is answered.
func Cost(r *http.Request) int64 { return classOf(r).cost }

// classOf judges a request by its text alone. What it does not know is a plain request.
func classOf(r *http.Request) class {
	switch r.URL.Path {
	case "/healthz", "/readyz":
		return class{free: true, cost: plainCost}
	}
	c := class{cost: plainCost}
	rest, isAPI := strings.CutPrefix(r.URL.Path, "/v1/")
	if !isAPI {
		rest = strings.TrimPrefix(r.URL.Path, "/")
	}
	_, question, _ := strings.Cut(rest, "/")
	question, _, _ = strings.Cut(question, "/")
	switch {
	case question == "richest": // as data or as a page
		c.cost = rankCost
	case !isAPI:
		return c
	case question == "events":
		return class{stream: true, cost: plainCost}
	case r.Method == http.MethodPost:
		c.cost = batchCost
	}
	for _, accept := range r.Header["Accept"] {
		c.stream = c.stream || strings.Contains(strings.ToLower(accept), "ndjson")
	}
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if strings.ContainsRune(name, '%') {
			name, _ = url.QueryUnescape(name)
		}
		switch name {
		case "and", "or":
			c.cost += termCost
		case "limit":
			if n, err := strconv.ParseUint(value, 10, 32); err == nil {
				c.cost += int64(n / costlyPage)
			}
		}
	}
	if c.stream {
		c.cost += wholeCost
	}
	c.cost = min(c.cost, mostCost)
	return c
}
