package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/api/events"
	"birthmark/api/problem"
	"birthmark/api/watchlist"
	"birthmark/core/query"
	"birthmark/core/query/blocktime"
	"birthmark/model"
)

// parameter is a query parameter. It has the name of the flag of the command line, with underscores; the dashes of the
// flag are accepted too.
type parameter struct {
	huma.Param // of the OpenAPI document
	expected   string
	set        func(q *request, value string) bool // returns false for an invalid value
}

func newParameter(name, kind, doc, expected string, set func(q *request, value string) bool) *parameter {
	return &parameter{huma.Param{Name: name, In: "query", Description: doc, Schema: &huma.Schema{Type: kind}}, expected, set}
}

// integerParameter returns a parameter for a number from least to most.
func integerParameter(name, doc, expected string, least, most int, set func(q *request, n int)) *parameter {
	expected = fmt.Sprintf("%s from %d to %d", expected, least, most)
	p := newParameter(name, huma.TypeInteger, doc, expected, func(q *request, value string) bool {
		n, err := strconv.ParseUint(value, 10, 31)
		set(q, int(n))
		return err == nil && int(n) >= least && int(n) <= most
	})
	low, high := float64(least), float64(most)
	p.Schema.Format, p.Schema.Minimum, p.Schema.Maximum = "int64", &low, &high
	return p
}

// textParameter returns a parameter for any text except the empty one.
func textParameter(name, doc, expected string, set func(q *request, value string)) *parameter {
	return newParameter(name, huma.TypeString, doc, expected, func(q *request, value string) bool {
		set(q, value)
		return value != ""
	})
}

// choiceParameter returns a parameter with the values "A or B". set receives whether the value is on, one of the two.
func choiceParameter(name, kind, doc, values, on string, set func(q *request, is bool)) *parameter {
	return newParameter(name, kind, doc, values, func(q *request, value string) bool {
		set(q, value == on)
		return slices.Contains(strings.Split(values, " or "), value)
	})
}

// termParameter returns a parameter that can be repeated, each time with a term.
func termParameter(name, doc string, of func(q *request) *[]query.Term) *parameter {
	return newParameter(name, huma.TypeString, doc, "INDEX=VALUE", func(q *request, text string) bool {
		index, value, ok := strings.Cut(text, "=")
		*of(q) = append(*of(q), query.Term{Index: index, Value: value})
		return ok && index != "" && value != ""
	}).repeated()
}

func heightParameter(name, doc string, of func(*request) **model.HeightPk) *parameter {
	return integerParameter(name, doc, "a height", 0, model.MaxHeight, func(q *request, n int) {
		h := model.HeightPk(n)
		*of(q) = &h
	})
}

func timeParameter(name, doc string, of func(*request) **int64) *parameter {
	return newParameter(name, huma.TypeString, doc, "Unix seconds, or a time such as 2026-11-21 or 2026-11-21T12:00:00Z", func(q *request, value string) bool {
		n, ok := query.ParseTime(value, name != "time_from")
		*of(q) = &n
		return ok
	})
}

// repeated allows the parameter more than once.
func (p *parameter) repeated() *parameter {
	explode := true
	p.Schema, p.Style, p.Explode = &huma.Schema{Type: huma.TypeArray, Items: p.Schema}, "form", &explode
	return p
}

// required makes a request without the parameter invalid.
func required(p *parameter) *parameter {
	p.Required = true
	return p
}

// documented sets the example and the default, nil for none, and the possible values if only some are.
func (p *parameter) documented(example, fallback any, enum ...any) *parameter {
	p.Example, p.Schema.Default, p.Schema.Enum = example, fallback, enum
	return p
}

// gapParameter is of operations about values that can be wallets.
var gapParameter = integerParameter("gap", "Of an extended public key or a descriptor: the number of unused addresses in a row "+
	"after which no address of a branch is expected.", "a number", 1, query.MaxGap,
	func(q *request, n int) { q.gap = n }).documented(nil, query.DefaultGap)

