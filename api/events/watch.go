package events

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/api/watchlist"
	"birthmark/core/query"
	"birthmark/model"
)

// Names of the parameters of a watch list.
const (
	paramIndex = "index"
	paramGap   = "gap"
)

var watchParameters = []string{paramIndex, paramGap, paramWatch}

// WatchAnswer is the answer to a watch list.
type WatchAnswer struct {
	Watch    string `json:"watch"`
	Index    string `json:"index"`
	Values   int    `json:"values"`
	Accounts int    `json:"accounts,omitempty"`
	Bytes    int64  `json:"bytes"`
}

// WatchHandler adds watch lists of a chain at any path: the body of a POST has one value per line. Errors are problem
// documents: invalid parameters or values (400), an unknown list (404 unknown_watch), a server without lists (404
// no_watch), too much memory (503 watch_full).
func WatchHandler(chain *served.Chain) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := watch(w, r, chain)
		if err != nil {
			problem.Write(w, problem.Of(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(a) // fails only if the client is gone
	})
}

// watch reads the values of a request into a new list, or into the one that it names.
func watch(w http.ResponseWriter, r *http.Request, chain *served.Chain) (*WatchAnswer, error) {
	o, err := readWatch(r)
	if err != nil {
		return nil, err
	}
	lists, err := chain.WatchLists()
	if err != nil {
		return nil, err
	}
	if err := ratelimit.Upload(w, r); err != nil {
		return nil, err
	}
	ctx := r.Context()
	var list *watchlist.List
	if o.list != "" {
		list, err = lists.Acquire(o.list)
	} else {
		var values *watchlist.Values
		err = chain.View(ctx, func(v *query.View) (err error) {
			values, err = watchlist.NewValues(ctx, v.Queries, o.index, o.gap)
			return err
		})
		if err == nil {
			list = lists.Add(values)
		}
	}
	if err != nil {
		return nil, err
	}
	kept := o.list != ""
	defer func() { // after a panic, too
		if !kept {
			list.Discard()
		}
		list.Release()
	}()
	err = list.Read(r.Body, list.Charge)
	if err == nil {
		err = chain.View(ctx, func(v *query.View) error { return list.Extend(ctx, v.Queries) })
	}
	if err == nil {
		err = list.Charge()
	}
	a := &WatchAnswer{Watch: list.ID, Index: list.Index(), Bytes: list.Size()}
	a.Values, a.Accounts = list.Count()
	if err == nil && a.Values == 0 {
		err = model.Errorf(model.Usage, "bad_body", "the body has no values: expected one per line")
	}
	kept = kept || err == nil
	return a, err
}

type watchRequest struct {
	index, list string
	gap         int
}

func readWatch(r *http.Request) (o watchRequest, err error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return o, badValue("invalid query %.80q: expected NAME=VALUE&…, percent-encoded", r.URL.RawQuery)
	}
	for name, values := range q {
		if !slices.Contains(watchParameters, name) {
			return o, model.Errorf(model.Usage, "unknown_parameter", "unknown parameter %.80q: expected %s", name, strings.Join(watchParameters, ", "))
		}
		if len(values) > 1 || values[0] == "" {
			return o, badValue("%s: expected one value", name)
		}
	}
	o = watchRequest{index: watchlist.DefaultIndex, list: q.Get(paramWatch), gap: watchlist.DefaultGap}
	if o.list != "" && len(q) > 1 {
		return o, badValue("%s: the list has its index and gap: expected no other parameter", paramWatch)
	}
	if q.Has(paramIndex) {
		o.index = q.Get(paramIndex)
	}
	if text := q.Get(paramGap); text != "" {
		if o.gap, err = strconv.Atoi(text); err != nil || o.gap < 1 || o.gap > watchlist.MaxGap {
			return o, badValue("%s: invalid value %.80q: expected a number from 1 to %d", paramGap, text, watchlist.MaxGap)
		}
	}
	return o, nil
}

// listWallets moves the extended keys and descriptors in the terms of a request to a watch list of its own.
func (h *handler) listWallets(ctx context.Context, w *request) error {
	chain := h.source.chain
	index, lines := "", []string(nil)
	var rest []query.Term
	for _, t := range append([]query.Term{w.what.Term}, w.what.Or...) {
		switch of, err := model.WalletOf(chain.Model, t.Index, t.Value); {
		case err != nil:
			return err
		case of == nil:
			rest = append(rest, t)
		case index != "" && index != t.Index:
			return badValue("%s: extended keys and descriptors of two indexes: expected one", paramFollow)
		default:
			index, lines = t.Index, append(lines, t.Value)
		}
	}
	if lines == nil {
		return nil
	}
	lists, err := chain.WatchLists()
	if err != nil {
		return err
	}
	var values *watchlist.Values
	if err := chain.View(ctx, func(v *query.View) (err error) {
		values, err = watchlist.NewValues(ctx, v.Queries, index, w.gap)
		return err
	}); err != nil {
		return err
	}
	list := lists.Add(values)
	err = list.Read(strings.NewReader(strings.Join(lines, "\n")), list.Charge)
	if err == nil {
		err = chain.View(ctx, func(v *query.View) error { return list.Extend(ctx, v.Queries) })
	}
	if err == nil {
		err = list.Charge()
	}
	if err != nil {
		list.Discard()
		list.Release()
		return err
	}
	w.list, w.what.Term, w.what.Or = list, query.Term{}, nil
	if len(rest) > 0 {
		w.what.Term, w.what.Or = rest[0], rest[1:]
	}
	return nil
}
