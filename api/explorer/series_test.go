package explorer

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"birthmark/api/explorer/format"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// Every series of statistics is on the page of charts, and its page has the numbers of the series, in the table, in the
// column of each point, and as CSV. No chart has a number that is not in the series.
func TestChartsOfEverySeries(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 47)).Blocks(60))
		h := explorerOf(t, chainOf("made-up", db, nil))
		names, err := db.StatisticsNames(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		overview := read(t, h, "/made-up/charts?span=all", http.StatusOK)
		if v.Statistics != (len(names.Series) > 0) {
			t.Errorf("the database has %d series", len(names.Series))
		}
		if strings.Contains(overview.main(), "index add statistics") == v.Statistics {
			t.Errorf("statistics: %t, the page: %s", v.Statistics, overview.main())
		}
		unit := humanize.UnitOf(db.Chain())
		for _, s := range names.Series {
			for _, by := range query.StatisticsUnits[1:] {
				a, err := db.Statistics(t.Context(), s.Name, by, query.Range{}, query.Page{Limit: 1000})
				if err != nil {
					t.Fatal(err)
				}
				known := slices.DeleteFunc(slices.Clone(a.Values), func(a query.StatisticAnswer) bool { return a.Value == nil })
				path := "/made-up/charts/" + s.Name + "?by=" + by + "&span=all"
				if shown := overview.count("/made-up/charts/" + s.Name + "?span=all"); (shown > 0) == isZero(a.Values) {
					t.Errorf("the overview has %d links to %s, which has %d numbers", shown, s.Name, len(known))
				}
				d := read(t, h, path, http.StatusOK)
				var want []string
				for _, a := range slices.Backward(known) {
					text := humanize.Thousands(*a.Value)
					if s.Unit == "amount" {
						text = format.AmountOf(unit, *a.Value).String()
					}
					want = append(want, text)
				}
				if got := d.numbers(); len(want) <= 60 && !slices.Equal(got, want) {
					t.Errorf("%s: the table has %q, expected %q", path, got, want)
				}
				if rows := csvOf(t, h, d.fileOf(t)); len(rows) != len(a.Values)+1 {
					t.Errorf("%s: the CSV has %d rows, expected %d numbers", path, len(rows), len(a.Values))
				}
			}
		}
	})
}

// numbers returns the second column of the table of a chart.
func (d *document) numbers() (list []string) {
	for _, td := range d.each("td") {
		if class, _ := attr(td, "class"); class == "n" {
			list = append(list, textOf(td))
		}
	}
	return list
}

// fileOf returns the path of the file to which a page links.
func (d *document) fileOf(t testing.TB) string {
	t.Helper()
	for _, a := range d.each("a") {
		if _, file := attr(a, "download"); file {
			href, _ := attr(a, "href")
			return href
		}
	}
	t.Fatalf("%s has no file", d.path)
	return ""
}

// The charts of a real chain: spans begin with a whole period, and the points of a line show their values.
func TestChartsOfBitcoin(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	d := read(t, h, "/bitcoin/charts", http.StatusOK)
	d.has(t, "Activity", "Value", "Addresses", "Mining", "Transactions", "Active addresses", "New addresses", "Difficulty")
	if len(d.text) > 150_000 {
		t.Errorf("the page has %d bytes", len(d.text))
	}
	if n := len(d.each("table")); n > 0 {
		t.Errorf("the overview has %d tables", n)
	}
	year := read(t, h, "/bitcoin/charts/transactions", http.StatusOK)
	year.has(t, "Transactions by day", "Download as CSV")
	columns := 0
	for _, n := range year.each("rect") {
		if width, _ := attr(n, "width"); width != "" {
			columns++
		}
	}
	if n := len(csvOf(t, h, year.fileOf(t))) - 1; columns != n || n < 100 {
		t.Errorf("the chart of %d days has %d columns", n, columns)
	}
	months := read(t, h, "/bitcoin/charts/supply?span=all&by=month", http.StatusOK)
	months.has(t, "Supply by month, in BTC", "706,600.00000000 BTC", "Jan 2009")
	week := csvOf(t, h, read(t, h, "/bitcoin/charts/transactions?by=week", http.StatusOK).fileOf(t))
	for _, row := range week[1:] {
		if at, err := time.Parse(time.RFC3339, row[1]); err != nil || at.Weekday() != time.Monday || at.Truncate(24*time.Hour) != at {
			t.Errorf("a week begins at %s", row[1])
		}
	}
	all := read(t, h, "/bitcoin/charts/difficulty?span=all", http.StatusOK)
	all.has(t, "least 1 at 0, most 1 at 0, last 1")
	if rows := csvOf(t, h, all.fileOf(t)); !slices.Equal(rows[0], []string{"height", "time", "difficulty"}) ||
		!slices.Equal(rows[1], []string{"0", "2009-01-03T18:15:05Z", "1"}) {
		t.Errorf("the file of the difficulty begins with %q", rows[:2])
	}
	if text := read(t, h, "/bitcoin", http.StatusOK).text; !strings.Contains(text, `href="/bitcoin/charts"`) {
		t.Error("the navigation has no charts")
	}
}

