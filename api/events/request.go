package events

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/watchlist"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/model"
)

// Names of query parameters.
const (
	paramFollow  = "follow"
	paramWatch   = "watch"
	paramSpends  = "spends"
	paramSparse  = "sparse"
	paramMempool = "mempool"
	paramDepth   = "confirmations"
	paramFrom    = "from"
	paramLast    = "last_event_id"
)

var parameters = []string{paramFollow, paramWatch, paramSpends, paramSparse, paramMempool, paramDepth, paramFrom, paramLast, paramGap}

// MaxConfirmations is the maximum number of confirmations of a request.
const MaxConfirmations = 100_000

// Values of from.
const (
	fromTip    = "tip"
	fromOrigin = "origin"
)

type request struct {
	what    changes.Filter
	mempool bool            // also unconfirmed transactions; without terms only their number
	from    string          // fromTip, fromOrigin, or empty: height
	height  model.HeightPk  // first block to send
	after   *[]anchor       // of the event id, which overrides from; nil: none
	watch   string          // id of a watch list; empty: none
	list    *watchlist.List // of watch, or of wallets in the terms
	gap     int             // of these wallets
	named   []query.Term    // terms in the form of answers; nil: none, or some are not known yet
}

// tipsOnly reports whether the request has no terms and no watch list.
func (w *request) tipsOnly() bool {
	return w.what.Term == (query.Term{}) && w.list == nil && w.what.EveryBlock
}

// read parses a request. Errors are of kind Usage.
func (i ids) read(r *http.Request) (w request, err error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return w, badValue("invalid query %.80q: expected NAME=VALUE&…, percent-encoded", r.URL.RawQuery)
	}
	q := url.Values{}
	for name, values := range given {
		name = strings.ReplaceAll(name, "-", "_") // accepted, as in all operations
		q[name] = append(q[name], values...)
	}
	for name, values := range q {
		if !slices.Contains(parameters, name) {
			return w, model.Errorf(model.Usage, "unknown_parameter", "unknown parameter %.80q: expected %s", name, strings.Join(parameters, ", "))
		}
		if len(values) > 1 && name != paramFollow {
			return w, badValue("%s: given %d times", name, len(values))
		}
	}
	for n, text := range q[paramFollow] {
		t := query.Term{}
		var ok bool
		if t.Index, t.Value, ok = strings.Cut(text, "="); t.Index == "" || ok && t.Value == "" {
			return w, badValue("%s: invalid value %.80q: expected INDEX=VALUE or INDEX", paramFollow, text)
		}
		if n == 0 {
			w.what.Term = t
		} else {
			w.what.Or = append(w.what.Or, t)
		}
	}
	if w.what.Spends, err = boolean(q, paramSpends); err != nil {
		return w, err
	}
	sparse, err := boolean(q, paramSparse)
	if err != nil {
		return w, err
	}
	w.what.EveryBlock = !sparse
	switch text := q.Get(paramMempool); {
	case text == "include":
		w.mempool = true
	case q.Has(paramMempool) && text != "exclude":
		return w, badValue("%s: invalid value %.80q: expected include or exclude", paramMempool, text)
	}
	if w.watch = q.Get(paramWatch); q.Has(paramWatch) && w.watch == "" {
		return w, badValue("%s: expected the id of a watch list", paramWatch)
	}
	for name, on := range map[string]bool{paramSpends: w.what.Spends, paramSparse: sparse} {
		if on && !q.Has(paramFollow) && w.watch == "" {
			return w, badValue("%s needs %s or %s", name, paramFollow, paramWatch)
		}
	}
	if text := q.Get(paramDepth); q.Has(paramDepth) {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n < 1 || n > MaxConfirmations {
			return w, badValue("%s: invalid value %.80q: expected a number from 1 to %d", paramDepth, text, MaxConfirmations)
		}
		if w.what.Confirmations = int(n); w.mempool {
			return w, badValue("%s and %s: expected one of them", paramDepth, paramMempool)
		}
	}
	w.gap = watchlist.DefaultGap
	if text := q.Get(paramGap); q.Has(paramGap) {
		if w.gap, err = strconv.Atoi(text); err != nil || w.gap < 1 || w.gap > watchlist.MaxGap {
			return w, badValue("%s: invalid value %.80q: expected a number from 1 to %d", paramGap, text, watchlist.MaxGap)
		}
	}
	switch w.from = q.Get(paramFrom); w.from {
	case fromTip, fromOrigin:
	case "":
		w.from = fromTip
	default:
		height, err := strconv.ParseUint(w.from, 10, 32)
		if err != nil || height > model.MaxHeight {
			return w, badValue("%s: invalid value %.80q: expected a height, %s or %s", paramFrom, w.from, fromOrigin, fromTip)
		}
		w.from, w.height = "", model.HeightPk(height)
	}
	// After a reconnect the header has a newer id than the query.
	id := r.Header.Get("Last-Event-ID")
	if id == "" {
		id = q.Get(paramLast)
	}
	if id != "" {
		anchors, err := i.parse(id)
		if err != nil {
			return w, err
		}
		w.after = &anchors
	}
	return w, nil
}

func boolean(q url.Values, name string) (bool, error) {
	text := q.Get(name)
	if q.Has(name) && text != "true" && text != "false" {
		return false, badValue("%s: invalid value %.80q: expected true or false", name, text)
	}
	return text == "true", nil
}

func badValue(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_value", format, args...)
}