var (
	limitParameter = integerParameter("limit", "Maximum number of entries, 1 to 10,000. Of a streamed list: in total; without it there is no limit.",
		"a number", 1, query.MaxLimit, func(q *request, n int) { q.page.Limit, q.limited = n, true }).documented(3, query.DefaultLimit)
	afterParameter = textParameter("after", "Continue after the page with this `next`. A cursor is only valid with the same terms, range and order.",
		"the value of next of the previous page", func(q *request, value string) { q.page.After = value })
	orderParameter = choiceParameter("order", huma.TypeString, "`asc`, oldest first, or `desc`, newest first.", "asc or desc", "desc",
		func(q *request, is bool) { q.page.Descending = is }).documented("desc", "asc", "asc", "desc")
	unspentParameter = choiceParameter("unspent", huma.TypeBoolean, "Only unspent outputs.", "true or false", "true",
		func(q *request, is bool) { q.terms.Unspent = is }).documented(true, false)
	assetParameter = textParameter("asset", "Balances of the asset with this id or fingerprint instead of the coin of the chain.",
		"the id or fingerprint of an asset", func(q *request, value string) { q.asset = value })
	rawParameter = choiceParameter("raw_amounts", huma.TypeBoolean, "In CSV: amounts in the smallest unit and times in Unix seconds.", "true or false", "true",
		func(q *request, is bool) { q.rawAmounts = is }).documented(true, false)
	prefixParameter = newParameter("prefix", huma.TypeString, "Only values with this prefix, in alphabetical order. The index needs the option prefix. Empty: all.",
		"text", func(q *request, value string) bool {
			q.prefix = &value
			return true
		})

	searchParameter = required(textParameter("q", "The text to search for.", "a text to search for",
		func(q *request, value string) { q.text = value }).documented(anAddress, nil))

	pageParameters    = []*parameter{limitParameter, afterParameter}
	orderedParameters = []*parameter{limitParameter, afterParameter, orderParameter}
	termParameters    = []*parameter{
		unspentParameter,
		termParameter("and", "Only outputs that also have this value: `INDEX=VALUE`.", func(q *request) *[]query.Term { return &q.terms.And }),
		termParameter("or", "Also outputs with this value: `INDEX=VALUE`.", func(q *request) *[]query.Term { return &q.terms.Or }),
	}
	rangeParameters = []*parameter{
		heightParameter("height_from", "First block.", func(q *request) **model.HeightPk { return &q.within.FromHeight }),
		heightParameter("height_to", "Last block, inclusive.", func(q *request) **model.HeightPk { return &q.within.ToHeight }),
		timeParameter("time_from", "First block not before this time: Unix seconds, RFC 3339, or a date (UTC).", func(q *request) **int64 { return &q.within.FromTime }),
		timeParameter("time_to", "Last block not after this time, inclusive; of a date, its end.", func(q *request) **int64 { return &q.within.ToTime }),
	}
)

// groupParameter divides a history.
var groupParameter = newParameter("group_by", huma.TypeString, "Instead of transactions, the sums of each `hour`, `day`, `week` (from Monday) "+
	"or `month` with transactions, in UTC.", strings.Join(blocktime.Units, ", "), func(q *request, value string) bool {
	q.unit = value
	return slices.Contains(blocktime.Units, value)
}).documented("day", nil, "hour", "day", "week", "month")

// filterParameters select transactions of a history.
var filterParameters = []*parameter{
	newParameter("direction", huma.TypeString, "Only transactions that increase the balance (`received`) or decrease it (`sent`). A page can have "+
		"fewer transactions than its limit, or none.", "received or sent", func(q *request, value string) bool {
		q.selected.Direction = value
		return value == query.Received || value == query.Sent
	}).documented(query.Sent, nil, query.Received, query.Sent),
	textParameter("asset", "Only transactions that receive or send the asset with this id or fingerprint; `direction` is that of its balance.",
		"the id or fingerprint of an asset", func(q *request, value string) { q.selected.Asset = value }),
}

// momentParameters select a block in the past.
var momentParameters = []*parameter{
	heightParameter("at_height", "The balance after the block at this height.", func(q *request) **model.HeightPk { return &q.at.Height }),
	timeParameter("at_time", "The balance after the last block not after this time: Unix seconds, RFC 3339, or a date (UTC), its end.",
		func(q *request) **int64 { return &q.at.Time }),
}

