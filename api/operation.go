package api

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/api/docs"
	"birthmark/api/exchange"
	"birthmark/core/pending"
	"birthmark/core/query"
)

// operation is a kind of request about a chain.
type operation struct {
	docs.Operation

	path  string   // below the chain: /tx/{hash}
	args  []string // names of the values in the path, in order
	query []*parameter
	body  func() any // returns a new request body; nil: the operation has none

	volatile bool // the ETag is made of the body, since the tip and the indexes do not determine the answer
	pending  bool // of the unconfirmed transactions: [request.overlay] is set
	unpaged  bool // a list without cursors
	lasting  bool // not in the cache of the tip: [request.block] has a cache of its own

	node    nodeAsker // the node answers; nil: the database
	submits bool      // to the node

	ask     asker
	entries func(answer any) (_ iter.Seq[any], next *string) // of a list with pages; nil: not such a list
}

// asker answers a request from one snapshot.
type asker = func(ctx context.Context, v *query.View, q *request) (any, error)

// request is a request for an operation of a chain.
type request struct {
	r     *exchange.Request // nil in a call that can outlast it
	chain *chain
	op    *operation
	args  []string
	body  any // nil: none

	page     query.Page
	gap      int // of wallets; 0: the default
	within   query.Range
	at       query.Moment
	unit     string // of the periods of a grouped history; empty: not grouped
	terms    query.Terms
	asset    string
	selected query.HistoryFilter
	prefix   *string
	text     string // to search for
	node     nodeQuestion
	snapshot *query.View // that a streamed list reads

	rawAmounts bool // of CSV
	limited    bool // the request has a limit

	mempool bool             // the answer has unconfirmed transactions
	overlay *pending.Overlay // for the tip of the snapshot; nil without mempool
	byRate  bool             // order of a list of unconfirmed transactions

	final   bool   // the answer can no longer change: see [chain.final]
	cacheAs string // key of the answer in the cache of blocks; empty: not cached there
}

// get returns an operation with method GET. The {names} in the path are its arguments.
func get(id, path, tag, summary, doc string, answer any, ask asker) *operation {
	op := &operation{path: path, ask: ask, Operation: docs.Operation{Answer: answer, Operation: huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: "/v1/{chain}" + path, Tags: []string{tag}, Summary: summary, Description: doc,
		Parameters: []*huma.Param{chainArgument},
	}}}
	for word := range strings.SplitSeq(path[1:], "/") {
		if name, ok := strings.CutPrefix(word, "{"); ok {
			arg := pathArguments[strings.TrimSuffix(name, "}")]
			op.args, op.Parameters = append(op.args, arg.Name), append(op.Parameters, arg)
		}
	}
	return op
}

// post returns an operation whose body has a list of items.
func post[B any](
	id, path, summary, doc string, answer any, ask func(ctx context.Context, v *query.View, body *B) (any, error),
) *operation {
	op := get(id, path, "batch", summary, doc, answer, func(ctx context.Context, v *query.View, q *request) (any, error) {
		return ask(ctx, v, q.body.(*B))
	})
	op.Method = http.MethodPost
	op.body, op.Body = func() any { return new(B) }, new(B)
	return op
}

func (op *operation) with(ps ...[]*parameter) *operation {
	added := slices.Concat(ps...)
	op.query = append(op.query, added...)
	for _, p := range added {
		op.Parameters = append(op.Parameters, &p.Param)
	}
	return op
}

func (op *operation) shown(e docs.Example) *operation {
	op.Example = e
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
	op.Entry = *new(E)
	return op.with([]*parameter{rawParameter})
}

// The examples show the first payment, from Satoshi to Hal Finney in block 170, and an address that wallets find by its
// script, too.
const (
	firstPayment = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	anAddress    = "1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu"
)

// chainArgument is the first argument of all paths, and pathArguments are the others by name.
var (
	chainArgument = pathArgument("chain", "The name of a chain as `/v1` lists it: `bitcoin` for mainnet, `bitcoin-testnet4` for another network.", "bitcoin")
	pathArguments = map[string]*huma.Param{
		"block":  pathArgument("block", "A height, a hash, `tip`, or `tip-N`, the block N below the tip.", "170"),
		"hash":   pathArgument("hash", "The hash of the transaction.", firstPayment),
		"output": pathArgument("output", "`TXHASH:N`; on Ergo also a box id.", firstPayment+":1"),
		"index":  pathArgument("index", "The name of an index, such as `address`.", "address"),
		"value":  pathArgument("value", "A value of the index, such as an address. Write a slash in it as %2F.", anAddress),
		"series": pathArgument("series", "The name of a series, such as `transactions` or `address.active`.", "transactions"),
		"asset":  pathArgument("asset", "The id of an asset, or its fingerprint.", ""),
	}
)

func pathArgument(name, doc, example string) *huma.Param {
	p := &huma.Param{Name: name, In: "path", Required: true, Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	if example != "" {
		p.Example = example
	}
	return p
}
