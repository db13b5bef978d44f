package blockfrost_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"birthmark/api/compat/blockfrost"
	"birthmark/core/query"
	"birthmark/model"
)

// wellFormed has a part of a path of each name, which no chain contains.
var wellFormed = map[string]string{
	"stake_address": "stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn",
	"address":       "addr_test1vzpwq95z3xyum8vqndgdd9mdnmafh3djcxnc6jemlgdmswcve6tkw",
	"pool_id":       "pool1pu5jlj4q9w9jlxeu370a3c9myx47md5j5m2str0naunn2q3lkdy",
	"asset":         strings.Repeat("00", 28),
	"policy_id":     strings.Repeat("00", 28),
	"block":         strings.Repeat("00", 32),
	"hash":          strings.Repeat("00", 32),
	"tx_hash":       strings.Repeat("00", 32),
	"script_hash":   strings.Repeat("00", 28),
	"datum_hash":    strings.Repeat("00", 32),
	"drep_id":       "drep_always_abstain",
	"cc_id":         "cc_hot1qdjt7zpx7a8d76y29r4tml9aryff9m6pegz84lttspujfdcrkr62j",
	"gov_action_id": "gov_action1zhuz5djmmmjg8f9s8pe6grfc98xg3szglums8cgm6qwancp4eytqqmpu0pr",
	"xpub":          strings.Repeat("00", 64),
	"slot_number":   "1", "epoch_number": "0", "number": "0", "cert_index": "0", "role": "0", "index": "0", "label": "1",
	"path": "x", "ticker": "x",
}

// An operation with a malformed parameter of the query, or a malformed part of its path, is 400 with the text of
// Blockfrost before anything is looked up. The texts are those of the validator of its server (fastify with ajv), and of
// src/routes and src/fixtures/errors in the repositories blockfrost-backend-ryo and blockfrost-tests of
// github.com/blockfrost.
func TestMalformedRequestsReadNothing(t *testing.T) {
	w := newWorld(t, "preview")
	chain := *w.chain
	looked := ""
	chain.View = func(context.Context, func(*query.View) error) error {
		looked = "the database was read"
		return model.Errorf(model.Internal, "test", "%s", looked)
	}
	view := w.chain.View
	w.chain.View = func(ctx context.Context, fn func(*query.View) error) error { return chain.View(ctx, fn) }
	t.Cleanup(func() { w.chain.View = view })
	try := func(method, endpoint, want string) {
		t.Helper()
		looked = ""
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path+"/"+endpoint, nil))
		e, _ := parsed(t, endpoint, rec.Body.String()).(object)
		if rec.Code != http.StatusBadRequest || e["message"] != want || e["error"] != "Bad Request" || looked != "" {
			t.Errorf("%s %s: %d %v %s, expected 400 %q", method, endpoint, rec.Code, e["message"], looked, want)
		}
	}
	integer := []struct{ value, fault string }{
		{"x", "integer"}, {"", "integer"}, {"1.5", "integer"}, {"1&NAME=2", "integer"}, {"0x", "integer"}, {"true", "integer"},
		{"0", ">= 1"}, {"-1", ">= 1"}, {"-99999999999999999999", ">= 1"}, {"-1e999", ">= 1"},
	}
	for _, o := range blockfrost.Operations() {
		endpoint, variables := sample(t, o)
		for name, most := range map[string]string{"count": "100", "page": "21474836"} {
			if !o.Takes(name) {
				continue
			}
			for _, c := range integer {
				try(o.Method, endpoint+"?"+name+"="+strings.ReplaceAll(c.value, "NAME", name), "querystring/"+name+" must be "+c.fault)
			}
			for _, v := range []string{"21474837", "99999999999999", "99999999999999999999", "1e999"} {
				try(o.Method, endpoint+"?"+name+"="+v, "querystring/"+name+" must be <= "+most)
			}
		}
		if o.Takes("order") {
			for _, v := range []string{"a", "", "ASC", "desc "} {
				try(o.Method, endpoint+"?order="+url.QueryEscape(v), "querystring/order must be equal to one of the allowed values")
			}
			try(o.Method, endpoint+"?order=asc&order=asc", "querystring/order must be string")
			try(o.Method, endpoint+"?order=a&count=0&page=0", "querystring/count must be >= 1")
			try(o.Method, endpoint+"?order=a&page=0", "querystring/page must be >= 1")
		}
		if o.Takes("from") {
			for _, v := range []string{"from=abc", "to=-1", "from=1:x", "to=2147483648", "from=999999999&to=1", "from=5:2&to=5:1"} {
				try(o.Method, endpoint+"?"+v, "Invalid (malformed or out of range) from/to parameter(s).")
			}
		}
		if o.Takes("order_by") {
			try(o.Method, endpoint+"?order_by=power", "querystring/order_by must be equal to one of the allowed values")
			try(o.Method, endpoint+"?retired=1", "querystring/retired must be boolean")
			try(o.Method, endpoint+"?expired=", "querystring/expired must be boolean")
		}
		for at, name := range variables {
			for bad, fault := range malformed[name] {
				with := strings.Split(endpoint, "/")
				with[at] = bad
				try(o.Method, strings.Join(with, "/"), fault)
			}
		}
	}
}

