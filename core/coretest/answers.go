package coretest

import (
	"encoding/json"
	"fmt"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// Answers returns, as JSON, the answers about every block, transaction and output of blocks, and about the values of
// their outputs.
func Answers(t testing.TB, db *core.DB, blocks []*model.Block) (answers []string) {
	t.Helper()
	ctx, chain := t.Context(), db.Chain()
	add := func(what string, answer any, err error) {
		b, failed := json.Marshal(answer)
		if failed != nil {
			t.Fatalf("%s: %v", what, failed)
		}
		answers = append(answers, fmt.Sprintf("%s: %s, %v", what, b, err))
	}
	locator, err := db.Locator(ctx)
	add("locator", locator, err)
	seen := map[string]bool{}
	for _, b := range blocks {
		block, err := db.Block(ctx, chain.FormatHash(b.Hash))
		add("block", block, err)
		var hashes []string
		for i := range b.Txs {
			hash := chain.FormatHash(b.Txs[i].Hash)
			hashes = append(hashes, hash)
			tx, err := db.Tx(ctx, hash)
			add("transaction "+hash, tx, err)
			for oi := range b.Txs[i].Outputs {
				output, err := db.Output(ctx, query.OutputRef(hash, b.Txs[i].OutputIndex(oi)))
				add("output of "+hash, output, err)
				for _, k := range b.Txs[i].Outputs[oi].Keys {
					index := modeltest.IndexNames[k.Index]
					value := chain.Indexes()[k.Index].Format(k.Value)
					if seen[index+value] {
						continue
					}
					seen[index+value] = true
					page := query.Page{Limit: 3, Descending: len(seen)%2 == 0}
					found, err := db.Find(ctx, index, value, query.Terms{Unspent: len(seen)%3 == 0}, page)
					add("find "+value, found, err)
					history, err := db.History(ctx, index, value, query.Range{}, page)
					add("history "+value, history, err)
					balance, err := db.Balance(ctx, index, value)
					add("balance "+value, balance, err)
				}
			}
		}
		txs, err := db.Txs(ctx, hashes)
		add("transactions", txs, err)
	}
	assets, err := db.Assets(ctx, query.Page{})
	add("assets", assets, err)
	return answers
}
