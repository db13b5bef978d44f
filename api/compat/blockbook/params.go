package blockbook

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"birthmark/model"
)

// accountParams reads the parameters of a question about an account.
func accountParams(r *request) *accountRequest {
	a := &accountRequest{
		page:      pageParam(r),
		details:   choiceParam(r, "details", detailsTxIDs, detailsNames),
		tokens:    choiceParam(r, "tokens", tokensNonzero, tokenFilters),
		direction: choiceParam(r, "filter", anyDirection, directions),
		pageSize:  pageSize(numberParam(r, "pageSize", pageSizeREST, 1<<31-1), pageSizeREST, pageSizeREST),
		gap:       numberParam(r, "gap", 0, 1<<31-1),
		from:      uint32(min(numberParam(r, "from", 0, 1<<40), model.MaxHeight)),
		to:        uint32(min(numberParam(r, "to", 0, 1<<40), model.MaxHeight)),
	}
	a.descriptor, _ = r.Arg("descriptor")
	return a
}

// pageSize returns the size of a page: 0 is the usual one, and more than most is that.
func pageSize(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

// maxPage is the largest number of a page.
const maxPage = 1_000_000

// pageParam returns the requested page, from 0.
func pageParam(r *request) int { return max(numberParam(r, "page", 1, maxPage)-1, 0) }

// numberParam reads a parameter that is a number from 0 to most.
func numberParam(r *request, name string, usual, most int) int {
	text := r.Param(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		r.Refuse(badParameter(name, text, "a number from 0 to "+strconv.Itoa(most)))
	}
	return n
}

// boolParam reads a parameter that is true or false. An empty one is false.
func boolParam(r *request, name string) bool {
	text := r.Param(name)
	b, err := strconv.ParseBool(text)
	if err != nil && text != "" {
		r.Refuse(model.Errorf(model.Usage, "bad_value", "Parameter '%s' cannot be converted to boolean", name))
	}
	return b
}

// choiceParam reads a parameter with a fixed set of values.
func choiceParam[T any](r *request, name string, usual T, choices map[string]T) T {
	text := r.Param(name)
	if text == "" {
		return usual
	}
	c, ok := choices[text]
	if !ok {
		r.Refuse(badParameter(name, text, "one of "+strings.Join(slices.Sorted(maps.Keys(choices)), ", ")))
	}
	return c
}

func badParameter(name, text, expected string) error {
	return model.Errorf(model.Usage, "bad_value", "%s: %.40q is not %s", name, text, expected)
}

// txArg returns the id of a transaction.
func txArg(r *request) string {
	id, _ := r.Arg("txid")
	if _, err := txID(id); err != nil {
		r.Refuse(err)
	}
	return id
}
