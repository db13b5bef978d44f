package explorer

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// An index that is being added is shown with its progress. Queries reject it. An index stays usable when an option is
// added.
func TestIndexesBeingBackfilledAreShown(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 41)).Blocks(20)
	last := len(modeltest.IndexNames) - 1
	for _, b := range blocks {
		for i := range b.Txs {
			for j := range b.Txs[i].Outputs {
				o := &b.Txs[i].Outputs[j]
				o.Keys = slices.DeleteFunc(o.Keys, func(k model.Key) bool { return int(k.Index) == last })
			}
		}
	}
	for _, c := range []struct {
		index, state string
		keep         model.IndexOptions
		status       int // of the pages of the index
	}{
		{"label", "values being added", model.IndexOptions{}, http.StatusServiceUnavailable},
		{"address", "balance, history being added", model.IndexOptions{Balance: true, History: true}, http.StatusOK},
	} {
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Indexes: modeltest.IndexNames[:last]})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Append(t.Context(), blocks); err != nil {
			t.Fatal(err)
		}
		b := mostUsed(t, db, "address")
		if err := db.AddIndex(t.Context(), c.index, c.keep); err != nil {
			t.Fatal(err)
		}
		h := explorerOf(t, chainOf("made-up", db, nil))
		d := read(t, h, "/made-up/status", http.StatusOK)
		d.has(t, c.index, c.state)
		if n := d.count("/made-up/values/" + c.index); n > 0 != (c.status == http.StatusOK) {
			t.Errorf("%d links lead to the values of %s", n, c.index)
		}
		for _, path := range []string{"/made-up/values/" + c.index, "/made-up/richest/" + c.index} {
			if d := read(t, h, path, c.status); c.status != http.StatusOK && !strings.Contains(d.main(), "is being added") {
				t.Errorf("%s: %s", path, d.main())
			}
		}
		read(t, h, "/made-up/address/"+b.Value, http.StatusOK).has(t, "Received"+humanize.Thousands(b.Received))
	}
}