// eventParameters document the parameters of package events, which parses them.
var eventParameters = []*parameter{
	newParameter("follow", huma.TypeString, "Send outputs with this value, `INDEX=VALUE`, or with any value of an index, `INDEX`.", "", nil).
		repeated().documented([]string{"address=" + anAddress}, nil),
	newParameter("watch", huma.TypeString, "Send outputs with a value of this watch list: the id that `POST /watch` returned.", "", nil),
	newParameter("spends", huma.TypeBoolean, "Also send the inputs that spend them.", "", nil).documented(nil, false),
	newParameter("sparse", huma.TypeBoolean, "Skip blocks without such outputs.", "", nil).documented(nil, false),
	newParameter("mempool", huma.TypeString, "`include` also sends unconfirmed transactions with such outputs, and which of them leave the mempool "+
		"without confirmation; without `follow` only the number of unconfirmed transactions.", "", nil).documented(nil, "exclude", "include", "exclude"),
	integerParameter("confirmations", "Send blocks once they have this number of confirmations. A reorganization of fewer blocks takes nothing "+
		"back. Not with `mempool=include`.", "a number", 1, events.MaxConfirmations, nil).documented(6, 1),
	integerParameter("gap", "Of an extended public key or a descriptor in `follow`: the number of unused addresses in a row after which "+
		"no address of a branch is expected.", "a number", 1, watchlist.MaxGap, nil).documented(nil, watchlist.DefaultGap),
	newParameter("from", huma.TypeString, "Start with the block at this height, `origin`, or `tip`.", "", nil).documented(nil, "tip"),
	newParameter("last_event_id", huma.TypeString, "Resume after this event, for clients that cannot set the header `Last-Event-ID`.", "", nil),
}

// watchParameters document the parameters of watch lists; package events parses them.
var watchParameters = []*parameter{
	newParameter("index", huma.TypeString, "The index of the values.", "", nil).documented(nil, watchlist.DefaultIndex),
	integerParameter("gap", "The number of unused addresses in a row after which no address of a branch of an extended public key is expected.",
		"a number", 1, watchlist.MaxGap, nil).documented(nil, watchlist.DefaultGap),
	newParameter("watch", huma.TypeString, "Add the values to this list.", "", nil),
}

// parse reads the query. It rejects unknown parameters: a typing error must not return the answer to another question.
func (q *request) parse(raw string) error {
	var given uint64 // bits of op.query
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return problem.New(http.StatusBadRequest, "bad_value", "query: invalid percent-encoding %q", pair)
		}
		known := strings.ReplaceAll(name, "-", "_")
		i := slices.IndexFunc(q.op.query, func(p *parameter) bool { return p.Name == known })
		if i < 0 {
			return q.op.unknownParameter(name)
		}
		p := q.op.query[i]
		if given&(1<<i) != 0 && p.Explode == nil {
			return problem.New(http.StatusBadRequest, "bad_value", "%s: given more than once", name)
		}
		given |= 1 << i
		if !p.set(q, value) {
			return problem.New(http.StatusBadRequest, "bad_value", "%s: invalid value %q: expected %s", name, value, p.expected)
		}
	}
	for i, p := range q.op.query {
		if p.Required && given&(1<<i) == 0 {
			return problem.New(http.StatusBadRequest, "missing_parameter", "missing parameter %s: expected %s", p.Name, p.expected)
		}
	}
	return nil
}

func (op *operation) unknownParameter(name string) error {
	if len(op.query) == 0 {
		return problem.New(http.StatusBadRequest, "unknown_parameter", "unknown parameter %q: %s has no parameters", name, op.Path)
	}
	var names []string
	for _, p := range op.query {
		names = append(names, p.Name)
	}
	has := strings.Join(names, ", ")
	if op.entries != nil && name == "format" { // of other APIs
		has += "; the header Accept names the format: " + jsonType + ", " + streamType + " or " + csvType
	}
	return problem.New(http.StatusBadRequest, "unknown_parameter", "unknown parameter %q: %s has %s", name, op.Path, has)
}
