package explorer

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/api/ratelimit"
	"birthmark/core/query"
	"birthmark/core/query/richest"
)

// The cost of a page depends on the number of rows that it reads, as in the API. A page is charged once.
func TestPagesThatReadManyRowsCostMore(t *testing.T) {
	db := bitcoin(t)
	most := ""
	err := db.View(t.Context(), func(view *query.View) error {
		ranking, err := richest.Of(t.Context(), view.Queries, "address", "", 10_000)
		if err != nil {
			return err
		}
		for _, value := range ranking.Values {
			if value.UnspentCount > 20 {
				most = value.Value
			}
		}
		return nil
	})
	if err != nil || most == "" {
		t.Fatalf("no address has many outputs: %v", err)
	}
	const few = "12c6DSiU4Rq3P4ZxziKxzrL5LmMBrzjrJX" // has one output
	before := freeRows
	defer func() { freeRows = before }()
	freeRows = 20 // the first row of a search counts as 17
	const burst = 1000
	o := ratelimit.Defaults()
	o.Rate = ratelimit.Rate{PerSecond: 1e-9, Burst: burst}
	for path, cost := range map[string]int{
		"/bitcoin":                        1,
		"/bitcoin/blocks":                 1,
		"/bitcoin/address/" + few:         1,
		"/bitcoin/address/" + most:        1 + ratelimit.Heavy,
		"/bitcoin/richest/address":        1 + ratelimit.Heavy,
		"/bitcoin/address/" + most + "?x": 1 + ratelimit.Heavy,
	} {
		w := httptest.NewRecorder()
		ratelimit.New(o, explorerOf(t, chainOf("bitcoin", db, nil))).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		var left int
		_, err := fmt.Sscanf(w.Header().Get("Ratelimit"), `"client";r=%d`, &left)
		if err != nil || w.Code != 200 || burst-left != cost {
			t.Errorf("%s: %d, costs %d, expected %d; %v", path, w.Code, burst-left, cost, err)
		}
	}
	o.Rate.Burst = 5
	o.Expensive, o.Wait = 2, 0
	h := ratelimit.New(o, explorerOf(t, chainOf("bitcoin", db, nil)))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/bitcoin/address/"+most, nil))
	if w.Code != 429 || !strings.Contains(w.Body.String(), "Too many requests") {
		t.Errorf("beyond the rate: %d %s", w.Code, w.Body)
	}
}
