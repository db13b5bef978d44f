//go:build apiclient

// Command apiclient sends requests of every kind to a server of the demo blocks, through a client that oapi-codegen
// generates from the server's OpenAPI document, and fails if an answer is not decoded. TestGeneratedClient of package api
// generates the client into a temporary folder and adds it to this package.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"

	_ "github.com/oapi-codegen/runtime" // which the client imports
)

var (
	server  = flag.String("server", "", "URL of the server")
	tx      = flag.String("tx", "", "transaction in block 170 with two outputs, of which block 181 spends the second")
	address = flag.String("address", "", "address of that output")
	other   = flag.String("or", "", "term of a search that is combined with the address")
	outputs = flag.Int("outputs", 0, "number of unspent outputs of both")
	tip     = flag.String("tip", "", "hash of the last block")
	blocks  = flag.Int("blocks", 0, "number of blocks")
)

var failed bool

// expect reports an answer that is not as expected.
func expect(ok bool, what string, body []byte) {
	if !ok {
		failed = true
		log.Printf("%s: %s", what, body)
	}
}

func must[A any](a A, err error) A {
	if err != nil {
		log.Fatal(err)
	}
	return a
}

func header(name, value string) RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set(name, value)
		return nil
	}
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	ctx := context.Background()
	c := must(NewClientWithResponses(*server))

	chains := must(c.ChainsWithResponse(ctx))
	expect(chains.JSON200 != nil && len(chains.JSON200.Chains) == 1 && chains.JSON200.Chains[0].Tip.Hash == *tip, "chains", chains.Body)
	status := must(c.StatusWithResponse(ctx, "bitcoin"))
	expect(status.JSON200 != nil && status.JSON200.Tip.Hash == *tip && status.JSON200.Totals.Txs > 0, "status", status.Body)
	block := must(c.BlockWithResponse(ctx, "bitcoin", "170"))
	expect(block.JSON200 != nil && block.JSON200.Height == 170 && len(block.JSON200.Txs) == 2 && block.JSON200.Header["bits"] != nil,
		"block", block.Body)

	payment := must(c.TxWithResponse(ctx, "bitcoin", *tx))
	if a := payment.JSON200; a == nil || len(a.Outputs) != 2 || a.Outputs[0].SpentBy != nil || a.Outputs[1].SpentBy.Height != 181 {
		expect(false, "transaction", payment.Body)
	} else if text, err := a.Outputs[1].Keys["address"].AsOutputKeys0(); err != nil || text != *address {
		expect(false, "address of an output", payment.Body)
	}
	unknown := must(c.TxWithResponse(ctx, "bitcoin", *tip))
	p := unknown.ApplicationproblemJSONDefault
	expect(p != nil && p.Code == "unknown_tx" && unknown.StatusCode() == http.StatusNotFound, "unknown transaction", unknown.Body)

	limit, unspent, or := int64(2), true, []string{*other}
	params := &FindParams{Limit: &limit, Unspent: &unspent, Or: &or}
	for count := 0; ; {
		found := must(c.FindWithResponse(ctx, "bitcoin", "address", *address, params))
		if found.JSON200 == nil || found.JSON200.Or == nil {
			expect(false, "find", found.Body)
			break
		}
		count += len(found.JSON200.Outputs)
		if params.After = found.JSON200.Next; params.After == nil {
			expect(count == *outputs && count > 0, "the last page of find", found.Body)
			break
		}
	}

	spends := must(c.SpendsWithResponse(ctx, "bitcoin", OutputRefs{Outputs: []string{*tx + ":1", *tx + ":9"}}))
	expect(spends.JSON200 != nil && len(spends.JSON200.Spends) == 2, "spends", spends.Body)
	balances := must(c.BalancesWithResponse(ctx, "bitcoin", IndexValues{Index: "address", Values: []string{*address}}))
	expect(balances.JSON200 != nil && len(balances.JSON200.Balances) == 1, "balances", balances.Body)
	same := must(c.BlockWithResponse(ctx, "bitcoin", "170", header("If-None-Match", block.HTTPResponse.Header.Get("ETag"))))
	expect(same.StatusCode() == http.StatusNotModified, "If-None-Match", same.Body)

	stream := must(c.Blocks(ctx, "bitcoin", nil, header("Accept", "application/x-ndjson")))
	defer stream.Body.Close()
	lines, last := 0, []byte(nil)
	for s := bufio.NewScanner(stream.Body); s.Scan(); lines++ {
		last = append(last[:0], s.Bytes()...)
	}
	var end StreamEnd
	expect(json.Unmarshal(last, &end) == nil && end.End.Complete && lines == *blocks+1, "the last line of blocks", last)
	events := must(c.EventsWithResponse(ctx, "bitcoin", nil))
	expect(string(events.Body) == "event: tip\n\n", "events", events.Body)
	if failed {
		os.Exit(1)
	}
}
