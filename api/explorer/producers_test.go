package explorer

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
)

// The chart has the producers that the pages of the newest blocks show.
func TestProducersOfBlocks(t *testing.T) {
	testrun.Slow(t)
	for name, open := range map[string]func(testing.TB) *core.DB{"cardano": cardano, "ergo": ergo} {
		db := open(t)
		h := explorerOf(t, chainOf(name, db, nil))
		newest, err := db.Blocks(t.Context(), query.Range{}, query.Page{Limit: producerBlocks, Descending: true})
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, b := range newest.Blocks {
			d := read(t, h, "/"+name+"/block/"+strconv.Itoa(int(b.Height)), http.StatusOK)
			dts, dds := d.each("dt"), d.each("dd")
			for i, dt := range dts {
				if text := strings.ToLower(textOf(dt)); text == "miner" || text == "pool" {
					counts[strings.TrimSuffix(textOf(dds[i]), " copy")]++
				}
			}
		}
		if len(counts) == 0 {
			t.Fatalf("%s: no block names its producer", name)
		}
		d := read(t, h, "/"+name+"/charts", http.StatusOK)
		d.has(t, "Producers of the newest 144 blocks")
		var shown []string
		for _, tr := range d.each("tr") {
			shown = append(shown, textOf(tr))
		}
		most := 0
		for producer, n := range counts {
			most = max(most, n)
			if len(counts) <= producerShares && !slices.ContainsFunc(shown, func(row string) bool {
				return strings.Contains(row, producer) && strings.Contains(row, " "+strconv.Itoa(n)+" ")
			}) {
				t.Errorf("%s: %s with %d blocks is not in %q", name, producer, n, shown)
			}
		}
		if !slices.ContainsFunc(shown, func(row string) bool { return strings.Contains(row, strconv.Itoa(most)) }) {
			t.Errorf("%s: the largest has %d blocks: %q", name, most, shown)
		}
	}
}

// Mining pools are known by the texts of coinbases, which raw transactions have.
func TestMiningPools(t *testing.T) {
	h, _ := largeBlock(t, 3)
	d := read(t, h, "/made-up/charts", http.StatusOK)
	d.has(t, "Producers of the newest 2 blocks", "Braiins Pool")
}

// The first coinbases of Bitcoin name no pool, so there is no chart.
func TestBlocksOfUnknownProducers(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	if text := read(t, h, "/bitcoin/charts", http.StatusOK).main(); strings.Contains(text, "Producers") {
		t.Error(text)
	}
}
