package explorer

import (
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/api/explorer/format"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The page of an asset matches the database, and the chart shows the largest holders.
func TestPageOfAnAssetMatchesTheDatabase(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 13)).Blocks(60))
		h := explorerOf(t, chainOf("made-up", db, nil))
		assets, err := db.Assets(t.Context(), query.Page{Limit: query.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		listed := 0
		for _, p := range pages(t, h, "/made-up/assets") {
			p.has(t, humanize.Plural(assets.Count, "asset"))
			for _, a := range assets.Assets {
				listed += p.count("/made-up/asset/" + a.Asset)
			}
		}
		if listed != len(assets.Assets) {
			t.Errorf("%d assets are listed, expected %d", listed, len(assets.Assets))
		}
		for _, a := range assets.Assets[:min(12, len(assets.Assets))] {
			path := "/made-up/asset/" + a.Asset
			d := read(t, h, path, http.StatusOK)
			u := assetUnit(&a)
			d.has(t, amountOf(u, a.Supply).String(), humanize.Plural(a.MintCount, "mint"), humanize.Plural(a.BurnCount, "burn"), a.Name)
			if a.Fingerprint != "" {
				if res := ask(t, h, "/made-up/asset/"+a.Fingerprint); res.Header.Get("Location") != path {
					t.Errorf("the fingerprint of %s redirects to %q", a.Asset, res.Header.Get("Location"))
				}
			}
			holders, err := db.AssetHolders(t.Context(), a.Asset, query.Page{Limit: query.MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(holders.Holders, func(a, b query.HolderAnswer) int { return format.Integer(b.Amount).Cmp(format.Integer(a.Amount)) })
			for i, holder := range holders.Holders {
				if i < chartShares && d.count("/made-up/address/"+holder.Address) == 0 {
					t.Errorf("%s: holder %d is not in the chart", path, i+1)
				}
			}
			n := 0
			for _, p := range pages(t, h, path+"?holders=all") {
				for _, holder := range holders.Holders {
					n += p.count("/made-up/address/" + holder.Address)
				}
			}
			if n != len(holders.Holders) {
				t.Errorf("%s: %d holders are listed, expected %d", path, n, len(holders.Holders))
			}
			transfers := 0
			for _, p := range pages(t, h, path+"?transfers=all") {
				transfers += strings.Count(p.text, `data-label="To"`)
			}
			if transfers != int(a.OutputCount) {
				t.Errorf("%s: %d transfers are listed, expected %d", path, transfers, a.OutputCount)
			}
			events := 0
			for _, p := range pages(t, h, path+"?events=all") {
				events += strings.Count(p.section("events"), "minted") + strings.Count(p.section("events"), "burned")
			}
			if events != int(a.MintCount+a.BurnCount) {
				t.Errorf("%s: %d events are listed, expected %d", path, events, a.MintCount+a.BurnCount)
			}
		}
	})
}

func TestRichListIsInOrder(t *testing.T) {
	for _, v := range modeltest.Variants()[:2] {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 14)).Blocks(40))
		h := explorerOf(t, chainOf("made-up", db, nil))
		assets, err := db.Assets(t.Context(), query.Page{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, asset := range []string{"", assets.Assets[0].Asset} {
			for _, index := range []string{"address", "label"} {
				want, err := richest.Of(t.Context(), db.Queries, index, asset, richestRows)
				if err != nil {
					t.Fatal(err)
				}
				d := read(t, h, "/made-up/richest/"+index+"?asset="+asset, http.StatusOK)
				text, at := "", 0
				for _, part := range pages(t, h, d.path) {
					text += part.main()
				}
				for i, r := range want.Values {
					row := fmt.Sprintf("%d%.90s", i+1, r.Value) // lists shorten long values
					n := strings.Index(text[at:], row)
					if n < 0 {
						t.Fatalf("%s: %q is not the next row in\n%s", d.path, row, text[at:])
					}
					at += n
				}
			}
		}
	}
}

