package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"birthmark/api/problem"
	"birthmark/core/query"
	"birthmark/model"
)

// parameter is a query parameter. It has the name of the flag of the command line.
type parameter struct {
	name     string
	kind     string // boolean, integer or string
	many     bool   // can be repeated
	doc      string
	example  any
	enum     []any
	fallback any        // the default
	bounds   [2]float64 // of an integer
	expected string

	set func(q *request, value string) bool // returns false for an invalid value
}

var (
	limitParameter = &parameter{
		name: "limit", kind: "integer", doc: "Maximum number of entries, 1 to 10,000. Of a streamed list: in total; without it there is no limit.",
		example: 3, fallback: query.DefaultLimit, bounds: [2]float64{1, query.MaxLimit}, expected: "a number from 1 to " + strconv.Itoa(query.MaxLimit),
		set: func(q *request, value string) bool {
			n, err := strconv.Atoi(value)
			q.page.Limit = n
			return err == nil && n >= 1 && n <= query.MaxLimit
		},
	}
	afterParameter = &parameter{
		name: "after", kind: "string", doc: "Continue after the page with this `next`. A cursor is only valid with the same terms, range and order.",
		expected: "the value of next of the previous page",
		set: func(q *request, value string) bool {
			q.page.After = value
			return value != ""
		},
	}
	orderParameter = &parameter{
		name: "order", kind: "string", doc: "`asc`, oldest first, or `desc`, newest first.",
		example: "desc", enum: []any{"asc", "desc"}, fallback: "asc", expected: "asc or desc",
		set: func(q *request, value string) bool {
			q.page.Descending = value == "desc"
			return value == "asc" || value == "desc"
		},
	}
	unspentParameter = &parameter{
		name: "unspent", kind: "boolean", doc: "Only unspent outputs.",
		example: true, fallback: false, expected: "true or false",
		set: func(q *request, value string) bool {
			q.terms.Unspent = value == "true"
			return value == "true" || value == "false"
		},
	}
	andParameter = &parameter{
		name: "and", kind: "string", many: true, doc: "Only outputs that also have this value: `INDEX=VALUE`.",
		expected: "INDEX=VALUE",
		set:      func(q *request, value string) bool { return addTerm(&q.terms.And, value) },
	}
	orParameter = &parameter{
		name: "or", kind: "string", many: true, doc: "Also outputs with this value: `INDEX=VALUE`.",
		expected: "INDEX=VALUE",
		set:      func(q *request, value string) bool { return addTerm(&q.terms.Or, value) },
	}
	assetParameter = &parameter{
		name: "asset", kind: "string", doc: "Balances of the asset with this id or fingerprint instead of the coin of the chain.",
		expected: "the id or fingerprint of an asset",
		set: func(q *request, value string) bool {
			q.asset = value
			return value != ""
		},
	}
	prefixParameter = &parameter{
		name: "prefix", kind: "string", doc: "Only values with this prefix, in alphabetical order. The index needs the option prefix. Empty: all.",
		expected: "text",
		set: func(q *request, value string) bool {
			q.prefix = &value
			return true
		},
	}
)

var (
	pageParameters    = []*parameter{limitParameter, afterParameter}
	orderedParameters = []*parameter{limitParameter, afterParameter, orderParameter}
	rangeParameters   = []*parameter{
		heightParameter("height-from", "First block.", func(r *query.Range) **model.HeightPk { return &r.FromHeight }),
		heightParameter("height-to", "Last block, inclusive.", func(r *query.Range) **model.HeightPk { return &r.ToHeight }),
		timeParameter("time-from", "First block not before this time: Unix seconds, or RFC 3339.", func(r *query.Range) **int64 { return &r.FromTime }),
		timeParameter("time-to", "Last block not after this time, inclusive.", func(r *query.Range) **int64 { return &r.ToTime }),
	}
)

// eventParameters document the parameters of package events, which parses them.
var eventParameters = []*parameter{
	{name: "follow", kind: "string", many: true, doc: "Send outputs with this value, `INDEX=VALUE`, or with any value of an index, `INDEX`.", example: []string{"address=" + satoshi}},
	{name: "spends", kind: "boolean", doc: "Also send the inputs that spend them.", fallback: false},
	{name: "sparse", kind: "boolean", doc: "Skip blocks without such outputs.", fallback: false},
	{name: "from", kind: "string", doc: "Start with the block at this height, `origin`, or `tip`.", fallback: "tip"},
	{name: "last_event_id", kind: "string", doc: "Resume after this event, for clients that cannot set the header `Last-Event-ID`."},
}

func heightParameter(name, doc string, of func(*query.Range) **model.HeightPk) *parameter {
	return &parameter{
		name: name, kind: "integer", doc: doc, bounds: [2]float64{0, model.MaxHeight}, expected: "a height from 0 to " + strconv.Itoa(model.MaxHeight),
		set: func(q *request, value string) bool {
			n, err := strconv.ParseUint(value, 10, 32)
			h := model.HeightPk(n)
			*of(&q.within) = &h
			return err == nil && n <= model.MaxHeight
		},
	}
}

func timeParameter(name, doc string, of func(*query.Range) **int64) *parameter {
	return &parameter{
		name: name, kind: "string", doc: doc, expected: "Unix seconds, or a time such as 2026-11-21T12:00:00Z",
		set: func(q *request, value string) bool {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				t, err := time.Parse(time.RFC3339, value)
				if err != nil {
					return false
				}
				n = t.Unix()
			}
			*of(&q.within) = &n
			return true
		},
	}
}

func addTerm(terms *[]query.Term, text string) bool {
	index, value, ok := strings.Cut(text, "=")
	*terms = append(*terms, query.Term{Index: index, Value: value})
	return ok && index != "" && value != ""
}

// parse reads the query. It rejects unknown parameters: a typing error must not return the answer to another question.
func (q *request) parse(raw string) error {
	var given uint64 // bits of op.query
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return problem.New(http.StatusBadRequest, "bad_value", "query: invalid percent-encoding %q", pair)
		}
		i := q.op.parameter(name)
		if i < 0 {
			return q.op.unknownParameter(name)
		}
		p := q.op.query[i]
		if given&(1<<i) != 0 && !p.many {
			return problem.New(http.StatusBadRequest, "bad_value", "%s: given more than once", name)
		}
		given |= 1 << i
		if !p.set(q, value) {
			return problem.New(http.StatusBadRequest, "bad_value", "%s: invalid value %q: expected %s", name, value, p.expected)
		}
	}
	return nil
}

func (op *operation) parameter(name string) int {
	for i, p := range op.query {
		if p.name == name {
			return i
		}
	}
	return -1
}

func (op *operation) unknownParameter(name string) error {
	if len(op.query) == 0 {
		return problem.New(http.StatusBadRequest, "unknown_parameter", "unknown parameter %q: %s has no parameters", name, op.pattern)
	}
	var names []string
	for _, p := range op.query {
		names = append(names, p.name)
	}
	return problem.New(http.StatusBadRequest, "unknown_parameter", "unknown parameter %q: %s has %s", name, op.pattern, strings.Join(names, ", "))
}
