package explorer

import (
	"encoding/csv"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// historyOf returns the transactions in the history of a page.
func historyOf(d *document) (hashes []string) {
	for _, cell := range d.each("td") {
		if label, _ := attr(cell, "data-label"); label != "Transaction" {
			continue
		}
		for n := range cell.Descendants() {
			if href, _ := attr(n, "href"); n.Type == html.ElementNode && strings.HasPrefix(href, "/made-up/tx/") {
				hashes = append(hashes, strings.TrimPrefix(href, "/made-up/tx/"))
				break
			}
		}
	}
	return hashes
}

// The pages of a filtered history together list the selected transactions, each once and in order, whatever the sizes of
// pages and of reads are.
func TestFilteredHistoriesAreComplete(t *testing.T) {
	defer func(rows, batch, most int) { valueRows, filterBatch, filterMost = rows, batch, most }(valueRows, filterBatch, filterMost)
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		rng := testseed.Rand(t)
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 23)).Blocks(50))
		h := explorerOf(t, chainOf("made-up", db, nil))
		value := mostUsed(t, db, "address")
		history, err := db.History(t.Context(), "address", value.Value, query.Range{}, query.Page{Limit: query.MaxLimit, Descending: true})
		if err != nil {
			t.Fatal(err)
		}
		filters := []query.HistoryFilter{{Direction: query.Received}, {Direction: query.Sent}}
		for _, a := range value.Assets {
			filters = append(filters, query.HistoryFilter{Asset: a.Asset}, query.HistoryFilter{Direction: query.Sent, Asset: a.Asset})
		}
		for _, f := range filters[:min(len(filters), 8)] {
			valueRows, filterBatch, filterMost = 1+rng.IntN(5), 1+rng.IntN(7), 1+rng.IntN(20)
			var want, got []string
			for _, tx := range history.Txs {
				if naiveHas(f, &tx) {
					want = append(want, tx.Hash)
				}
			}
			for _, d := range pages(t, h, fmt.Sprintf("/made-up/address/%s?direction=%s&asset=%s", value.Value, f.Direction, f.Asset)) {
				rows := historyOf(d)
				if len(rows) > valueRows {
					t.Errorf("%s has %d rows", d.path, len(rows))
				}
				got = append(got, rows...)
			}
			list := fmt.Sprintf("/made-up/address/%s/history.csv?direction=%s&asset=%s", value.Value, f.Direction, f.Asset)
			if f.Direction == "" {
				list = strings.Replace(list, "direction=&", "", 1)
			}
			if file := hashesOf(t, h, strings.TrimSuffix(list, "&asset=")); !slices.Equal(file, want) {
				t.Errorf("%s has %v, expected %v", list, file, want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v, pages of %d, reads of %d: %v, expected %v", f, valueRows, filterBatch, got, want)
			}
		}
		path := "/made-up/address/" + value.Value
		read(t, h, path+"?direction=up", http.StatusBadRequest).has(t, "expected received or sent")
		read(t, h, path+"?direction=&asset=&from=", http.StatusOK).has(t, "Unspent outputs")
		d := read(t, h, path+"?direction=sent&from=1971-01-01&to=1971-01-02", http.StatusOK)
		d.has(t, "No such transactions", "Whole history")
		if file := path + "/history.csv?direction=sent&from=1971-01-01&to=1971-01-02"; d.count(file) != 1 {
			t.Errorf("%s has no link to %s", d.path, file)
		}
	})
}

// hashesOf returns the transactions of a CSV file.
func hashesOf(t *testing.T, h http.Handler, path string) (hashes []string) {
	t.Helper()
	rows, err := csv.NewReader(ask(t, h, path).Body).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	at := slices.Index(rows[0], "hash")
	for _, row := range rows[1:] {
		hashes = append(hashes, row[at])
	}
	return hashes
}