// Wrong series, spans and units are errors that name the expected values.
func TestChartsRejectWrongArguments(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil), chainOf("cardano", cardano(t), nil))
	for path, want := range map[string]string{
		"/bitcoin/charts?span=decade":                "expected month, year, all",
		"/bitcoin/charts/transactions?span=decade":   "expected month, year, all",
		"/bitcoin/charts/transactions?by=block":      "expected day, week, month",
		"/bitcoin/charts/nothing":                    "expected one of blocks, transactions",
		"/bitcoin/charts/nothing.new":                "expected one of blocks, transactions",
		"/cardano/charts/transactions":               "birthmark index add statistics",
		"/bitcoin/charts/transactions?by=day&span=x": "expected month, year, all",
	} {
		read(t, h, path, http.StatusBadRequest).has(t, want)
	}
	read(t, h, "/cardano/charts/difficulty", http.StatusNotFound).has(t, "no difficulty")
	read(t, h, "/cardano/charts", http.StatusOK).has(t, "index add statistics")
}

// The difficulty of a few blocks is a chart; a chain without blocks has a page without one.
func TestDifficultyOfFewBlocks(t *testing.T) {
	for _, n := range []model.HeightPk{0, 1, 2} {
		chain := bitcoin(t).Chain()
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain})
		if err != nil {
			t.Fatal(err)
		}
		h := explorerOf(t, chainOf("bitcoin", db, nil))
		read(t, h, "/bitcoin/charts/difficulty", http.StatusOK).has(t, "No blocks yet.")
		read(t, h, "/bitcoin/charts", http.StatusOK)
		source, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + blocksFile(t), Indexes: db.Indexes()})
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		if err := core.Sync(t.Context(), db, source, core.SyncOptions{To: &n}); err != nil {
			t.Fatal(err)
		}
		if got := read(t, h, "/bitcoin/charts/difficulty", http.StatusOK).numbers(); len(got) != int(n)+1 {
			t.Errorf("%d blocks: the chart has %q", n+1, got)
		}
		read(t, h, "/bitcoin/charts", http.StatusOK).has(t, "Difficulty")
	}
}

// The charts of fee rates and of fullness have all newest blocks, or blocks of a longer span at equal distances. More
// blocks do not change the others.
func TestChartsOfBlocks(t *testing.T) {
	const hour, size = 60 * 60, 400
	v := byHand
	v.Raw = true
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: byRate{weighing{v.Chain("one")}}, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	h := explorerOf(t, chainOf("made-up", db, nil))
	read(t, h, "/made-up/charts/feerates", http.StatusOK).has(t, "No blocks yet")
	var tip *model.Block
	mine := func(n int) {
		for range n {
			txs := []model.Tx{{Outputs: outputs(1_000_000), Raw: make([]byte, size)}}
			if tip != nil {
				txs = append(txs, model.Tx{Inputs: []model.Input{{Tx: tip.Txs[0].Hash}}, Raw: make([]byte, size),
					Outputs: outputs(1_000_000 - size - uint64(tip.Height) - 1)})
			}
			tip = blockOfTxs(tip, txs...)
			tip.Time += int64(tip.Height) * 6 * hour
			if err := db.Append(t.Context(), []*model.Block{tip}); err != nil {
				t.Fatal(err)
			}
		}
	}
	mine(500)
	// points checks that the chart has the blocks since a time whose height is a multiple of distance.
	points := func(path string, since int64, distance int) {
		t.Helper()
		d, n := read(t, h, path, http.StatusOK), 0
		for height := 0; height <= int(tip.Height); height++ {
			rate := strconv.FormatFloat(float64(size+height)/(size/4), 'f', -1, 64) + " sat/vB"
			point := fmt.Sprintf(" %d: %s (", height, rate)
			want := height > 0 && height%distance == 0 && tip.Time-int64(int(tip.Height)-height)*6*hour >= since
			if want {
				n++
			}
			if strings.Contains(d.main(), point) != want {
				t.Fatalf("%s: block %d is in the chart: %t", path, height, !want)
			}
		}
		d.has(t, "Fee rates in "+humanize.Plural(n, "block"))
		if note := fmt.Sprintf("multiple of %d.", distance); strings.Contains(d.main(), note) == (distance == 1) {
			t.Errorf("%s: the blocks are %d apart, the note %q: %t", path, distance, note, distance == 1)
		}
		rows := csvOf(t, h, d.fileOf(t))
		if len(rows) != n+1 {
			t.Fatalf("%s: the file has %d rows, expected %d blocks", path, len(rows), n)
		}
		height := int(tip.Height) / distance * distance
		rate := strconv.FormatFloat(float64(size+height)/(size/4), 'f', -1, 64)
		at := time.Unix(tip.Time-int64(int(tip.Height)-height)*6*hour, 0).UTC().Format(time.RFC3339)
		if want := []string{strconv.Itoa(height), at, rate, rate, rate}; !slices.Equal(rows[n], want) {
			t.Errorf("%s: the last row of the file is %q, expected %q", path, rows[n], want)
		}
	}
	for range 2 {
		points("/made-up/charts/feerates", tip.Time-(filledBlocks-1)*6*hour, 1)
		points("/made-up/charts/feerates?span=month", (tip.Time-30*24*hour)/(24*hour)*(24*hour), 1)
		points("/made-up/charts/feerates?span=year", 0, 4)
		points("/made-up/charts/feerates?span=all", 0, 4)
		mine(3)
	}
	read(t, h, "/made-up/charts/fullness?span=all", http.StatusOK).has(t, "Fullness of 127 blocks", "multiple of 4.")
	for path, expected := range map[string]string{
		"/made-up/charts/fullness?span=decade": "expected newest, month, year, all",
		"/made-up/charts/feerates?span=x":      "expected newest, month, year, all",
	} {
		read(t, h, path, http.StatusBadRequest).has(t, expected)
	}
}

