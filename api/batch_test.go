package api_test

import (
	"birthmark/internal/testrun"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// unused is an address without outputs, and unusedBalance its balance.
const (
	unused        = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
	unusedBalance = `{"index":"address","value":"` + unused + `","balance":"0","received":"0","sent":"0",` +
		`"tx_count":0,"output_count":0,"unspent_count":0,"assets":[]}`
)

func TestUnusedAddressIsEmpty(t *testing.T) {
	h := bitcoinAPI(t)
	for path, answer := range map[string]string{
		"balance": unusedBalance,
		"find":    `{"index":"address","value":"` + unused + `","first_seen":null,"outputs":[],"next":null}`,
		"history": `{"index":"address","value":"` + unused + `","first_seen":null,"txs":[],"next":null}`,
	} {
		w := ask(h, "GET", "/v1/bitcoin/"+path+"/address/"+unused, "")
		if w.Code != 200 || strings.TrimSuffix(w.Body.String(), "\n") != answer || w.Header().Get("X-Tip") != lastHash {
			t.Errorf("%s: %d %v %s, expected %s", path, w.Code, w.Header(), w.Body, answer)
		}
	}
}

func TestBatchesKeepTheirOrder(t *testing.T) {
	h := bitcoinAPI(t)
	for _, c := range []struct{ path, body, answer string }{
		{"spends", `{"outputs":["` + firstPayment + `:1","` + firstPayment + `:9","` + firstPayment + `:0"]}`,
			`{"spends":[{"tx":"` + firstPayment + `","index":1,"spent_by":{"tx":"a16f3ce4dd5deb92d98ef5cf8afeaf0775ebca408f708b2146c4fb42b41e14be","input":0,"height":181}},null,` +
				`{"tx":"` + firstPayment + `","index":0,"spent_by":null}]}`},
		{"txs", `{"txs":["` + lastHash + `"]}`, `{"txs":[null]}`},
		{"txs", `{"txs":[]}`, `{"txs":[]}`},
		{"outputs", ` {"outputs":[]} `, `{"outputs":[]}`},
		{"balances", `{"index":"address","values":["` + unused + `"]}`,
			`{"index":"address","balances":[` + unusedBalance + `]}`},
	} {
		w := ask(h, "POST", "/v1/bitcoin/"+c.path, c.body)
		if w.Code != 200 || strings.TrimSuffix(w.Body.String(), "\n") != c.answer || w.Header().Get("X-Tip") != lastHash || w.Header().Get("Etag") != "" {
			t.Errorf("%s %s: %d %v %s, expected %s", c.path, c.body, w.Code, w.Header(), w.Body, c.answer)
		}
	}
}

func TestProblemsOfBodiesNameThePosition(t *testing.T) {
	h := bitcoinAPI(t)
	many := func(n int) string { return strings.Repeat(`"`+firstPayment+`",`, n-1) + `"` + firstPayment + `"` }
	for _, c := range []struct {
		path, body, kind string
		status           int
		code, detail     string
	}{
		{"outputs", `{"outputs":["` + firstPayment + `:0","zz:1"]}`, "application/json", 400, "bad_value", "outputs[1]: "},
		{"spends", `{"outputs":["` + firstPayment + `"]}`, "application/json", 400, "bad_value", "outputs[0]: "},
		{"txs", `{"txs":["` + firstPayment + `","zz"]}`, "application/json", 400, "bad_value", "txs[1]: "},
		{"balances", `{"index":"address","values":["zz"]}`, "application/json", 400, "bad_value", "values[0]: "},
		{"balances", `{"index":"colour","values":["zz"]}`, "application/json", 400, "unknown_index", "colour"},
		{"txs", `{"txs":[` + many(1001) + `]}`, "application/json; charset=utf-8", 400, "too_many", "1001 txs: expected at most 1000"},
		{"txs", `{"txs":[` + many(1000) + `]}`, "application/json", 200, "", ""},
		{"txs", `{"txs":[` + strings.Repeat(" ", 1<<20) + `]}`, "application/json", 413, "too_large", "1048576 bytes"},
		{"txs", `{"txs":["00"]}`, "text/plain", 415, "unsupported_media_type", "expected application/json"},
		{"txs", `{"txs":["00"]}`, "", 415, "unsupported_media_type", "expected application/json"},
		{"txs", `{"tsx":["00"]}`, "application/json", 400, "bad_body", `unknown field "tsx"`},
		{"txs", `{"txs":["00"]`, "application/json", 400, "bad_body", `expected a JSON document such as {"txs":`},
		{"txs", `{"txs":["00"]} {}`, "application/json", 400, "bad_body", "more than one"},
		{"txs", `{"txs":[7]}`, "application/json", 400, "bad_body", "number"},
		{"txs", ``, "application/json", 400, "bad_body", "expected"},
	} {
		r := httptest.NewRequest("POST", "/v1/bitcoin/"+c.path, strings.NewReader(c.body))
		if c.kind != "" {
			r.Header.Set("Content-Type", c.kind)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if c.status == 200 {
			if w.Code != 200 {
				t.Errorf("%s %.60s: %d %s", c.path, c.body, w.Code, w.Body)
			}
			continue
		}
		wantProblem(t, w, c.status, c.code, c.detail)
	}
}

// A body that never ends is rejected after the limit of bytes.
func TestEndlessBodyIsRejected(t *testing.T) {
	testrun.Slow(t)
	server := httptest.NewServer(bitcoinAPI(t))
	defer server.Close()
	endless := io.MultiReader(strings.NewReader(`{"txs":[`), &repeated{text: fmt.Sprintf("%q,", firstPayment)})
	r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/v1/bitcoin/txs", endless)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := server.Client().Do(r)
	if err != nil {
		return // the server closed the connection
	}
	defer answer.Body.Close()
	if answer.StatusCode != 413 {
		t.Errorf("status %d", answer.StatusCode)
	}
}

type repeated struct{ text string }

func (r *repeated) Read(b []byte) (n int, err error) {
	for n+len(r.text) <= len(b) {
		n += copy(b[n:], r.text)
	}
	if n == 0 {
		n = copy(b, r.text)
	}
	return n, nil
}
