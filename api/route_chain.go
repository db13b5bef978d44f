package api

import (
	"context"
	"net/http"
	"strings"

	"birthmark/api/docs"
	"birthmark/api/events"
	"birthmark/core/query"
	"birthmark/core/query/search"
	"birthmark/model"
)

// chainOperations are the questions about a chain and its database as a whole.
func chainOperations() []*operation {
	status := get("status", "/status", "chain", "Status of the database",
		"Chain, network, tip, indexes, totals, and the rows and bytes of each family.", query.StatusAnswer{},
		func(ctx context.Context, v *query.View, q *request) (any, error) { return v.Status(ctx) })
	tip := get("tip", "/tip", "chain", "Get the tip", "Height, hash and time of the last block.", query.TipAnswer{},
		func(ctx context.Context, v *query.View, q *request) (any, error) { return v.Queries.Tip(ctx) }).
		shown(docs.Example{Path: "/tip"})
	indexes := get("indexes", "/indexes", "chain", "Indexes of the database",
		"The options of each index, and the progress of an index that is being added.", IndexesAnswer{},
		func(ctx context.Context, v *query.View, q *request) (any, error) {
			states, err := v.IndexStatesWithRaw(ctx)
			return &IndexesAnswer{q.chain.Model.Name(), q.chain.Model.Network(), states}, err
		}).shown(docs.Example{Path: "/indexes"})
	forks := listing(get("forks", "/forks", "chain", "Orphaned blocks",
		"The last 1,000 blocks that reorganizations removed, newest first: the depth of each, when it was removed, and "+
			"the block that replaced it.", query.ForksAnswer{},
		func(ctx context.Context, v *query.View, q *request) (any, error) { return v.Forks(ctx, q.page) }).
		with(pageParameters).shown(docs.Example{Path: "/forks"}),
		func(a *query.ForksAnswer) ([]query.LostBlockAnswer, *string) { return a.Forks, a.Next })
	find := get("search", "/search", "chain", "Search",
		"Find what a text names: a block by height or hash, a transaction, confirmed or not, an output, a value of any "+
			"index, an asset by id or fingerprint. Without such a result: an address that was never used. Without one: assets whose name begins with "+
			"the text, of the newest 20,000, and values with this prefix, of indexes with the option `prefix`.",
		search.Results{},
		func(ctx context.Context, v *query.View, q *request) (any, error) {
			unread := false
			a, err := search.Of(ctx, v.Queries, q.chain.Model, q.text, func(id model.Hash) bool {
				unread = q.overlay == nil
				return q.overlay.Contains(id)
			})
			if err == nil && len(a.Results) == 0 && unread && q.chain.Mempool != nil {
				q.mempool = true // the tip does not determine the answer
				return nil, errLookAgain
			}
			return a, err
		}).with([]*parameter{searchParameter}).shown(docs.Example{Path: "/search?q=170"})
	schema := get("schema", "/schema", "reference", "Layout of the database",
		"The column families as Markdown, the text of docs/schema.md, and the indexes that the chain has.", SchemaAnswer{},
		func(_ context.Context, _ *query.View, q *request) (any, error) { return SchemaOf(q.chain.Model) })
	// A chain can return to a tip that it had before, so that the tip does not identify these answers.
	for _, op := range []*operation{status, indexes, forks, schema} {
		op.volatile = true
	}
	return []*operation{status, tip, indexes, find, forks, schema}
}

// fieldsOperation lists the fields that expressions of custom indexes can use.
func fieldsOperation(fields func(chain string) (*FieldsAnswer, error)) *operation {
	op := get("fields", "/fields", "reference", "Fields of expressions",
		"The fields of an output, its transaction and its block that expressions of custom indexes can use, and the functions.",
		FieldsAnswer{},
		func(_ context.Context, _ *query.View, q *request) (any, error) { return fields(q.chain.Model.Name()) })
	op.volatile = true
	return op
}

// eventsOperation streams events; package events serves it.
func eventsOperation() *operation {
	op := get("events", "/events", "chain", "Stream events",
		"Server-sent events of blocks, rollbacks and, for followed values, outputs; with `mempool=include` also of "+
			"unconfirmed transactions. A client resumes from the id of the last event it received. See docs/events.md.", nil, nil)
	return op.with(eventParameters)
}

// watchOperation adds a watch list; package events serves it.
func watchOperation() *operation {
	op := get("watch", "/watch", "chain", "Add a watch list",
		"The body has up to 10 million values of an index, one per line; for Bitcoin also extended public keys and "+
			"descriptors. `events` with `watch` and the id sends the outputs that have one of the values. A list ends with the "+
			"server, and an hour after its last use. See docs/events.md.", events.WatchAnswer{}, nil).with(watchParameters)
	op.Method, op.Upload, op.TextBody = http.MethodPost, true, anAddress
	return op
}

// Uploads reports whether a request has a body that can be large: a watch list.
func Uploads(r *http.Request) bool {
	path := strings.TrimSuffix(r.URL.Path, "/")
	return strings.HasPrefix(path, "/v1/") && strings.HasSuffix(path, "/watch") && strings.Count(path, "/") == 3
}
