package search_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/search"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// world is a database of generated blocks.
type world struct {
	*testing.T
	db     *core.DB
	blocks []*model.Block
}

func newWorld(t *testing.T, v modeltest.Variant, blocks int) *world {
	t.Helper()
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, db, v.NewGenerator(testseed.New(t)).Blocks(blocks)}
	if err := db.Append(t.Context(), w.blocks); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) search(text string) *search.Results {
	w.Helper()
	a, err := search.Of(context.Background(), w.db.Queries, w.db.Chain(), text, nil)
	if err != nil {
		w.Fatalf("%q: %v", text, err)
	}
	return a
}

// finds checks that a search for each usual spelling of the text has the result.
func (w *world) finds(kind, index, value string, texts ...string) {
	w.Helper()
	for _, text := range texts {
		for _, text := range []string{text, "  " + text + "\n"} {
			if !slices.ContainsFunc(w.search(text).Results, func(r search.Result) bool {
				return r.Type == kind && r.Index == index && r.Value == value
			}) {
				w.Errorf("a search for %q does not find %s %s %s: %+v", text, kind, index, value, w.search(text).Results)
			}
		}
	}
}

// Every block, transaction, output, value and asset of a chain is found by each of its names.
func TestSearchFindsEverythingOfAChain(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		w := newWorld(t, v, 8)
		c := w.db.Chain()
		names := map[string]string{} // boxes by output
		for _, b := range w.blocks {
			hash, height := c.FormatHash(b.Hash), fmt.Sprint(b.Height)
			w.finds(search.Block, "", hash, hash, strings.ToUpper(hash), height, "#"+height)
			for _, tx := range b.Txs {
				hash := c.FormatHash(tx.Hash)
				w.finds(search.Tx, "", hash, hash, strings.ToUpper(hash))
				for _, n := range []int{15, 16, 31, 63} {
					part := hash[:n]
					if c.FormatHash(model.Hash{1})[:2] != "01" { // the chain formats hashes in reverse
						part = hash[len(hash)-n:]
					}
					w.finds(search.Tx, "", hash, part, strings.ToUpper(part))
				}
				for i, o := range tx.Outputs {
					ref := query.OutputRef(hash, i+int(tx.FirstOutput))
					w.finds(search.Output, "", ref, ref, strings.Replace(ref, ":", "#", 1))
					for _, k := range o.Keys {
						x := c.Indexes()[k.Index]
						value := x.Format(k.Value)
						if x.Name == c.Traits().SpendIndex {
							names[value] = ref
							continue
						}
						w.finds(search.Value, x.Name, value, value)
					}
					for _, a := range o.Assets {
						if a.Amount == 0 {
							continue // not an occurrence
						}
						id := c.FormatAsset(a.ID)
						w.finds(search.Asset, "", id, id)
					}
				}
			}
		}
		for box, ref := range names {
			w.finds(search.Output, "", ref, box)
		}
		tip := c.FormatHash(w.db.Tip().Hash)
		w.finds(search.Block, "", tip, "tip", "latest", "Best")
		if (len(names) > 0) != (c.Traits().SpendIndex != "") {
			t.Errorf("%d boxes", len(names))
		}
	})
}

