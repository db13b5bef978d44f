package explorer

import (
	"net/http"
	"net/url"
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

// Each producer has a page with its blocks, of which the sums are those of the chain.
func TestPagesOfProducers(t *testing.T) {
	testrun.Slow(t)
	for name, open := range map[string]func(testing.TB) *core.DB{"cardano": cardano, "ergo": ergo} {
		h := explorerOf(t, chainOf(name, open(t), nil))
		all := read(t, h, "/"+name+"/producers", http.StatusOK)
		all.has(t, "Producers of the newest 1,008 blocks")
		if len(all.text) > 60_000 {
			t.Errorf("%s has %d bytes", all.path, len(all.text))
		}
		shares, pages := 0, 0
		for _, link := range all.links() {
			if !strings.HasPrefix(link, "/"+name+"/producers/") {
				continue
			}
			d := read(t, h, link, http.StatusOK)
			if pages++; len(d.text) > 60_000 {
				t.Errorf("%s has %d bytes", link, len(d.text))
			}
			blocks := 0
			for i, dt := range d.each("dt") {
				if textOf(dt) == "Blocks" {
					count, _, _ := strings.Cut(textOf(d.each("dd")[i]), " ")
					blocks, _ = strconv.Atoi(strings.ReplaceAll(count, ",", ""))
				}
			}
			shares += blocks
			if rows := len(d.each("tr")) - 1; rows != min(blocks, producerList) {
				t.Errorf("%s has %d rows and %d blocks", link, rows, blocks)
			}
			for _, a := range d.each("a") {
				if block, _ := attr(a, "href"); a.Parent.Data == "th" && pages == 1 {
					producer, err := url.PathUnescape(link[strings.LastIndex(link, "/")+1:])
					if err != nil {
						t.Fatal(err)
					}
					read(t, h, block, http.StatusOK).has(t, producer)
				}
			}
		}
		cells := all.each("td")
		for i, td := range cells {
			if textOf(td) == "others or unknown" {
				n, err := strconv.Atoi(strings.ReplaceAll(textOf(cells[i+1]), ",", ""))
				if err != nil {
					t.Fatal(err)
				}
				shares += n
			}
		}
		if pages == 0 || shares != producedBlocks {
			t.Errorf("%s: %d pages of producers with %d blocks, expected %d", name, pages, shares, producedBlocks)
		}
		tip := int(open(t).Tip().Height)
		for height, linked := range map[int]bool{tip - producedBlocks + 1: true, tip - producedBlocks: false} {
			d := read(t, h, "/"+name+"/block/"+strconv.Itoa(height), http.StatusOK)
			if name == "cardano" && strings.Contains(d.text, `href="/cardano/producers/pool1`) != linked {
				t.Errorf("block %d: its producer is linked: %t", height, !linked)
			}
		}
		read(t, h, "/"+name+"/producers/nobody", http.StatusNotFound).has(t, `No producer "nobody"`)
	}
}

// Mining pools are known by the texts of coinbases, which raw transactions have.
func TestMiningPools(t *testing.T) {
	h, _ := largeBlock(t, 3)
	d := read(t, h, "/made-up/charts", http.StatusOK)
	d.has(t, "Producers of the newest 2 blocks", "Braiins Pool")
	for range 2 { // the names are kept
		read(t, h, "/made-up/producers", http.StatusOK).has(t, "Producers of the newest 2 blocks", "Braiins Pool")
		read(t, h, "/made-up/producers/Braiins%20Pool", http.StatusOK).has(t, "Blocks2 of the newest 2", "Share100.0%", "Newest blocks")
	}
}

// The first coinbases of Bitcoin name no pool, so there is no chart.
func TestBlocksOfUnknownProducers(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	if text := read(t, h, "/bitcoin/charts", http.StatusOK).main(); strings.Contains(text, "Producers") {
		t.Error(text)
	}
	read(t, h, "/bitcoin/producers", http.StatusOK).has(t, "do not name their producers")
	read(t, h, "/bitcoin/producers/Braiins%20Pool", http.StatusNotFound)
}
