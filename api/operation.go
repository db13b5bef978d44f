package api

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"birthmark/core/query"
)

// operation is one question that a client can ask about a chain.
type operation struct {
	id      string // in the OpenAPI document, and the method of generated clients
	method  string
	path    string // below the chain: /tx/{hash}
	pattern string // the whole path: /v1/{chain}/tx/{hash}
	tag     string
	summary string
	doc     string

	args   []argument // values in the path, in order
	query  []*parameter
	body   func() batch // returns a new request body; nil: the operation has none
	answer any          // a value of the type of the answer

	volatile bool // the ETag is made of the body, since the tip and the indexes do not determine the answer
	lasting  bool // not in the cache of the tip: [request.block] has a cache of its own
	stream   bool // [Options.Events] answers

	ask     asker
	entries func(answer any) (_ iter.Seq[any], next *string) // of a list with pages; nil: not such a list
	entry   any                                              // a value of the type of an entry

	example example
}

// asker answers a request from one snapshot.
type asker = func(ctx context.Context, v *query.View, q *request) (any, error)

// argument is a value in a path.
type argument struct{ name, doc, example string }

// example is a request whose answer the documentation shows; no path: none.
type example struct {
	path string // below /v1/{chain}
	body string // of a POST
}

// request is a request for an operation of a chain.
type request struct {
	chain *chain
	op    *operation
	args  []string
	body  batch // nil: none

	page   query.Page
	within query.Range
	terms  query.Terms
	asset  string
	prefix *string

	cacheAs string // key of the answer in the cache of blocks; empty: not cached there
}

// get returns an operation with method GET. The {names} in the path are its arguments.
func get(id, path, tag, summary, doc string, answer any, ask asker) *operation {
	op := &operation{
		id: id, method: http.MethodGet, path: path, pattern: "/v1/{chain}" + path, tag: tag, summary: summary, doc: doc,
		answer: answer, ask: ask,
	}
	for word := range strings.SplitSeq(path[1:], "/") {
		if strings.HasPrefix(word, "{") {
			name := strings.Trim(word, "{}")
			op.args = append(op.args, argument{name, argumentDocs[name].doc, argumentDocs[name].example})
		}
	}
	return op
}

// post returns an operation that asks for many things at once.
func post[B any, P interface {
	*B
	batch
}](
	id, path, summary, doc string, answer any, ask func(ctx context.Context, v *query.View, body P) (any, error),
) *operation {
	op := get(id, path, "batch", summary, doc, answer, func(ctx context.Context, v *query.View, q *request) (any, error) {
		return ask(ctx, v, q.body.(P))
	})
	op.method = http.MethodPost
	op.body = func() batch { return P(new(B)) }
	return op
}

// with adds parameters.
func (op *operation) with(ps ...[]*parameter) *operation {
	for _, p := range ps {
		op.query = append(op.query, p...)
	}
	return op
}

// shown sets the example.
func (op *operation) shown(e example) *operation {
	op.example = e
	return op
}

// listing makes op a list with pages: of returns the entries of an answer and the cursor of the next page.
func listing[A, E any](op *operation, of func(*A) ([]E, *string)) *operation {
	op.entries = func(answer any) (iter.Seq[any], *string) {
		list, next := of(answer.(*A))
		return func(yield func(any) bool) {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}, next
	}
	op.entry = *new(E)
	return op
}

// The examples show the first payment, from Satoshi to Hal Finney in block 170.
const (
	firstPayment = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	satoshi      = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
)

// argumentDocs document the arguments of paths by name.
var argumentDocs = map[string]struct{ doc, example string }{
	"block":  {"A height, a hash, or `tip`.", "170"},
	"hash":   {"The hash of the transaction.", firstPayment},
	"output": {"`TXHASH:N`; on Ergo also a box id.", firstPayment + ":1"},
	"index":  {"The name of an index, such as `address`.", "address"},
	"value":  {"A value of the index, such as an address. Write a slash in it as %2F.", satoshi},
	"asset":  {"The id of an asset, or its fingerprint.", ""},
}
