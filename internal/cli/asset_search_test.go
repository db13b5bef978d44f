package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testblocks"
)

// For the assets of preview's first 50,940 blocks, searches by asset, policy, address and combinations return the
// same outputs. Their number equals the total of the asset.
func TestSearchesForRealAssetsAgree(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "cardano", "--network", "preview", "--source", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), "--db", dir,
		"--index", everyCardanoIndex)
	db := openReadOnly(t, dir)
	all := func(index, value string, terms query.Terms) (outputs []query.OutputAnswer) {
		p := query.Page{Limit: 100}
		for {
			a, err := db.Find(t.Context(), index, value, terms, p)
			if err != nil {
				t.Fatal(err)
			}
			if outputs = append(outputs, a.Outputs...); a.Next == nil {
				return outputs
			}
			p.After = *a.Next
		}
	}
	refs := func(outputs []query.OutputAnswer) (list []string) {
		for _, o := range outputs {
			list = append(list, fmt.Sprintf("%s:%d", o.Tx, o.Index))
		}
		return list
	}

	byPolicy := map[string][]query.Term{}
	count, page := uint64(0), query.Page{Limit: 1000}
	for {
		a, err := db.Assets(t.Context(), page)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range a.Assets {
			count++
			byPolicy[x.Asset[:56]] = append(byPolicy[x.Asset[:56]], query.Term{Index: query.AssetTerm, Value: x.Asset})
			if count%10 > 0 {
				continue
			}
			held := all(query.AssetTerm, x.Fingerprint, query.Terms{})
			unspent := all(query.AssetTerm, x.Asset, query.Terms{Unspent: true})
			if uint64(len(held)) != x.OutputCount || uint64(len(unspent)) != x.UnspentCount {
				t.Errorf("%s is found in %d outputs, %d unspent; its totals are %d and %d", x.Asset, len(held), len(unspent), x.OutputCount, x.UnspentCount)
			}
			with := map[string][]string{}
			for _, o := range held {
				if address, ok := o.Keys["address"].(string); ok {
					with[address] = append(with[address], fmt.Sprintf("%s:%d", o.Tx, o.Index))
				}
			}
			for address, want := range with {
				and := query.Terms{And: []query.Term{{Index: query.AssetTerm, Value: x.Asset}}}
				if got := refs(all("address", address, and)); !slices.Equal(got, want) {
					t.Errorf("address %s with %s: %q, expected %q", address, x.Asset, got, want)
				}
			}
		}
		if a.Next == nil {
			if count != a.Count || count < 100 {
				t.Errorf("%d assets are listed, expected %d", count, a.Count)
			}
			break
		}
		page.After = *a.Next
	}
	for policy, assets := range byPolicy {
		if len(assets) <= 100 {
			got, want := refs(all(query.AssetTerm, assets[0].Value, query.Terms{Or: assets[1:]})), refs(all("policy", policy, query.Terms{}))
			if !slices.Equal(got, want) {
				t.Errorf("policy %s is in %d outputs, its %d assets are in %d", policy, len(want), len(assets), len(got))
			}
		}
	}

	// The change feed of all assets has each output with assets, and each spend of one.
	unspent := map[string]bool{}
	for e, err := range changes.Follow(t.Context(), db.Queries, nil, changes.Filter{Term: query.Term{Index: query.AssetTerm}, Spends: true}) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Output != nil:
			unspent[fmt.Sprintf("%s:%d", e.Output.Tx, e.Output.Index)] = true
		case e.Spend != nil:
			if ref := fmt.Sprintf("%s:%d", e.Spend.Tx, e.Spend.Index); !unspent[ref] {
				t.Errorf("%s is spent without an event of the output", ref)
			} else {
				delete(unspent, ref)
			}
		case e.Block != nil && e.Block.Height == db.Tip().Height:
			want := map[string]bool{}
			for policy := range byPolicy {
				for _, ref := range refs(all("policy", policy, query.Terms{Unspent: true})) {
					want[ref] = true
				}
			}
			if !maps.Equal(unspent, want) {
				t.Errorf("%d outputs with assets are unspent, expected %d", len(unspent), len(want))
			}
		}
	}
}