// sample returns a well-formed path of an operation, and the names of its variable parts by position.
func sample(t *testing.T, o blockfrost.Operation) (endpoint string, variables map[int]string) {
	t.Helper()
	variables = map[int]string{}
	parts := strings.Split(strings.TrimPrefix(o.Path, "/"), "/")
	for i, p := range parts {
		if name, ok := strings.CutPrefix(p, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			if variables[i], parts[i] = name, wellFormed[name]; parts[i] == "" {
				t.Fatalf("%s: no sample of %s", o.Path, name)
			}
		}
	}
	return strings.Join(parts, "/"), variables
}

// Each endpoint is in one way answered, and no endpoint before it in the table has its path.
func TestEndpointsAnswerTheirPaths(t *testing.T) {
	w := newWorld(t, "preview")
	for _, o := range blockfrost.Operations() {
		if o.Answers != 1 {
			t.Errorf("%s %s has %d of answer, node and reason", o.Method, o.Path, o.Answers)
		}
		endpoint, _ := sample(t, o)
		r := httptest.NewRequestWithContext(t.Context(), o.Method, path+"/"+endpoint, nil)
		w.ServeHTTP(httptest.NewRecorder(), r)
		if r.Pattern != path+o.Path {
			t.Errorf("%s %s is answered by %s", o.Method, o.Path, r.Pattern)
		}
	}
}

const notInteger = " must be integer"

// malformed has the faults of malformed parts of paths, by their name.
var malformed = map[string]map[string]string{
	"stake_address": with("Invalid or malformed stake address format.",
		"stake1kek", "x", "stake_vkh1x", "stake1ux5wm486ud5racxfnx4unlfhaycpxqqffdd0cphnjcm3zhs6drvdy", wellFormed["address"]),
	"address": with("Invalid address for this network or malformed address format.",
		"addr1stonks", "addr_test1uwu", "addr_vkh1uwu", "add_testr1stonks", "addr1v8fet8gavr6elqt6q50skkjf025zthqu6vr56l5k39sp9aqlvz2g4", wellFormed["stake_address"]),
	"pool_id":       with("Invalid or malformed pool id format.", "pool1kek", "stonks"),
	"asset":         with("Invalid or malformed asset format.", "asset1stonks", "stonksasset", "00", strings.Repeat("0", 122)),
	"policy_id":     with("Invalid or malformed policy format.", "stonks", strings.Repeat("0", 58), strings.Repeat("0", 54)),
	"drep_id":       with("Invalid or malformed drep id.", "drep1kek", "x", "cc_hot1qdjt7zpx7a8d76y29r4tml9aryff9m6pegz84lttspujfdcrkr62j"),
	"cc_id":         with("Invalid or malformed cc credential id.", "cc_hot1deadbeef", "drep1rphr974gpgngzqujlknd2kw8a4rjrfjuu8yafme7rjrmg443jff"),
	"gov_action_id": with("Invalid or malformed gov action id.", "gov_action1x", "stonks"),
	"xpub":          with("Invalid or malformed xpub format. Has to be hex of length 128.", "x", strings.Repeat("0", 126)),
	"label":         with("Missing, out of range or malformed label.", "x", "-1", "9223372036854775808"),
	"block": {
		"stonks": "Missing or malformed block hash.", "69nice": "Missing or malformed block hash.",
		strings.Repeat("0", 63) + "X":  "Missing or malformed block hash.",
		"c6" + strings.Repeat("0", 64): "Missing or malformed block hash.", "-5": "Missing, out of range or malformed block number.",
		"53604351654465": "Missing, out of range or malformed block number.", "2147483648": "Missing, out of range or malformed block number.",
	},
	"slot_number":  number("slot_number", "Missing, out of range or malformed slot_number."),
	"epoch_number": number("epoch_number", "Missing, out of range or malformed epoch_number."),
	"number":       number("number", "Missing, out of range or malformed epoch_number."),
	"role":         number("role", "Missing, out of range or malformed role."),
	"index":        number("index", "Missing, out of range or malformed index."),
	"cert_index":   {"x": "params/cert_index" + notInteger},
}

func with(fault string, texts ...string) map[string]string {
	all := map[string]string{}
	for _, t := range texts {
		all[t] = fault
	}
	return all
}

func number(name, fault string) map[string]string {
	all := with(fault, "-1", "2147483649", "696969696969")
	all["x"], all["1.5"] = "params/"+name+notInteger, "params/"+name+notInteger
	return all
}
