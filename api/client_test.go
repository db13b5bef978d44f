package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/api"
	"birthmark/api/client"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
)

// The generated client decodes the answers of a running server.
func TestGeneratedClient(t *testing.T) {
	events := func(*served.Chain) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: tip\n\n")
		})
	}
	h, _ := handler(t, api.Options{Events: events}, map[string]*core.DB{"bitcoin": real(t)})
	server := httptest.NewServer(h)
	defer server.Close()
	c, err := client.NewClientWithResponses(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()

	chains := must(c.ChainsWithResponse(ctx))(t)
	if a := chains.JSON200; a == nil || len(a.Chains) != 1 || a.Chains[0].Tip == nil || a.Chains[0].Tip.Height != 14_131 {
		t.Errorf("chains: %s", chains.Body)
	}
	status := must(c.StatusWithResponse(ctx, "bitcoin"))(t)
	if a := status.JSON200; a == nil || a.Tip == nil || a.Tip.Hash != lastHash || a.Totals.Txs != 14_247 {
		t.Errorf("status: %s", status.Body)
	}
	block := must(c.BlockWithResponse(ctx, "bitcoin", "170"))(t)
	if a := block.JSON200; a == nil || a.Height != 170 || len(a.Txs) != 2 || a.Header["bits"] == nil {
		t.Errorf("block: %s", block.Body)
	}
	tx := must(c.TxWithResponse(ctx, "bitcoin", firstPayment))(t)
	if a := tx.JSON200; a == nil || len(a.Outputs) != 2 || a.Outputs[0].SpentBy != nil || a.Outputs[1].SpentBy == nil || a.Outputs[1].SpentBy.Height != 181 {
		t.Errorf("tx: %s", tx.Body)
	} else if text, err := a.Outputs[1].Keys["address"].AsOutputKeys0(); err != nil || text != satoshi {
		t.Errorf("address of an output: %q, %v", text, err)
	}
	unknown := must(c.TxWithResponse(ctx, "bitcoin", lastHash))(t)
	if p := unknown.ApplicationproblemJSONDefault; p == nil || p.Code != "unknown_tx" || unknown.StatusCode() != 404 {
		t.Errorf("unknown transaction: %s", unknown.Body)
	}

	limit, unspent := int64(2), true
	or := []string{"address=1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3"}
	params := &client.FindParams{Limit: &limit, Unspent: &unspent, Or: &or}
	outputs := 0
	for {
		found := must(c.FindWithResponse(ctx, "bitcoin", "address", satoshi, params))(t)
		if found.JSON200 == nil || found.JSON200.Or == nil {
			t.Fatalf("find: %s", found.Body)
		}
		outputs += len(found.JSON200.Outputs)
		if params.After = found.JSON200.Next; params.After == nil {
			break
		}
	}
	want, err := real(t).Find(ctx, "address", satoshi, query.Terms{Unspent: true, Or: []query.Term{{Index: "address", Value: or[0][8:]}}}, query.Page{})
	if err != nil || outputs != len(want.Outputs) || outputs == 0 {
		t.Errorf("%d outputs in pages, %v", outputs, err)
	}

	spends := must(c.SpendsWithResponse(ctx, "bitcoin", client.OutputRefs{Outputs: []string{firstPayment + ":1", firstPayment + ":9"}}))(t)
	if spends.JSON200 == nil || len(spends.JSON200.Spends) != 2 {
		t.Errorf("spends: %s", spends.Body)
	}
	balances := must(c.BalancesWithResponse(ctx, "bitcoin", client.IndexValues{Index: "address", Values: []string{satoshi}}))(t)
	if balances.JSON200 == nil || len(balances.JSON200.Balances) != 1 {
		t.Errorf("balances: %s", balances.Body)
	}

	same := must(c.BlockWithResponse(ctx, "bitcoin", "170", header("If-None-Match", block.HTTPResponse.Header.Get("ETag"))))(t)
	if same.StatusCode() != 304 {
		t.Errorf("If-None-Match: %d", same.StatusCode())
	}

	answer := must(c.Blocks(ctx, "bitcoin", nil, header("Accept", "application/x-ndjson")))(t)
	defer answer.Body.Close()
	lines, last := 0, []byte(nil)
	for s := bufio.NewScanner(answer.Body); s.Scan(); lines++ {
		last = append(last[:0], s.Bytes()...)
	}
	var end client.StreamEnd
	if err := json.Unmarshal(last, &end); err != nil || !end.End.Complete || lines != 14_133 {
		t.Errorf("%d lines, the last %s: %v", lines, last, err)
	}
	told := must(c.EventsWithResponse(ctx, "bitcoin", nil))(t)
	if string(told.Body) != "event: tip\n\n" {
		t.Errorf("events: %q", told.Body)
	}
}

func must[A any](a A, err error) func(*testing.T) A {
	return func(t *testing.T) A {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

func header(name, value string) client.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set(name, value)
		return nil
	}
}
