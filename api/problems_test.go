package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/model"
)

func TestInvalidRequestsAreProblems(t *testing.T) {
	h := bitcoinAPI(t)
	for _, c := range []struct {
		method, path string
		status       int
		code, detail string
	}{
		{"GET", "/v1/dogecoin/status", 404, "unknown_chain", `no chain "dogecoin": this server has bitcoin`},
		{"GET", "/v1/a%2Fb/status", 404, "unknown_chain", `no chain "a/b"`},
		{"GET", "/v1/bitcoin?limit=1", 400, "unknown_parameter", "/v1/{chain} has no parameters"},
		{"GET", "/v1/bitcoin/nothing", 404, "unknown_path", "below /v1/bitcoin there are status, tip, indexes, search, forks"},
		{"GET", "/v1/bitcoin/nothing/", 404, "unknown_path", "asset/{asset}/events"},
		{"GET", "/v1/bitcoin/output", 404, "unknown_path", "tx/{hash}"},
		{"GET", "/v1/bitcoin/tx/00/11", 404, "unknown_path", "tx/{hash}/raw"},
		{"GET", "/v1/bitcoin/find/address/a/b", 404, "unknown_path", "%2F"},
		{"GET", "/v2", 404, "unknown_path", "/v1"},
		{"POST", "/v1/bitcoin/status", 405, "method_not_allowed", "use GET, HEAD"},
		{"DELETE", "/v1/bitcoin/outputs", 405, "method_not_allowed", "use POST"},
		{"GET", "/v1/bitcoin/outputs", 405, "method_not_allowed", "use POST"},
		{"POST", "/v1", 405, "method_not_allowed", "use GET, HEAD"},
		{"PUT", "/openapi.json", 405, "method_not_allowed", "use GET, HEAD"},
		{"GET", "/v1?limit=1", 400, "unknown_parameter", `"limit": /v1 has no parameters`},
		{"GET", "/v1/bitcoin/status?limit=1", 400, "unknown_parameter", `"limit": /v1/{chain}/status has no parameters`},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?unspend=true", 400, "unknown_parameter", `"unspend": /v1/{chain}/find/{index}/{value} has gap, unspent, and, or, height_from`},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?format=csv", 400, "unknown_parameter", `; the header Accept names the format: application/json, application/x-ndjson or text/csv`},
		{"GET", "/v1/bitcoin/balance/address/" + satoshi + "?format=csv", 400, "unknown_parameter", `"format": /v1/{chain}/balance/{index}/{value} has `},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?unspent=yes", 400, "bad_value", `unspent: invalid value "yes": expected true or false`},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?unspent", 400, "bad_value", `unspent: invalid value "": expected true or false`},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?limit=0", 400, "bad_value", `limit: invalid value "0": expected a number from 1 to 10000`},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?limit=10001", 400, "bad_value", "limit"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?limit=1&limit=2", 400, "bad_value", "limit: given more than once"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?order=up", 400, "bad_value", `order: invalid value "up": expected asc or desc`},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?after=", 400, "bad_value", "expected the value of next"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?after=AAAA", 400, "bad_cursor", "AAAA"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?and=address", 400, "bad_value", "expected INDEX=VALUE"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?height_from=-1", 400, "bad_value", "expected a height from 0"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?time_to=noon", 400, "bad_value", "expected Unix seconds"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?height_from=1&height-from=1", 400, "bad_value", "height-from: given more than once"},
		{"GET", "/v1/bitcoin/balance/address/" + satoshi + "?at_height=1&at_time=1", 400, "bad_value", "expected one of them"},
		{"GET", "/v1/bitcoin/balance/address/" + satoshi + "?at_height=9000000", 400, "empty_range", "no such block: its tip is"},
		{"GET", "/v1/bitcoin/history/address/" + satoshi + "?group_by=year", 400, "bad_value", "expected hour, day, week, month"},
		{"GET", "/v1/bitcoin/find/address/" + satoshi + "?limit=%zz", 400, "bad_value", "invalid percent-encoding"},
		{"GET", "/v1/bitcoin/find/colour/red", 400, "unknown_index", "colour"},
		{"GET", "/v1/bitcoin/find/address/", 404, "unknown_path", "find/{index}/{value}"},
		{"GET", "/v1/bitcoin/find/address/no%2Fsuch%FF", 400, "bad_value", "address"},
		{"GET", "/v1/bitcoin/balance/address/1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", 400, "bad_value", "address"},
		{"GET", "/v1/bitcoin/tx/" + lastHash, 404, "unknown_tx", "no transaction " + lastHash},
		{"GET", "/v1/bitcoin/tx/zz", 400, "bad_value", "zz"},
		{"GET", "/v1/bitcoin/tx/" + firstPayment + "/raw", 400, "no_raw", "birthmark index add raw"},
		{"GET", "/v1/bitcoin/block/99999999", 404, "unknown_block", "99999999"},
		{"GET", "/v1/bitcoin/output/" + firstPayment + ":7", 404, "unknown_output", "no output 7"},
		{"GET", "/v1/bitcoin/search", 400, "missing_parameter", "missing parameter q: expected a text to search for"},
		{"GET", "/v1/search?q=", 400, "bad_value", "expected a text to search for"},
		{"POST", "/v1/search?q=170", 405, "method_not_allowed", "use GET, HEAD"},
		{"GET", "/v1/bitcoin/values/address?prefix=1", 400, "not_kept", "prefix: true"},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		wantProblem(t, w, c.status, c.code, c.detail)
		if c.status == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", c.method, c.path)
		}
	}
}

