package explorer

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/core/pending"
	"birthmark/core/pending/pendingtest"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
)

// The page of the mempool has all projected blocks, and the page of each transaction its block, its unconfirmed
// ancestors and its descendants.
func TestProjectedBlocks(t *testing.T) {
	w := pendingtest.New(t, pendingtest.Variants()[0], testseed.Of(t, 471))
	for range 3 {
		w.Mine(nil)
	}
	w.Sync()
	for range 40 {
		w.Arrive(w.Pay(w.Coins(w.Pool)))
	}
	traits := w.DB.Chain().Traits()
	traits.BlockVSize = 4500
	h, chain := poolWith(t, w, traits)
	o, template := chain.Mempool.Standing(), chain.Mempool.Template()
	if len(template.Blocks) < 3 {
		t.Fatalf("%d blocks", len(template.Blocks))
	}
	mempool := read(t, h, "/made-up/mempool", http.StatusOK)
	mempool.has(t, "Next block", "Fee rate for the next block", "within 3 blocks: ")
	for i, b := range template.Blocks {
		if i > 0 {
			mempool.has(t, fmt.Sprintf("Block %d", i+1))
		}
		mempool.has(t, humanize.Plural(b.Count, "transaction"))
	}
	if n := len(mempool.each("progress")); n != len(template.Blocks) {
		t.Errorf("%d blocks are drawn, expected %d", n, len(template.Blocks))
	}
	if rest := template.Rest.Count; rest > 0 {
		mempool.has(t, "After these blocks: "+humanize.Plural(rest, "transaction"))
	}
	related := 0
	for tx := range o.Newest() {
		d := read(t, h, "/made-up/tx/"+tx.ID.String(), http.StatusOK)
		want := fmt.Sprintf("after block %d", len(template.Blocks))
		if block, _, ok := template.Place(tx); ok && block > 0 {
			want = fmt.Sprintf("block %d of %d", block+1, len(template.Blocks))
		} else if ok {
			want = fmt.Sprintf("next block of %d", len(template.Blocks))
		}
		d.has(t, "Expected"+want)
		for title, walk := range map[string]func(func(*pending.Tx) bool){
			"Unconfirmed ancestors": o.AncestorsOf(tx), "Unconfirmed descendants": o.DescendantsOf(tx),
		} {
			all := slices.Collect(walk)
			if strings.Contains(d.main(), title) != (len(all) > 0) {
				t.Errorf("%s has %d: %s", title, len(all), d.main())
			}
			for i, one := range all {
				if i < mostRelatives && !slices.Contains(d.links(), "/made-up/tx/"+one.ID.String()) {
					t.Errorf("%s of %s lack %s", title, tx.ID, one.ID)
				}
				related++
			}
		}
	}
	if related == 0 {
		t.Error("no transaction has an ancestor")
	}
}
