package explorer

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// byHand is a chain whose blocks are created by tests.
var byHand = modeltest.Variant{Name: "by-hand", Coinbase: true, Described: true, ByHand: true}

// blockOfTxs returns a block after another one, or the first block if that is nil.
func blockOfTxs(after *model.Block, txs ...model.Tx) *model.Block {
	b := &model.Block{Time: 1_600_000_000, Size: 1000, Txs: txs}
	if after != nil {
		b.Height, b.Parent = after.Height+1, after.Hash
	}
	b.Hash = hash("block", int(b.Height))
	b.Header = b.Hash[:]
	for i := range b.Txs {
		b.Txs[i].Hash = hash("tx", int(b.Height)<<16|i)
	}
	return b
}

func hash(what string, n int) model.Hash { return sha256.Sum256(fmt.Appendf(nil, "%s %d", what, n)) }

// outputs returns outputs of the values, each with a new address.
func outputs(values ...uint64) (all []model.Output) {
	for i, v := range values {
		all = append(all, model.Output{Value: v, Keys: []model.Key{{Index: 0, Value: []byte{byte(i >> 8), byte(i), 1}}}})
	}
	return all
}

const nasty = `"><script>alert('1')</script><img src=x onerror=alert(1)>&amp;{{.}}`

// Text from the chain is escaped on every page and in the search box.
func TestTextFromTheChainIsEscaped(t *testing.T) {
	asset := []byte("an asset")
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(50)})
	out := outputs(30, 20)
	out[0].Assets = []model.Asset{{ID: asset, Amount: 1}}
	second := blockOfTxs(first, model.Tx{Outputs: outputs(50)},
		model.Tx{Inputs: []model.Input{{Tx: first.Txs[0].Hash}}, Outputs: out, Mints: []model.Mint{{Asset: asset, Amount: big.NewInt(1), Info: []byte(nasty)}}})
	h := explorerOf(t, chainOf("made-up", variant(t, byHand, []*model.Block{first, second}), nil))
	shown := 0
	for _, path := range []string{"/made-up/tx/" + second.Txs[1].Hash.String(), "/made-up/output/" + second.Txs[1].Hash.String() + ":0",
		"/made-up/asset/" + fmt.Sprintf("%x", asset), "/made-up/assets", "/made-up/address/a000001"} {
		d := read(t, h, path, http.StatusOK)
		if strings.Contains(d.main(), nasty) {
			shown++
		}
		if len(d.each("img")) > 0 {
			t.Errorf("%s contains the name as markup: %s", path, d.text)
		}
	}
	if shown < 3 {
		t.Errorf("the name is on %d pages", shown)
	}
	for _, path := range []string{"/made-up/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/made-up/%3Cscript%3E", "/%3Cscript%3E", "/made-up/tx/%22%3E%3Cscript%3E",
		"/made-up/index/%3Cscript%3E/%3Cscript%3E", "/search?q=%3Cscript%3E"} {
		res := ask(t, h, path)
		if to := res.Header.Get("Location"); to != "" {
			path = to
			res = ask(t, h, path)
		}
		d := read(t, h, path, res.StatusCode)
		if strings.Contains(d.text, "<script>") || res.StatusCode < 400 {
			t.Errorf("%s: status %d\n%s", path, res.StatusCode, d.text)
		}
	}
}

// A transaction with thousands of inputs and outputs is shown on several pages, which are complete.
func TestLargeTransactionsAreShownInParts(t *testing.T) {
	const many = 2*rowsPage + 17
	values := make([]uint64, many)
	for i := range values {
		values[i] = uint64(1 + i*i)
	}
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(values...)})
	spend := model.Tx{Outputs: outputs(1)}
	for i := range values {
		spend.Inputs = append(spend.Inputs, model.Input{Tx: first.Txs[0].Hash, Index: uint32(i)})
	}
	second := blockOfTxs(first, model.Tx{Outputs: outputs(50)}, spend)
	h := explorerOf(t, chainOf("made-up", variant(t, byHand, []*model.Block{first, second}), nil))
	for _, side := range []struct{ path, parameter, label string }{
		{"/made-up/tx/" + first.Txs[0].Hash.String(), "outputs", "Output"},
		{"/made-up/tx/" + second.Txs[1].Hash.String(), "inputs", "Input"},
	} {
		seen := map[string]bool{}
		for path := side.path; path != ""; {
			d := read(t, h, path, http.StatusOK)
			path = ""
			for _, n := range d.each("td") {
				if label, _ := attr(n, "data-label"); label == side.label {
					seen[textOf(n)] = true
				}
			}
			for _, n := range d.each("a") {
				if rel, _ := attr(n, "rel"); rel == "next" {
					href, _ := attr(n, "href")
					path, _, _ = strings.Cut(href, "#")
				}
			}
			if len(d.each("tr")) > 3*rowsPage/2 {
				t.Errorf("%s has %d rows", d.path, len(d.each("tr")))
			}
			if paths := len(pictured(d)); paths > 2*flowMost+2 {
				t.Errorf("%s: %d ribbons", d.path, paths)
			}
		}
		if len(seen) != many {
			t.Errorf("%s lists %d %s, expected %d", side.path, len(seen), side.parameter, many)
		}
		read(t, h, side.path+"?"+side.parameter+"=4", http.StatusNotFound)
	}
	read(t, h, "/made-up/tx/"+first.Txs[0].Hash.String(), http.StatusOK).has(t, fmt.Sprintf("%d more", many-flowMost+1), fmt.Sprintf("%d outputs", many), "coinbase")
}

