package explorer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"

	"birthmark/internal/testrun"
	"golang.org/x/net/html"
)

// Every block of a real chain is in one period. Periods are adjacent, and the difficulty changes only between periods.
func TestPeriodsOfRealChains(t *testing.T) {
	testrun.Slow(t)
	for name, db := range map[string]*core.DB{"bitcoin": bitcoin(t), "cardano": cardano(t), "ergo": ergo(t)} {
		chain := db.Chain()
		reporter := chain.(model.PeriodReporter)
		rated, _ := chain.(model.DifficultyReporter)
		if (rated == nil) != (name == "cardano") {
			t.Errorf("%s has a difficulty: %t", name, rated != nil)
		}
		periods := 0
		var before model.Period
		var hard float64
		err := db.From(t.Context(), func(q *query.Query) error {
			for h := model.HeightPk(0); h <= db.Tip().Height; h++ {
				row, err := schema.BlockAt(q.R, h)
				if kind, _ := model.KindOf(err); kind == model.NotFound {
					continue // Ergo begins at 1
				}
				if err != nil {
					return err
				}
				p, ok, err := reporter.Period(h, row.Header)
				if err != nil || !ok {
					return fmt.Errorf("%s, block %d: %t, %w", name, h, ok, err)
				}
				var now float64
				if rated != nil {
					if now, err = rated.Difficulty(row.Header); err != nil {
						return err
					}
				}
				step := p.Number*p.Length + p.Done - before.Number*p.Length - before.Done
				switch {
				case p.Done < 1 || p.Done > p.Length || p.Seconds <= 0:
					t.Errorf("%s, block %d: %+v", name, h, p)
				case periods > 0 && (p.Unit == "block" && step != 1 || step < 1):
					t.Errorf("%s, block %d: %+v follows %+v", name, h, p, before)
				case periods > 0 && p.Number == before.Number && now != hard:
					t.Errorf("%s, block %d: the difficulty changes from %v to %v within %+v", name, h, hard, now, p)
				}
				if periods == 0 || p.Number != before.Number {
					periods++
				}
				before, hard = p, now
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if want := map[string]int{"bitcoin": 8, "cardano": 13, "ergo": 2}[name]; periods != want {
			t.Errorf("%s has %d periods, expected %d", name, periods, want)
		}
	}
}

// EIP-37 starts at an epoch boundary, on mainnet only.
func TestEpochsOfEIP37(t *testing.T) {
	chain := ergo(t).Chain().(model.PeriodReporter)
	for height, want := range map[model.HeightPk]model.Period{
		844_672: {Number: 824, Done: 896, Length: 1024}, 844_673: {Number: 6599, Done: 1, Length: 128}, 844_801: {Number: 6600, Done: 1, Length: 128},
	} {
		p, _, err := chain.Period(height, nil)
		if err != nil || p.Number != want.Number || p.Done != want.Done || p.Length != want.Length {
			t.Errorf("block %d: %+v, %v; expected %+v", height, p, err, want)
		}
	}
}

func TestHomePage(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil), chainOf("cardano", cardano(t), nil), chainOf("ergo", ergo(t), nil))
	for path, texts := range map[string][]string{
		"/bitcoin": {"Block interval11 min 30 s average of 120 blocks", "Difficulty1 about 6.31 MH/sNext difficultyunknown0% in 1,996 blocks, about 13 days",
			"Supply706,600 BTC in unspent outputs", "Fees in the newest block0.00000000 BTC", "Latest transactions"},
		"/cardano": {"Epoch1299% ends in 14 slots", "Fees in the newest block1.580798 ADA 0.526932 ADA per transaction", "0.0658 per second"},
		"/ergo":    {"Epoch195% ends in 48 blocks, about 1 hour", "Difficulty1.2T"},
	} {
		d := read(t, h, path, http.StatusOK)
		d.has(t, texts...)
		if len(d.text) > 100_000 {
			t.Errorf("%s has %d bytes", path, len(d.text))
		}
		bars := 0
		for _, a := range d.each("a") {
			if href, _ := attr(a, "href"); a.Namespace == "svg" && strings.HasPrefix(href, path+"/block/") {
				bars++
			}
		}
		if bars != homeChart {
			t.Errorf("%s: %d bars are links", path, bars)
		}
		rows := 0
		for _, table := range d.each("table") {
			if class, _ := attr(table, "class"); class == "list newest" {
				for n := range table.Descendants() {
					if n.Type == html.ElementNode && n.Data == "tr" {
						rows++
					}
				}
			}
		}
		if rows != homeTxs+1 {
			t.Errorf("%s: %d rows of the newest transactions", path, rows)
		}
	}
}

// Fewer than two blocks have no interval and no rate.
func TestPaceOfFewBlocks(t *testing.T) {
	for _, blocks := range [][]query.BlockSummaryAnswer{nil, {{Time: 600}}, {{Time: 600}, {Time: 600}}} {
		if interval, rate := pace(blocks); interval != 0 || rate != 0 {
			t.Errorf("%d blocks: %v, %v", len(blocks), interval, rate)
		}
	}
}

// The forecast of the difficulty is the ratio of the intended to the actual interval, as the overview shows it.
func TestForecastOfTheDifficulty(t *testing.T) {
	db := bitcoin(t)
	blocks, err := db.Blocks(t.Context(), query.Range{}, query.Page{Limit: 500, Descending: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), func(view *query.View) error {
		v := &visit{View: view, ctx: t.Context()}
		for _, n := range []int{21, 100, 500} {
			interval, _ := pace(blocks.Blocks[:n])
			for _, intended := range []float64{interval.Seconds(), 600, 2, 9000} {
				got, ok, err := v.nextDifficulty(&model.Period{Done: uint64(n), Seconds: intended}, blocks.Blocks[0].Time)
				want := fmt.Sprintf("%+.1f%%", 100*max(-0.75, min(3, intended/interval.Seconds()-1)))
				if intended == interval.Seconds() {
					want = "unchanged"
				}
				if err != nil || !ok || got != want {
					t.Errorf("%d blocks, every %v s instead of %v: %s, %t, %v; expected %s", n, interval.Seconds(), intended, got, ok, err, want)
				}
			}
		}
		if got, ok, err := v.nextDifficulty(&model.Period{Done: fewBlocks, Seconds: 600}, blocks.Blocks[0].Time); ok || err != nil {
			t.Errorf("%d blocks give %s, %v", fewBlocks, got, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A card of the front page has labeled figures and the state of its chain.
func TestFrontPageShowsTheStateOfChains(t *testing.T) {
	db := bitcoin(t)
	at := &core.Progress{Height: 14_131, Target: 14_131}
	h := explorerOf(t, chainOf("one", db, nil), chainOf("two", db, stateOf(at, "")), chainOf("three", db, stateOf(&core.Progress{Height: 14_131, Target: 20_000}, "")),
		chainOf("four", db, stateOf(at, "connection refused")))
	d := read(t, h, "/", http.StatusOK)
	var got []string
	for _, n := range d.each("li") {
		got = append(got, textOf(n))
	}
	for i, want := range []string{
		"Bitcoin not syncingHeight14,131 Newest block14 years ago Transactions14,247", "Bitcoin syncedHeight", "Bitcoin syncingHeight", "Bitcoin sync errorHeight",
	} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("card %d is %q, expected %q", i, got[i], want)
		}
	}
}
