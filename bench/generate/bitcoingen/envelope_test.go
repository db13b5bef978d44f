package bitcoingen_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// The inscriptions of a chain with all parts are read as they were written, in their order.
func TestInscriptionsAreRead(t *testing.T) {
	dir := t.TempDir()
	c, err := bitcoingen.Write(t.Context(), dir, bitcoingen.Options{Seed: testseed.Rand(t).Uint64(), Txs: 3000, TxsPerBlock: 40, AllParts: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := chains.New("bitcoin", "regtest")
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + filepath.Join(dir, bitcoingen.BlocksFolder), Indexes: []string{"address"}, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	want := c.Inscriptions()
	kinds := map[string]int{}
	for e, err := range src.Follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range e.Block.Txs {
			tx := &e.Block.Txs[i]
			d, err := chain.(model.TxDescriber).DescribeTx(tx.Raw, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			inputs := make([]*model.InputDetails, len(d.Inputs))
			for n := range d.Inputs {
				inputs[n] = &d.Inputs[n]
			}
			for n, got := range chain.(model.InscriptionReader).Inscriptions(inputs, nil) {
				if len(want) == 0 || want[0].Tx != tx.Hash {
					t.Fatalf("inscription %d of %s was not written", n, tx.Hash)
				}
				w := want[0]
				if fmt.Sprint(got.Type, len(got.Parents), got.Delegate != "") != fmt.Sprint(w.ContentType, w.Parents, w.Delegate) || !bytes.Equal(got.Content, w.Body) {
					t.Fatalf("inscription %d of %s: %+v, expected %+v", n, tx.Hash, got, w)
				}
				kinds[w.ContentType]++
				want = want[1:]
			}
		}
	}
	if len(want) > 0 || len(kinds) < 7 {
		t.Errorf("%d inscriptions are left of %d, of the types %v", len(want), len(c.Inscriptions()), kinds)
	}
}

// Databases with indexes of inscriptions do not depend on batches, and a rollback undoes each block.
func TestInvariantsOfInscriptions(t *testing.T) {
	dir := t.TempDir()
	o := bitcoingen.Options{Seed: testseed.Rand(t).Uint64(), Txs: 1200, TxsPerBlock: 20, AllParts: true}
	if _, err := bitcoingen.Write(t.Context(), dir, o, nil); err != nil {
		t.Fatal(err)
	}
	chain, err := chains.New("bitcoin", "regtest")
	if err != nil {
		t.Fatal(err)
	}
	list := func(name, value string) model.Definition {
		return model.Definition{Name: name, Kind: model.ManyValued, When: "output.index == 0", Value: value}
	}
	if chain, err = chain.Define([]model.Definition{
		list("content_type", "map(tx.inscriptions, .content_type)"), list("inscription", "map(tx.inscriptions, tx.hash + 'i' + string(.number))"),
		list("parent", "map(tx.inscriptions, .parent)"), list("delegate", "map(tx.inscriptions, .delegate)"),
		list("brc20", "map(filter(tx.inscriptions, json(.body).p == 'brc-20'), lower(json(.body).tick))"),
	}); err != nil {
		t.Fatal(err)
	}
	var names []string
	keep := map[string]model.IndexOptions{}
	for _, x := range chain.Indexes() {
		names = append(names, x.Name)
		keep[x.Name] = model.IndexOptions{Balance: true, Unspent: true, History: true}
	}
	open := func() *core.DB {
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Raw: true, Indexes: names, Keep: keep, CacheBytes: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + filepath.Join(dir, bitcoingen.BlocksFolder), Indexes: names, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var blocks []*model.Block
	for e, err := range src.Follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, e.Block)
	}
	db, first := open(), len(blocks)-30
	coretest.AppendAll(t, db, blocks[:first], 50)
	dumps := []coretest.Dumped{coretest.Dump(t, db)}
	for i := first; i < len(blocks); i++ {
		coretest.AppendAll(t, db, blocks[i:i+1], 1)
		dumps = append(dumps, coretest.Dump(t, db))
	}
	coretest.Consistent(t, db)
	other := open()
	coretest.AppendAll(t, other, blocks, len(blocks))
	coretest.Same(t, "in one batch", coretest.Dump(t, other), dumps[len(dumps)-1])
	for i := len(blocks) - 2; i >= first-1; i-- {
		coretest.Rollback(t, db, blocks[i].Point())
		coretest.Same(t, fmt.Sprintf("rolled back to %d", i), coretest.Dump(t, db), dumps[i+1-first])
	}
	for _, x := range []string{"content_type", "inscription", "parent", "delegate", "brc20"} {
		status, err := other.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, has := range status.Indexes {
			if has.Name == x && has.Values == 0 {
				t.Errorf("the index %s has no values", x)
			}
		}
	}
}
