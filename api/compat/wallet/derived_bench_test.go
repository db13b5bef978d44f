package wallet_test

import (
	"context"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// The cost of answers about a wallet with 10,000 used addresses, each with one output, and of deriving addresses. Queries
// after the first one have the derived addresses.
func BenchmarkWalletOfManyAddresses(b *testing.B) {
	const blocks, perBlock = 100, 100
	wallet := derivedWallets(b)[1]
	chain := bitcointest.NewChain()
	for n := range uint32(blocks) {
		var outputs []*wire.TxOut
		for i := range uint32(perBlock) {
			outputs = append(outputs, wire.NewTxOut(1000, wallet.script(0, n*perBlock+i)))
		}
		paid := chain.Mine().Transactions[0]
		chain.Mine(bitcointest.Spend(paid, 0, outputs...))
	}
	run := func(name string, ask func(context.Context) error) {
		b.Run(name, func(b *testing.B) {
			began := process.CPU()
			for b.Loop() {
				if err := ask(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((process.CPU()-began).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
	for _, c := range []struct {
		name string
		keep model.IndexOptions
	}{{"stored", everything}, {"computed", model.IndexOptions{}}} {
		o := options(b)
		o.Keep = map[string]model.IndexOptions{"address": c.keep}
		db := open(b, memory.New(), o)
		syncTo(b, db, chain)
		page := query.Page{Limit: 100, Descending: true}
		balance := func(ctx context.Context) error {
			a, err := db.Balance(ctx, "address", wallet.text)
			if err == nil && a.Derived.UsedCount != blocks*perBlock {
				b.Errorf("%d used addresses", a.Derived.UsedCount)
			}
			return err
		}
		if err := balance(b.Context()); err != nil { // derives the addresses
			b.Fatal(err)
		}
		run(c.name+"/balance", balance)
		run(c.name+"/history", func(ctx context.Context) error {
			_, err := db.History(ctx, "address", wallet.text, query.Range{}, page)
			return err
		})
		run(c.name+"/find", func(ctx context.Context) error {
			_, err := db.Find(ctx, "address", wallet.text, query.Terms{}, page)
			return err
		})
	}
	from := 0
	var chainless *core.Options
	run("derive 100 addresses", func(context.Context) error {
		if chainless == nil || from == 100_000 {
			o := options(b) // its chain keeps no addresses yet
			chainless, from = &o, 0
		}
		w, err := model.WalletOf(chainless.Chain, "address", wallet.text)
		for n := 0; n < 100 && err == nil; n++ {
			_, _, err = w.Values(0, from+n)
		}
		from += 100
		return err
	})
}