// The filter of a history accepts the name of an asset. If several assets have it, it is the one that the value holds.
func TestFiltersAcceptNamesOfAssets(t *testing.T) {
	one, other, same := []byte("asset one"), []byte("asset two"), []byte("same")
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(50)})
	out := outputs(30, 20)
	out[0].Assets = []model.Asset{{ID: one, Amount: 7}, {ID: same, Amount: 1}}
	out[1].Assets = []model.Asset{{ID: other, Amount: 9}}
	named := func(id []byte, n int64, name string) model.Mint {
		return model.Mint{Asset: id, Amount: big.NewInt(n), Info: []byte(name)}
	}
	second := blockOfTxs(first, model.Tx{Outputs: outputs(50)}, model.Tx{Inputs: []model.Input{{Tx: first.Txs[0].Hash}}, Outputs: out,
		Mints: []model.Mint{named(one, 7, "GOLD"), named(other, 9, "GOLD"), named(same, 1, "SILVER")}})
	h := explorerOf(t, chainOf("made-up", variant(t, byHand, []*model.Block{first, second}), nil))
	hash := second.Txs[1].Hash.String()
	for name, want := range map[string]int{"SILVER": 1, "silver": 1, "GOLD": 1, fmt.Sprintf("%x", one): 1} {
		d := read(t, h, "/made-up/address/a000001?asset="+name, http.StatusOK)
		if n := len(historyOf(d)); n != want || d.count("/made-up/tx/"+hash) == 0 {
			t.Errorf("%s: %d transactions, expected %d", d.path, n, want)
		}
	}
	read(t, h, "/made-up/address/a000001?asset=LEAD", http.StatusNotFound)
	read(t, h, "/made-up/address/a000101?asset=SILVER", http.StatusOK).has(t, "No such transactions")
}

// naiveHas is [query.HistoryFilter.Has] in another way.
func naiveHas(f query.HistoryFilter, t *query.HistoryTxAnswer) bool {
	sums := map[string][2]string{"": {t.Received, t.Sent}}
	for _, a := range t.Assets {
		sums[a.Asset] = [2]string{a.Received, a.Sent}
	}
	sum, ok := sums[f.Asset]
	if !ok {
		return false
	}
	in, out := format.Integer(sum[0]), format.Integer(sum[1])
	sign := in.Sub(in, out).Sign()
	return map[string]bool{"": true, query.Received: sign == 1, query.Sent: sign == -1}[f.Direction]
}

// The row of a transaction names others in it: the recipients if the value sent more than it received, otherwise the
// owners of the outputs that it spends.
func TestHistoriesNameOtherParties(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 29)).Blocks(40))
		h := explorerOf(t, chainOf("made-up", db, nil))
		value := mostUsed(t, db, "address")
		named := 0
		for _, d := range pages(t, h, "/made-up/address/"+value.Value+"?history=all") {
			for _, row := range d.each("tr") {
				shown, hash := "", ""
				for n := range row.Descendants() {
					if class, _ := attr(n, "class"); class == "parties" {
						shown = textOf(n)
					}
					if href, _ := attr(n, "href"); strings.HasPrefix(href, "/made-up/tx/") {
						hash = strings.TrimPrefix(href, "/made-up/tx/")
					}
				}
				if hash == "" {
					continue
				}
				tx, err := db.Tx(t.Context(), hash)
				if err != nil {
					t.Fatal(err)
				}
				if len(tx.Inputs) > partyReads || len(tx.Outputs) > partyReads {
					continue
				}
				if strings.Contains(shown, " and more") {
					continue // an address that is too long for a list
				}
				if want := naiveParties(tx, value.Value); !showsAs(shown, want) {
					t.Errorf("%s in the history of %s: %q, expected %q", hash, value.Value, shown, want)
				}
				if shown != "" {
					named++
				}
			}
		}
		if named == 0 {
			t.Error("no row names another party")
		}
	})
}

// showsAs reports whether a list is shown as its parts, of which the middle of long ones is left out.
func showsAs(shown, list string) bool {
	parts, whole := strings.Split(shown, ", "), strings.Split(list, ", ")
	return len(parts) == len(whole) && !slices.ContainsFunc(parts, func(part string) bool {
		want := whole[0]
		whole = whole[1:]
		begin, end, short := strings.Cut(part, "…")
		return part != want && !(short && strings.HasPrefix(want, begin) && strings.HasSuffix(want, end))
	})
}

func naiveParties(tx *query.TxAnswer, own string) string {
	change := format.Integer("0")
	var from, to []string
	for _, in := range tx.Inputs {
		if key := in.Output.Keys["address"]; key == own {
			change.Sub(change, format.Integer(in.Output.Value))
		} else if text, ok := key.(string); ok && !slices.Contains(from, text) {
			from = append(from, text)
		}
	}
	for _, out := range tx.Outputs {
		if key := out.Keys["address"]; key == own {
			change.Add(change, format.Integer(out.Value))
		} else if text, ok := key.(string); ok && !slices.Contains(to, text) {
			to = append(to, text)
		}
	}
	word, others := "from ", from
	if change.Sign() < 0 {
		word, others = "to ", to
	}
	switch n := len(others) - partyShown; {
	case len(others) == 0:
		return ""
	case n == 1:
		return word + strings.Join(others[:partyShown], ", ") + " and 1 other"
	case n > 1:
		return fmt.Sprintf("%s%s and %d others", word, strings.Join(others[:partyShown], ", "), n)
	}
	return word + strings.Join(others, ", ")
}
