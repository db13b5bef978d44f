package blockfrost

import (
	"cmp"
	"net/http"
	"slices"
)

// Operation is an endpoint with the condition of its answer, or with the reason why it has none.
type Operation struct {
	Method, Path, With, Reason string
	Answers                    int // how many of answer, node and reason it has
	takes                      *parameters
}

// Takes reports whether the query of the operation has a parameter.
func (o Operation) Takes(name string) bool {
	return o.takes != nil && slices.Contains(o.takes.names, name)
}

// Operations returns all endpoints.
func Operations() (all []Operation) {
	for _, e := range endpoints {
		answers := 0
		for _, has := range []bool{e.answer != nil, e.node != nil, e.reason != ""} {
			if has {
				answers++
			}
		}
		all = append(all, Operation{cmp.Or(e.method, http.MethodGet), "/" + e.path, e.with, e.reason, answers, e.takes})
	}
	return all
}