// pictured returns the widths of the streams in a picture.
func pictured(d *document) (bars []string) {
	for _, n := range d.each("svg") {
		if label, _ := attr(n, "aria-label"); !strings.HasPrefix(label, "The flow") {
			continue
		}
		for c := range n.Descendants() {
			if c.Data == "rect" {
				if class, _ := attr(c, "class"); class != "node" {
					height, _ := attr(c, "height")
					bars = append(bars, height)
				}
			}
		}
	}
	return bars
}

// Both sides of a diagram have the same total thickness and are within the picture, for any transaction.
func TestFlowsHaveEqualSides(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, variantOf modeltest.Variant) {
		db := variant(t, variantOf, variantOf.NewGenerator(testseed.Of(t, 21)).Blocks(60))
		drawn := 0
		err := db.View(t.Context(), func(view *query.View) error {
			v := &visit{site: &site{}, View: view, ctx: t.Context(), chain: chainOf("made-up", db, nil)}
			blocks, err := view.Blocks(v.ctx, query.Range{}, query.Page{Limit: 100})
			if err != nil {
				return err
			}
			for _, b := range blocks.Blocks {
				block, err := view.Block(v.ctx, strconv.Itoa(int(b.Height)))
				if err != nil {
					return err
				}
				for _, hash := range block.Txs {
					a, err := view.Tx(v.ctx, hash)
					if err != nil {
						return err
					}
					drawn++
					v.sides(t, a)
				}
			}
			return nil
		})
		if err != nil || drawn < 100 {
			t.Errorf("%s: %d pictures, %v", variantOf.Name, drawn, err)
		}
	})
}

// sides checks the picture of a transaction.
func (v *visit) sides(t *testing.T, a *query.TxAnswer) {
	t.Helper()
	f := v.flow(a)
	var left, right charts.Length
	var texts []charts.Length
	for _, s := range f.Streams {
		w, y, at := s.Bar.H, s.Bar.Y, s.AmountY
		if y < 0 || y+w > f.Height || w < 1 {
			t.Fatalf("%s: a stream from %s, %s high, in a picture of %s", a.Hash, s.Bar.Y, s.Bar.H, f.Height)
		}
		if s.Anchor == "end" {
			left += w
			texts = append(texts, at)
		} else {
			right += w
			texts = append(texts, -at)
		}
	}
	slices.Sort(texts)
	for i := 1; i < len(texts); i++ {
		if texts[i]-texts[i-1] < 30 {
			t.Errorf("%s: two texts overlap", a.Hash)
		}
	}
	// Streams below the minimum are drawn wider, by at most the minimum.
	if math.Abs(float64(left-right)) > float64(charts.FlowThin)*float64(len(f.Streams))+1 {
		t.Errorf("%s: %v flows in and %v out", a.Hash, left, right)
	}
}

// A fee that is an output is one stream. The pages of its transaction and its block state it.
func TestFeeOutputIsShownOnce(t *testing.T) {
	v := modeltest.Variant{Name: "by-hand", Coinbase: true, FeeOutputs: true, ByHand: true}
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(9000)})
	paying := model.Tx{Inputs: []model.Input{{Tx: first.Txs[0].Hash}}, Outputs: outputs(8123, 877)}
	paying.Fee = model.Fee{Stated: true, Amount: 877}
	second := blockOfTxs(first, model.Tx{Outputs: outputs(9000)}, paying)
	db := variant(t, v, []*model.Block{first, second})
	h := explorerOf(t, chainOf("made-up", db, nil))
	hash := second.Txs[1].Hash.String()
	for path, label := range map[string]string{
		"/made-up/tx/" + hash: "dt", "/made-up/block/" + second.Hash.String(): "td",
	} {
		page := read(t, h, path, http.StatusOK)
		if !slices.ContainsFunc(page.each(label), func(n *html.Node) bool {
			if label == "dt" {
				return textOf(n) == "Fee" && strings.HasPrefix(textOf(n.NextSibling), "877")
			}
			name, _ := attr(n, "data-label")
			return name == "Fee" && strings.HasPrefix(textOf(n), "877")
		}) {
			t.Errorf("%s states no fee of 877", path)
		}
	}
	a, err := db.Tx(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	if f := (&visit{site: &site{}, ctx: t.Context(), chain: chainOf("made-up", db, nil)}).flow(a); len(f.Streams) != 3 {
		t.Errorf("%d streams, expected one input and two outputs: %+v", len(f.Streams), f.Streams)
	}
}