// A page that has no time for the blocks of a chart has none of them; its file waits for them.
func TestChartsOfBlocksThatAreLate(t *testing.T) {
	h, _ := largeBlock(t, 3000)
	patient := blockPatience
	defer func() { blockPatience = patient }()
	blockPatience = 0
	late := read(t, h, "/made-up/charts/fullness", http.StatusOK)
	late.has(t, "The blocks are not read yet")
	if rows := csvOf(t, h, late.fileOf(t)); len(rows) != 3 {
		t.Errorf("the file has %d rows, expected those of 2 blocks", len(rows))
	}
	blockPatience = patient
	h, _ = largeBlock(t, 3000)
	read(t, h, "/made-up/charts/fullness", http.StatusOK).has(t, "Fullness of 2 blocks")
}

// The hash rate is the work of the blocks between two points divided by their time. The difficulty of Bitcoin's first
// blocks is 1, which is 2^32 hashes (2^48 / 65535, to be exact: GetBlockProof of Core).
func TestHashRatesOfRealChains(t *testing.T) {
	for name, db := range map[string]*core.DB{"bitcoin": bitcoin(t), "ergo": ergo(t)} {
		h := explorerOf(t, chainOf(name, db, nil))
		d := read(t, h, "/"+name+"/charts/hashrate?span=all", http.StatusOK)
		rows := csvOf(t, h, d.fileOf(t))
		if len(rows) < 10 || !slices.Equal(rows[0], []string{"height", "time", "per_second"}) {
			t.Fatalf("%s: %d rows, the first is %q", name, len(rows), rows[0])
		}
		work := map[int]float64{} // of the blocks up to a height
		times := map[int]int64{}
		err := db.From(t.Context(), func(q *query.Query) error {
			sum := 0.0
			for at := model.HeightPk(0); at <= q.Tip.Height; at++ {
				row, err := schema.BlockAt(q.R, at)
				if kind, _ := model.KindOf(err); kind == model.NotFound {
					continue
				}
				if err != nil {
					return err
				}
				n, err := db.Chain().(model.DifficultyReporter).Difficulty(row.Header)
				if err != nil {
					return err
				}
				if name == "bitcoin" {
					n = (1 << 48) / float64(65535)
				}
				sum += n
				work[int(at)], times[int(at)] = sum, row.Time
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := 2; i < len(rows); i++ {
			var heights [2]int
			for j := range heights {
				if heights[j], err = strconv.Atoi(rows[i-1+j][0]); err != nil {
					t.Fatal(err)
				}
			}
			got, err := strconv.ParseFloat(rows[i][2], 64)
			want := (work[heights[1]] - work[heights[0]]) / float64(times[heights[1]]-times[heights[0]])
			if err != nil || math.Abs(got/want-1) > 0.1 || name == "bitcoin" && math.Abs(got/want-1) > 1e-9 || heights[1]-heights[0] < ratedBlocks {
				t.Errorf("%s: blocks %d to %d: %v hashes per second, expected %v", name, heights[0], heights[1], got, want)
			}
		}
		read(t, h, "/"+name, http.StatusOK).has(t, "Difficulty", "H/s")
		read(t, h, "/"+name+"/charts", http.StatusOK).has(t, "Hash rate")
	}
	for n, want := range map[float64]string{0: "0 H/s", 999: "999 H/s", 7.158e6: "7.16 MH/s", 6.1e20: "610 EH/s", 3e30: "3M YH/s"} {
		if got := hashRate(n, "H/s"); got != want {
			t.Errorf("%v is %q, expected %q", n, got, want)
		}
	}
}