// A search for a prefix of a name finds the same assets as a comparison with all names: exact names first, then the
// newest.
func TestSearchFindsAssetsByTheBeginningOfTheirNames(t *testing.T) {
	w := newWorld(t, modeltest.Variants()[2], 60)
	all, err := w.db.Assets(t.Context(), query.Page{Limit: query.MaxLimit, Descending: true})
	if err != nil || all.Next != nil {
		t.Fatal(err, all.Next)
	}
	named, rng := map[string]bool{}, testseed.Rand(t)
	for _, a := range all.Assets {
		name := query.AssetName(w.db.Chain(), &a)
		if len(name) < 3 {
			continue
		}
		named[name] = true
		text := name[:3+rng.IntN(len(name)-2)]
		if rng.IntN(2) == 0 {
			text = strings.ToUpper(text)
		}
		var expected []search.Result
		for _, b := range all.Assets {
			if name := query.AssetName(w.db.Chain(), &b); strings.HasPrefix(strings.ToLower(name), strings.ToLower(text)) {
				height := b.FirstSeen.Height
				expected = append(expected, search.Result{Type: search.Asset, Value: b.Asset, Name: name, Height: &height})
			}
		}
		slices.SortStableFunc(expected, func(a, b search.Result) int {
			longer := func(r search.Result) int { return min(len(r.Name)-len(text), 1) }
			return cmp.Compare(longer(a), longer(b))
		})
		got := w.search(text)
		if more := len(expected) > 10; got.Partial != more {
			t.Errorf("%q matches %d assets, and partial is %t", text, len(expected), got.Partial)
		}
		expected = expected[:min(len(expected), 10)]
		if !slices.EqualFunc(got.Results, expected, func(a, b search.Result) bool { return a.Value == b.Value && a.Name == b.Name && *a.Height == *b.Height }) {
			t.Errorf("%q: %+v, expected %+v", text, got.Results, expected)
		}
	}
	if len(named) < 3 {
		t.Fatalf("%d assets have a name", len(named))
	}
}

// A search by prefix finds the first values of each index with the option prefix, and reports whether there are more.
func TestSearchFindsValuesByPrefix(t *testing.T) {
	w := newWorld(t, modeltest.Variants()[1], 60)
	chain, rng, tried := w.db.Chain(), testseed.Rand(t), 0
	values := map[string]bool{}
	for _, b := range w.blocks {
		for _, tx := range slices.Concat(b.Genesis, b.Txs) {
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					if x := chain.Indexes()[k.Index]; x.Name == "address" {
						values[x.Format(k.Value)] = true
					}
				}
			}
		}
	}
	for value := range values {
		if len(value) < 5 || len(value) > 100 {
			continue // the prefix index stores only the beginning of long values
		}
		prefix := value[:3+rng.IntN(len(value)-3)]
		got := w.search(prefix)
		if values[prefix] || len(got.Results) > 0 && (got.Results[0].Height == nil || got.Results[0].Type != search.Value) {
			continue // the prefix is a complete name
		}
		var expected []string
		for other := range values {
			if strings.HasPrefix(other, prefix) {
				expected = append(expected, other)
			}
		}
		slices.Sort(expected)
		var found []string
		for _, r := range got.Results {
			if r.Index == "address" {
				found = append(found, r.Value)
			}
		}
		if slices.ContainsFunc(expected, func(v string) bool { return len(v) > 100 }) {
			continue
		}
		if tried++; !slices.Equal(found, expected[:min(len(expected), 10)]) || len(expected) > 10 && !got.Partial {
			t.Errorf("%q: %v, expected %v; partial is %t", prefix, found, expected, got.Partial)
		}
	}
	if tried == 0 {
		t.Fatal("no prefix was tested")
	}
}

// A text that matches nothing has an empty answer and no error. An address without outputs is found as unused.
func TestSearchWithoutResults(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		w := newWorld(t, v, 10)
		for _, text := range []string{
			"", "   ", "zz", "nothing at all", "-1", "999999", strings.Repeat("ab", 32), strings.Repeat("ab", 32) + ":0", "%", "\x00\xff", ":", "#",
			strings.Repeat("7", search.MaxText+1),
		} {
			if got := w.search(text); len(got.Results) > 0 || got.Results == nil || got.Query != search.Clean(text) {
				t.Errorf("a search for %.40q has the results %+v", text, got.Results)
			}
		}
		for _, text := range []string{"", " \u200b\n"} {
			_, _, err := search.IndexOf(t.Context(), w.db.Queries, w.db.Chain(), text)
			if kind, code := model.KindOf(err); kind != model.Usage || code != "missing_argument" {
				t.Errorf("the index of %q: %v", text, err)
			}
		}
		got := w.search("a" + strings.Repeat("ef", 30))
		if len(got.Results) != 1 || got.Results[0].Index != "address" || got.Results[0].Height != nil {
			t.Errorf("an unused address has the results %+v", got.Results)
		}
	})
}
