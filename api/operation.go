package api

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"birthmark/core"
)

// operation is one question that can be asked of a chain.
type operation struct {
	id      string // of the OpenAPI document, and the name of a client's method
	method  string
	path    string // below the chain: /tx/{hash}
	pattern string // the whole path: /v1/{chain}/tx/{hash}
	tag     string
	summary string
	doc     string

	args   []argument   // the values in path, in order
	query  []*parameter // what may stand behind the question mark
	body   func() batch // a new request body, where there is one
	answer any          // a value of the type of the answer

	// volatile: the answer depends on more than the chain and its indexes, so that its ETag has to.
	volatile bool
	// lasting: what is kept of the answer is kept beyond the tip.
	lasting bool
	// stream: answered by [Options.Events].
	stream bool

	// ask is the answer, from one snapshot.
	ask func(ctx context.Context, v *core.View, q *request) (any, error)
	// entries are what a list holds and the cursor behind it; nil where the answer is no list that goes on.
	entries func(answer any) (iter.Seq[any], *string)
	entry   any // a value of the type of an entry

	example example // what the documentation shows; none where it has no path
}

// argument is a value in a path.
type argument struct{ name, doc, example string }

// example is a request whose answer the documentation shows.
type example struct {
	path string // behind /v1/{chain}
	body string // of a POST
}

// request is what was asked.
type request struct {
	chain *chain
	op    *operation
	args  []string
	body  batch // nil: there is none

	page   core.Page
	within core.Range
	terms  core.Terms
	asset  string
	prefix *string

	keepAs string // the block whose document the answer is; empty: it is none, or one that is kept
}

// get makes an operation that is asked by GET. Of path {values} are arguments.
func get(id, path, tag, summary, doc string, answer any, ask func(ctx context.Context, v *core.View, q *request) (any, error)) *operation {
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

// post makes an operation that asks for many things at once.
func post[B any, P interface {
	*B
	batch
}](
	id, path, summary, doc string, answer any, ask func(ctx context.Context, v *core.View, body P) (any, error),
) *operation {
	op := get(id, path, "batch", summary, doc, answer, func(ctx context.Context, v *core.View, q *request) (any, error) {
		return ask(ctx, v, q.body.(P))
	})
	op.method = http.MethodPost
	op.body = func() batch { return P(new(B)) }
	return op
}

func (op *operation) with(ps ...[]*parameter) *operation {
	for _, p := range ps {
		op.query = append(op.query, p...)
	}
	return op
}

func (op *operation) shown(e example) *operation {
	op.example = e
	return op
}

// listing says where the entries of a list are.
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
