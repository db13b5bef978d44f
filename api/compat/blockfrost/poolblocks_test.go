package blockfrost_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/address"
	"birthmark/core/backfill"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// blocksOfPools compares the blocks of pools, of all epochs and of one, with the leaders in all headers.
func (w *world) blocksOfPools(t *testing.T) {
	rng := testseed.Rand(t)
	made, leaders := map[string][]*naiveBlock{}, []string{}
	for _, b := range w.naive.blocks {
		issuer, err := hex.DecodeString(b.header.IssuerVkey)
		if err != nil {
			t.Fatal(err)
		}
		id := address.FormatPool(issuer)
		if made[id] == nil {
			leaders = append(leaders, id)
		}
		made[id] = append(made[id], b)
	}
	hash := func(b *naiveBlock) any { return b.Hash.String() }
	pools, delegates := 0, 0
	for _, i := range rng.Perm(len(leaders))[:min(len(leaders), testrun.Amount(60, 20))] {
		id := leaders[i]
		b := made[id][rng.IntN(len(made[id]))]
		if leader := w.get(t, "/blocks/"+b.Hash.String()).(object)["slot_leader"].(string); leader != id {
			delegates++
			if status, body := w.ask(t, http.MethodGet, "/pools/"+id+"/blocks"); status != http.StatusNotFound {
				t.Errorf("blocks of the genesis delegate %s: %d %s", leader, status, body)
			}
			continue
		}
		pools++
		w.pages(t, rng, "/pools/"+id+"/blocks", listOf(made[id], hash))
		epoch := *b.header.Epoch
		of := slices.DeleteFunc(slices.Clone(made[id]), func(b *naiveBlock) bool { return *b.header.Epoch != epoch })
		w.pages(t, rng, fmt.Sprintf("/epochs/%d/blocks/%s", epoch, id), listOf(of, hash))
	}
	if pools == 0 && len(w.naive.blocks) > 10_000 {
		t.Error("no pool made a block")
	}
	t.Logf("%d pools and %d genesis delegates of %d", pools, delegates, len(leaders))
}

// Without its index, the blocks of pools are 501, and those of an epoch are found in its headers. Added later, the index has
// the same blocks, also those without transactions.
func TestBlocksOfPoolsWithoutTheirIndex(t *testing.T) {
	w := preview(t, model.HeightPk(testrun.Amount(20_000, 12_000)))
	w.blocksOfPools(t)
	if err := w.db.DropIndex(t.Context(), cardano.PoolIndex); err != nil {
		t.Fatal(err)
	}
	build := func() {
		if err := w.db.Build(t.Context(), nil, backfill.Options{Weight: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	build()
	b := w.naive.tip()
	id := w.get(t, "/blocks/"+b.Hash.String()).(object)["slot_leader"].(string)
	status, body := w.ask(t, http.MethodGet, "/pools/"+id+"/blocks")
	if status != http.StatusNotImplemented || !strings.Contains(body, "birthmark index add pool") {
		t.Errorf("without the index: %d %s", status, body)
	}
	epoch := w.get(t, fmt.Sprintf("/epochs/%d/blocks/%s?order=desc", *b.header.Epoch, id))
	if err := w.db.AddIndex(t.Context(), cardano.PoolIndex, model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	build()
	w.same(t, fmt.Sprintf("/epochs/%d/blocks/%s?order=desc", *b.header.Epoch, id), epoch)
	w.blocksOfPools(t)
}

// After each reorganization, the index has the blocks of the chain only.
func TestBlocksOfPoolsThroughForks(t *testing.T) {
	rng := testseed.Rand(t)
	c := cardanogen.New(cardanogen.Options{Seed: rng.Uint64(), TxsPerBlock: 3, AllParts: true})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 60))
	for range 3 {
		w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
		w.moved = true
		fork, depth, common := c.Fork(rng.Uint64()), 1+rng.IntN(20), len(w.naive.blocks)
		n.Extend(branch(t, c, depth)...)
		w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
		n.Switch(common, branch(t, fork, depth+1)...)
		w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
		c = fork
		of := map[string][]any{}
		for _, b := range w.naive.blocks {
			leader := w.get(t, "/blocks/"+b.Hash.String()).(object)["slot_leader"].(string)
			of[leader] = append(of[leader], b.Hash.String())
		}
		for id, hashes := range of {
			w.pages(t, rng, "/pools/"+id+"/blocks", hashes)
		}
	}
}
