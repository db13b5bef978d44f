package boxestest

import (
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Request is a request for an operation of an API.
type Request struct {
	Method, Target, Body string
	Has                  []string // ids that the answer has
}

// Requests are requests by operation: the method and the path of its route.
type Requests map[string][]Request

// Add adds a request. The argument replaces * in the path; several ones are separated by spaces.
func (r Requests) Add(operation, argument, query, body string, has ...string) {
	method, path, _ := strings.Cut(operation, " ")
	for arg := range strings.FieldsSeq(argument) {
		path = strings.Replace(path, "*", arg, 1)
	}
	r[operation] = append(r[operation], Request{method, "/" + path + query, body, has})
}

// Verify sends all requests below a prefix. Each operation has a request and one with an answer that is not an empty list,
// each request an answer, and each answer the ids. It calls visit with the answers.
func (r Requests) Verify(t *testing.T, h http.Handler, prefix string, operations []string, visit func(operation string, r Request, body string)) {
	t.Helper()
	for _, operation := range operations {
		if len(r[operation]) == 0 {
			t.Errorf("%s has no request", operation)
		}
	}
	faults, filled := map[string]int{}, map[string]bool{}
	for operation, requests := range r {
		if !slices.Contains(operations, operation) {
			t.Errorf("%s is no operation", operation)
		}
		for _, q := range requests {
			a := Send(t, h, q.Method, prefix+q.Target, q.Body)
			var lacks []string
			for _, id := range q.Has {
				if !strings.Contains(a.Body, id) {
					lacks = append(lacks, id)
				}
			}
			filled[operation] = filled[operation] || a.Body != "[]" && !empty.MatchString(a.Body)
			if a.Status == http.StatusOK && len(lacks) == 0 {
				if visit != nil {
					visit(operation, q, a.Body)
				}
				continue
			}
			if faults[operation]++; faults[operation] <= 3 {
				t.Errorf("%s %.300s %.200s: %d, it lacks %d of %d ids: %.200s %.300s",
					q.Method, q.Target, q.Body, a.Status, len(lacks), len(q.Has), lacks, a.Body)
			}
		}
	}
	for _, operation := range operations {
		if !filled[operation] {
			t.Errorf("%s has empty lists only", operation)
		}
	}
	for operation, n := range faults {
		t.Logf("%s: %d of %d requests failed", operation, n, len(r[operation]))
	}
}

// empty matches answers that are an empty list.
var empty = regexp.MustCompile(`^\{("items":\[\]|"data":\{("mempool":\{)?"x":\[\])`)

// IDs returns the ids of boxes.
func IDs(boxes []*Box) (ids []string) {
	for _, b := range boxes {
		ids = append(ids, b.ID)
	}
	return ids
}

// TxIDs returns the ids of transactions.
func TxIDs(txs []*Tx) (ids []string) {
	for _, t := range txs {
		ids = append(ids, t.ID)
	}
	return ids
}

// Distinct returns one box for each value of a key, in the order of their first occurrence, without the key "".
func Distinct(boxes []*Box, key func(*Box) string) (some []*Box) {
	known := map[string]bool{"": true}
	for _, b := range boxes {
		if k := key(b); !known[k] {
			known[k] = true
			some = append(some, b)
		}
	}
	return some
}

// Touching returns the transactions with an input or output for which f is true.
func Touching(txs []*Tx, f func(*Box) bool) (some []*Tx) {
	for _, t := range txs {
		if slices.ContainsFunc(t.Inputs, f) || slices.ContainsFunc(t.Outputs, f) {
			some = append(some, t)
		}
	}
	return some
}

// Filter returns the boxes for which f is true.
func Filter(boxes []*Box, f func(*Box) bool) (some []*Box) {
	for _, b := range boxes {
		if f(b) {
			some = append(some, b)
		}
	}
	return some
}

// Tokens returns the ids of all tokens in boxes, in the order of their first occurrence.
func Tokens(boxes []*Box) (ids []string) {
	known := map[string]bool{}
	for _, b := range boxes {
		for _, x := range b.Tokens {
			if x.Amount > 0 && !known[x.ID] {
				known[x.ID] = true
				ids = append(ids, x.ID)
			}
		}
	}
	return ids
}

// Some returns at most n of items, random ones.
func Some[T any](rng *rand.Rand, items []T, n int) []T {
	items = slices.Clone(items)
	rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items[:min(n, len(items))]
}
