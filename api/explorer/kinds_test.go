package explorer

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"birthmark/model"
)

// The charts divide the outputs by the values of an index with few values, if its balances are stored. The numbers are
// those of the chain: each output has one type.
func TestOutputsByKind(t *testing.T) {
	db := kept(t, map[string]model.IndexOptions{"address": {Balance: true}, "script_type": {Balance: true}}, false)
	d := read(t, explorerOf(t, chainOf("bitcoin", db, nil)), "/bitcoin/charts", http.StatusOK)
	d.has(t, "Outputs by script type", "pubkeyhash")
	if strings.Contains(d.main(), "Outputs by address") {
		t.Error("the addresses are kinds of outputs")
	}
	sum := uint64(0)
	cells := d.each("td")
	for i, td := range cells {
		for _, a := range (&document{root: td}).each("a") {
			if href, _ := attr(a, "href"); strings.HasPrefix(href, "/bitcoin/index/script_type/") {
				n, err := strconv.ParseUint(strings.ReplaceAll(textOf(cells[i+1]), ",", ""), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				sum += n
			}
		}
	}
	status, err := db.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sum == 0 || sum != status.Totals.Outputs {
		t.Errorf("the chart has %d outputs, expected %d", sum, status.Totals.Outputs)
	}
	bare := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil)) // without the balances of script types
	if text := read(t, bare, "/bitcoin/charts", http.StatusOK).main(); strings.Contains(text, "Outputs by") {
		t.Errorf("a chart without balances: %s", text)
	}
}
