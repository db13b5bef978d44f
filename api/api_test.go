package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"birthmark/core/schema"
)

// The schema has the layout of the database and the indexes of the chain.
func TestSchemaOfAChain(t *testing.T) {
	var a struct {
		Format  int
		Text    string
		Indexes []struct{ Name string }
	}
	w := ask(bitcoinAPI(t), "GET", "/v1/bitcoin/schema", "")
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.Format != schema.FormatVersion || !strings.HasPrefix(a.Text, "# Schema") || len(a.Indexes) < 2 {
		t.Errorf("%v: %.200s", err, w.Body)
	}
}

func TestAnswersNameTheirTip(t *testing.T) {
	h := bitcoinAPI(t)
	for _, path := range []string{
		"status", "blocks", "block/tip", "block/170", "tx/" + firstPayment, "output/" + firstPayment + ":1", "find/address/" + satoshi,
		"history/address/" + satoshi, "balance/address/" + satoshi, "richest/address?limit=2", "values/address", "assets", "forks", "indexes", "schema", "fields",
	} {
		w := ask(h, "GET", "/v1/bitcoin/"+path, "")
		byTip := path != "block/170" // block/170 is immutable
		if w.Code != 200 || w.Header().Get("X-Tip") != lastHash || w.Header().Get("X-Tip-Height") != "14131" || byTip != strings.HasPrefix(w.Header().Get("Etag"), `"`+lastHash) {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
			continue
		}
		var document map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v in %s", path, err, w.Body)
		}
		head := ask(h, "HEAD", "/v1/bitcoin/"+path, "")
		if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != w.Header().Get("Content-Length") {
			t.Errorf("HEAD %s: %d %v, %d bytes", path, head.Code, head.Header(), head.Body.Len())
		}
		again := ask(h, "GET", "/v1/bitcoin/"+path, "", "If-None-Match", `"other", `+w.Header().Get("Etag"))
		if again.Code != 304 || again.Body.Len() != 0 || again.Header().Get("Etag") != w.Header().Get("Etag") {
			t.Errorf("%s with If-None-Match: %d %v", path, again.Code, again.Header())
		}
	}
	if w := ask(h, "GET", "/v1/bitcoin/block/tip", ""); w.Header().Get("Etag") != `"`+lastHash+`"` {
		t.Errorf("ETag %s, expected the tip", w.Header().Get("Etag"))
	}
	w := ask(h, "GET", "/v1", "")
	if want := `{"version":"v1.2.3","chains":[{"name":"bitcoin","chain":"bitcoin","network":"mainnet","tip":{"height":14131,"hash":"` + lastHash + `"}}]}` + "\n"; w.Body.String() != want {
		t.Errorf("/v1: %s, expected %s", w.Body, want)
	}
}
