package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// A failure or a panic at any read ends the request alone: of each operation, as a document and as a stream, and of each
// batch. The client gets an error or a cut answer, the same request is answered afterwards, and nothing of the request is
// left.
func TestAFailureEndsItsRequestAlone(t *testing.T) {
	if realBlocks() == "" {
		t.Skip("real blocks are missing: run make blocks")
	}
	chain, err := bitcoin.New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.NewFaulty(memory.New())
	ctx := context.Background()
	db, err := core.Open(ctx, store, core.Options{Chain: chain, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	to := model.HeightPk(400)
	if err := syncTo(ctx, db, &to); err != nil {
		t.Fatal(err)
	}
	site, _ := handler(t, api.Options{CacheBytes: 1}, map[string]*core.DB{"bitcoin": db})
	h := answertest.Limited(t, 1, site)
	answer := func(target string) (status int, body []byte) {
		defer func() {
			if recover() != nil {
				status, body = http.StatusInternalServerError, nil
			}
		}()
		path, content, post := strings.Cut(target, " ")
		if post {
			a := ask(h, http.MethodPost, path, content)
			return a.Code, a.Body.Bytes()
		}
		path, stream := strings.CutSuffix(path, "#stream")
		if !stream {
			a := ask(h, http.MethodGet, path, "")
			return a.Code, a.Body.Bytes()
		}
		a := ask(h, http.MethodGet, path, "", "Accept", "application/x-ndjson")
		if _, end, err := readStream(a.Body.Bytes()); a.Code == http.StatusOK && (err != nil || end.Problem != nil) {
			a.Code = http.StatusInternalServerError
		}
		return a.Code, a.Body.Bytes()
	}
	outpoint := firstPayment + ":1"
	arguments := strings.NewReplacer("{index}", "address", "{value}", satoshi, "{block}", "170", "{height}", "170", "{hash}", firstPayment, "{tx}", firstPayment,
		"{output}", outpoint, "{outpoint}", outpoint, "{query}", "170", "{prefix}", "1", "{asset}", "none", "{time}", "2009-01-12")
	batches := map[string]string{
		"outputs": `{"outputs":["` + outpoint + `"]}`, "spends": `{"outputs":["` + outpoint + `"]}`, "txs": `{"txs":["` + firstPayment + `"]}`,
		"balances": `{"index":"address","values":["` + satoshi + `","` + unused + `"]}`,
	}
	var of api.ChainAnswer
	if err := json.Unmarshal(ask(site, "GET", "/v1/bitcoin", "").Body.Bytes(), &of); err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, op := range of.Operations {
		path := arguments.Replace(op.Path)
		if op.Method == http.MethodPost {
			name := path[strings.LastIndexByte(path, '/')+1:]
			targets = append(targets, path+" "+batches[name]) // transactions are submitted by POST, too: without a body, nothing is read
			continue
		}
		targets = append(targets, path, path+"#stream")
	}
	targets = slices.DeleteFunc(targets, func(target string) bool {
		store.FailAt(0)
		answer(target)
		return store.Steps() == 0
	})
	if len(targets) < 25 {
		t.Errorf("%d requests read the database: %q", len(targets), targets)
	}
	answertest.FailedReads(t, store, answer, slices.Repeat(targets, 4))
}