func TestContentNegotiation(t *testing.T) {
	h := bitcoinAPI(t)
	for _, c := range []struct {
		accept string
		one    string // content type of a single object
		list   string
	}{
		{"", "application/json", "application/json"},
		{"*/*", "application/json", "application/json"},
		{"application/json", "application/json", "application/json"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/json", "application/json"},
		{"application/*", "application/json", "application/json"},
		{"application/x-ndjson", "", "application/x-ndjson"},
		{"application/x-ndjson, application/json", "application/json", "application/x-ndjson"},
		{"text/csv", "", "text/csv; charset=utf-8"},
		{"text/csv;q=0.5, application/json", "application/json", "application/json"},
		{"text/csv;q=0.9, application/x-ndjson", "", "application/x-ndjson"},
		{"application/json, application/x-ndjson;q=0.5", "application/json", "application/json"},
		{"APPLICATION/X-NDJSON ; q=1.0, */*;q=0.1", "application/json", "application/x-ndjson"},
		{"application/x-ndjson;q=0, */*", "application/json", "application/json"},
		{"application/x-ndjson;q=2, */*;q=0.1", "application/json", "application/json"},
		{"application/x-ndjson;q=-1, */*;q=0.1", "application/json", "application/json"},
		{"application/json;q=0, */*", "", ""},
		{"text/html", "", ""},
		{"application/json;q=nonsense", "", ""},
	} {
		for path, want := range map[string]string{"block/170": c.one, "blocks?limit=1": c.list} {
			var headers []string
			if c.accept != "" {
				headers = []string{"Accept", c.accept}
			}
			w := ask(h, "GET", "/v1/bitcoin/"+path, "", headers...)
			if want == "" {
				wantProblem(t, w, 406, "not_acceptable", "application/json")
			} else if got := w.Header().Get("Content-Type"); w.Code != 200 || got != want {
				t.Errorf("%s, Accept: %s: %d %s, expected %s", path, c.accept, w.Code, got, want)
			}
		}
	}
}

// failing is a chain whose database fails with an error, or panics if the error is nil.
func failing(t testing.TB, err error) *served.Chain {
	c := of("bitcoin", real(t))
	c.View = func(ctx context.Context, fn func(*query.View) error) error {
		if err == nil {
			panic("at /secret/place")
		}
		return fmt.Errorf("/secret/place: %w", err)
	}
	return c
}

func TestInternalErrorsAreLoggedAndHidden(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		code   string
		logged bool
	}{
		{nil, 500, "internal", true},
		{errors.New("checksum mismatch"), 500, "internal", true},
		{model.Errorf(model.Refused, "index_building", "half"), 503, "index_building", false},
		{context.DeadlineExceeded, 503, "timeout", true},
	} {
		h, log := handler(t, api.Options{Chains: []*served.Chain{failing(t, c.err)}}, nil)
		w := ask(ratelimit.New(ratelimit.Options{Log: slog.New(slog.NewTextHandler(log, nil))}, h), "GET", "/v1/bitcoin/status", "")
		wantProblem(t, w, c.status, c.code, "")
		if c.code != "index_building" && strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: the answer exposes %s", c.err, w.Body)
		}
		if got := strings.Contains(log.String(), "route=/v1/{chain}/status") && strings.Contains(log.String(), "/secret/place"); got != c.logged {
			t.Errorf("%v: logged is %t: %s", c.err, got, log)
		}
		if c.status == 503 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%v: no Retry-After", c.err)
		}
	}
}

func TestARequestEndsWithItsContext(t *testing.T) {
	h := bitcoinAPI(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/v1/bitcoin/richest/address", nil))
	wantProblem(t, w, http.StatusServiceUnavailable, "timeout", "")
}

func TestNamesOfChainsAreValidInPaths(t *testing.T) {
	db := real(t)
	for _, names := range [][]string{{""}, {"a/b"}, {"bitcoin", "bitcoin"}} {
		var o api.Options
		for _, name := range names {
			o.Chains = append(o.Chains, of(name, db))
		}
		if _, err := api.New(o); err == nil {
			t.Errorf("chains %q are accepted", names)
		}
	}
}

// A slash at the end of a path is ignored.
func TestSlashAtTheEndIsIgnored(t *testing.T) {
	h := bitcoinAPI(t)
	for _, path := range []string{"/v1", "/v1/bitcoin", "/v1/bitcoin/status", "/v1/bitcoin/block/170", "/v1/bitcoin/balance/address/" + satoshi, "/v1/bitcoin/tx/" + firstPayment + "/raw"} {
		r, slash := httptest.NewRequest("GET", path, nil), httptest.NewRequest("GET", path+"/", nil)
		one, two := httptest.NewRecorder(), httptest.NewRecorder()
		h.ServeHTTP(one, r)
		h.ServeHTTP(two, slash)
		if one.Code != two.Code || one.Body.String() != two.Body.String() || r.Pattern != slash.Pattern || r.Pattern == "" {
			t.Errorf("%s: %d %q, with a slash %d %q %s", path, one.Code, r.Pattern, two.Code, slash.Pattern, two.Body)
		}
	}
}

// The document of a chain lists its operations, and each exists.
func TestChainsListTheirOperations(t *testing.T) {
	h := bitcoinAPI(t)
	var a api.ChainAnswer
	if err := json.Unmarshal(ask(h, "GET", "/v1/bitcoin", "").Body.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	if a.Name != "bitcoin" || a.Chain != "bitcoin" || a.Network != "mainnet" || a.Tip == nil || a.Documentation != "/docs" || len(a.Operations) < 25 {
		t.Errorf("%+v", a)
	}
	for _, op := range a.Operations {
		path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(op.Path, "0")
		if w := ask(h, op.Method, path, "{}", "Content-Type", "application/json"); op.Summary == "" || strings.Contains(w.Body.String(), "unknown_path") {
			t.Errorf("%+v: %d %s", op, w.Code, w.Body)
		}
	}
}
