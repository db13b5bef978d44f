package explorer

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"birthmark/core/query"
	"birthmark/internal/testrun"
)

// Details that do not fit on the page of a transaction are on the pages to which it links: one for each input and output,
// and one for the rest.
func TestDetailsWithoutRoomHavePages(t *testing.T) {
	defer func(room int) { pageRoom = room }(pageRoom)
	pageRoom = 20_000 // so that few details fit
	for _, name := range []string{"bitcoin", "cardano", "ergo"} {
		t.Run(name, func(t *testing.T) {
			db, txs := generated(t, name, testrun.Amount(1500, 500))
			h := explorerOf(t, chainOf(name, db, nil))
			slices.SortStableFunc(txs, func(a, b *query.TxAnswer) int { return b.Size - a.Size })
			linked := 0
			for _, tx := range txs[:min(len(txs), 25)] {
				path := "/" + name + "/tx/" + tx.Hash
				d := read(t, h, path, http.StatusOK)
				for side, rows := range map[string]int{"inputs": len(tx.Inputs), "outputs": len(tx.Outputs)} {
					for n := range min(rows, rowsPage) {
						row, shown := d.row(side, n)
						if row == nil {
							t.Fatalf("%s has no row %d of %s", path, n, side)
						}
						if shown {
							continue
						}
						to := path
						for a := range row.Descendants() {
							if href, _ := attr(a, "href"); a.Data == "a" && textOf(a) == textOf(row.FirstChild) {
								if to = href; strings.HasPrefix(href, "?") {
									to = path + href
								}
								break
							}
						}
						if to == path {
							if side == "inputs" && tx.Inputs[n].InputDetails != nil && len(tx.Inputs[n].Witness) > 0 {
								t.Errorf("%s: input %d has no details", path, n)
							}
							continue
						}
						linked++
						if page := read(t, h, to, http.StatusOK); side == "inputs" {
							page.has(t, "Input", tx.Inputs[n].Output.Tx, "Details")
						}
					}
				}
				if strings.Contains(d.text, "?details=all") {
					linked++
				}
				read(t, h, path+"?details=all", http.StatusOK).has(t, tx.Hash)
				read(t, h, path+"?input=1000000", http.StatusNotFound)
			}
			if t.Logf("%d parts on their own pages", linked); linked == 0 {
				t.Error("no transaction has details without room")
			}
		})
	}
}

// row returns the row of an input or output, and whether its details follow.
func (d *document) row(side string, n int) (row *html.Node, shown bool) {
	for _, section := range d.each("section") {
		if by, _ := attr(section, "aria-labelledby"); by != side {
			continue
		}
		i := -1
		for r := range section.Descendants() {
			if r.Data != "tr" || r.Parent.Data != "tbody" {
				continue
			}
			if class, _ := attr(r, "class"); class == "extra" {
				if i == n {
					return row, true
				}
				continue
			}
			if i == n {
				return row, false
			}
			i, row = i+1, r
		}
		if i == n {
			return row, false
		}
	}
	return nil, false
}