// Names of assets are escaped, whatever characters they contain.
func TestNamesOfAssetsAreEscaped(t *testing.T) {
	chain, err := chains.New("cardano", "mainnet")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain})
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{site: &site{}, chain: chainOf("cardano", db, nil)}
	policy := strings.Repeat("ab", 28)
	for id, want := range map[string]string{
		policy: "", policy + "4e4654": "NFT", policy + "000de14042756464": "Budd", policy + "00": "", policy + "ff": "", policy + "3c623e": "<b>", "ab": "",
	} {
		if got := v.AssetName(&query.AssetAnswer{Asset: id}); got != want {
			t.Errorf("%s has the name %q, expected %q", id, got, want)
		}
	}
	if got := v.AssetName(&query.AssetAnswer{Asset: policy + "4e4654", Name: "Said"}); got != "Said" {
		t.Errorf("the name from the issuer is %q", got)
	}
}

// describing is a chain whose mints state the decimals of an asset.
type describing struct{ model.Chain }

func (describing) DescribeAsset(info []byte) (d model.AssetDescription) {
	if n, err := strconv.Atoi(string(info)); err == nil {
		d.Decimals = &n
	}
	return d
}

// The page shows the decimals of an asset, also 0, and no line if they are unknown.
func TestAssetPageShowsDecimals(t *testing.T) {
	out, mints := outputs(100), []model.Mint(nil)
	infos := []string{"0", "8", "unsaid"}
	for _, info := range infos {
		id := []byte("asset " + info)
		out[0].Assets = append(out[0].Assets, model.Asset{ID: id, Amount: 1})
		mints = append(mints, model.Mint{Asset: id, Amount: big.NewInt(1), Info: []byte(info)})
	}
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(50)})
	second := blockOfTxs(first, model.Tx{Outputs: outputs(50)},
		model.Tx{Inputs: []model.Input{{Tx: first.Txs[0].Hash}}, Outputs: out, Mints: mints})
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: describing{byHand.Chain("one")}})
	if err == nil {
		err = db.Append(t.Context(), []*model.Block{first, second})
	}
	if err != nil {
		t.Fatal(err)
	}
	h := explorerOf(t, chainOf("made-up", db, nil))
	for i, want := range []string{"Decimals0 First seen", "Decimals8 First seen", ""} {
		d := read(t, h, fmt.Sprintf("/made-up/asset/%x", "asset "+infos[i]), http.StatusOK)
		d.has(t, want)
		if want == "" && strings.Contains(d.main(), "Decimals") {
			t.Errorf("the page shows unknown decimals: %s", d.main())
		}
	}
}

// verbose is a chain whose mints have long descriptions.
type verbose struct{ model.Chain }

func (verbose) DescribeMint([]byte, *model.TxDetails, *model.OutputDetails) (m model.AssetMetadata) {
	m.Standard = "a standard"
	for i := range 1000 {
		m.Fields = append(m.Fields, model.MetadataField{Name: fmt.Sprintf("field %d.", i), Value: strings.Repeat("é", 1000)})
	}
	return m
}

// The page of an asset shows a part of a long description.
func TestLongDescriptionsOfAssetsAreShortened(t *testing.T) {
	out, id := outputs(100), []byte("an asset")
	out[0].Assets = []model.Asset{{ID: id, Amount: 1}}
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(50)})
	second := blockOfTxs(first, model.Tx{Outputs: outputs(50)}, model.Tx{Inputs: []model.Input{{Tx: first.Txs[0].Hash}}, Outputs: out,
		Mints: []model.Mint{{Asset: id, Amount: big.NewInt(1)}}})
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: verbose{byHand.Chain("one")}})
	if err == nil {
		err = db.Append(t.Context(), []*model.Block{first, second})
	}
	if err != nil {
		t.Fatal(err)
	}
	d := read(t, explorerOf(t, chainOf("made-up", db, nil)), fmt.Sprintf("/made-up/asset/%x", id), http.StatusOK)
	d.has(t, "field 0.", "field 39.", strings.Repeat("é", 500)+"…")
	if strings.Contains(d.main(), "field 40.") || strings.Contains(d.main(), strings.Repeat("é", 501)) {
		t.Errorf("the page has %d bytes", len(d.text))
	}
}
