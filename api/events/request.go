package events

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"birthmark/core/query"
	"birthmark/model"
)

// Names of the query's parameters.
const (
	paramFollow = "follow"
	paramSpends = "spends"
	paramSparse = "sparse"
	paramFrom   = "from"
	paramLast   = "last_event_id"
)

var parameters = []string{paramFollow, paramSpends, paramSparse, paramFrom, paramLast}

// Where a client begins that has no event id.
const (
	fromTip    = "tip"
	fromOrigin = "origin"
)

// wanted is what a client asks for.
type wanted struct {
	what   query.ChangeFilter
	from   string         // fromTip, fromOrigin, or empty: height
	height model.HeightPk // the first block that is told of
	after  *[]anchor      // of the event id, which counts before from; nil: there is none
	named  []query.Term   // the terms as answers have them; nil: there are none, or not all are known yet
}

// tipsOnly reports whether blocks are all that is told of.
func (w *wanted) tipsOnly() bool { return w.what.Term == (query.Term{}) && w.what.EveryBlock }

// read reads a request. Errors are of kind Usage.
func (i ids) read(r *http.Request) (w wanted, err error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return w, badValue("the query %.80q cannot be read: expected NAME=VALUE&…, percent-encoded", r.URL.RawQuery)
	}
	for name, values := range q {
		if !slices.Contains(parameters, name) {
			return w, model.Errorf(model.Usage, "unknown_parameter", "unknown parameter %.80q: expected %s", name, strings.Join(parameters, ", "))
		}
		if len(values) > 1 && name != paramFollow {
			return w, badValue("parameter %s is given %d times: expected one", name, len(values))
		}
	}
	for n, text := range q[paramFollow] {
		t := query.Term{}
		var ok bool
		if t.Index, t.Value, ok = strings.Cut(text, "="); t.Index == "" || ok && t.Value == "" {
			return w, badValue("parameter %s: expected INDEX=VALUE or INDEX, not %.80q", paramFollow, text)
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
	for name, on := range map[string]bool{paramSpends: w.what.Spends, paramSparse: sparse} {
		if on && !q.Has(paramFollow) {
			return w, badValue("parameter %s: expected only with %s", name, paramFollow)
		}
	}
	switch w.from = q.Get(paramFrom); w.from {
	case fromTip, fromOrigin:
	case "":
		w.from = fromTip
	default:
		height, err := strconv.ParseUint(w.from, 10, 32)
		if err != nil || height > model.MaxHeight {
			return w, badValue("parameter %s: expected a height, %s or %s, not %.80q", paramFrom, fromOrigin, fromTip, w.from)
		}
		w.from, w.height = "", model.HeightPk(height)
	}
	// A client that was given one in the query says the newer one in the header when it connects again.
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
		return false, badValue("parameter %s: expected true or false, not %.80q", name, text)
	}
	return text == "true", nil
}

func badValue(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_value", format, args...)
}
