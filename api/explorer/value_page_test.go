package explorer

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"

	"birthmark/internal/testrun"
	"rsc.io/qr"
)

// squares returns the black modules in the SVG picture of a QR code.
func squares(t *testing.T, d *document) map[[2]int]bool {
	t.Helper()
	_, svg, ok := strings.Cut(d.text, `<svg class="qr"`)
	if !ok {
		t.Fatalf("%s has no QR code", d.path)
	}
	svg, _, _ = strings.Cut(svg, "</svg>")
	black := map[[2]int]bool{}
	x, y := 0, 0 // the end of the last line
	for _, m := range regexp.MustCompile(`(?:M(\d+) (\d+)\.5|m(\d+) 0)h(\d+)`).FindAllStringSubmatch(svg, -1) {
		if m[3] == "" {
			x, _ = strconv.Atoi(m[1])
			y, _ = strconv.Atoi(m[2])
		} else {
			gap, _ := strconv.Atoi(m[3])
			x += gap
		}
		n, _ := strconv.Atoi(m[4])
		for i := range n {
			black[[2]int{x + i, y}] = true
		}
		x += n
	}
	return black
}

// The header of the page of an address has its type, its QR code, its first and its last transaction.
func TestHeaderOfAnAddress(t *testing.T) {
	for _, c := range []struct {
		db             *core.DB
		name           string
		address, types string
		code           string
		has            []string
	}{
		{bitcoin(t), "bitcoin", "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S", "P2PK", "bitcoin:12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S",
			[]string{"First seen0437cd7f8525", "in block 9, 2009-01-09 03:54:39 UTC", "Last active828ef3b079f9", "in block 248, 2009-01-12 20:04:20 UTC"}},
		{cardano(t), "cardano", "", "payment key", "", []string{"Last active"}},
		{ergo(t), "ergo", "", "P2S", "", []string{"Last active"}},
	} {
		address, code := c.address, c.code
		if address == "" {
			address = mostUsed(t, c.db, "address").Value
			code = address
		}
		h := explorerOf(t, chainOf(c.name, c.db, nil))
		d := read(t, h, "/"+c.name+"/address/"+address, http.StatusOK)
		d.has(t, append(c.has, c.types)...)
		if len(code) > charts.MaxCode {
			continue
		}
		want, err := qr.Encode(code, qr.M)
		if err != nil {
			t.Fatal(err)
		}
		got := squares(t, d)
		for y := range want.Size {
			for x := range want.Size {
				if got[[2]int{x, y}] != want.Black(x, y) {
					t.Fatalf("%s: the module at %d, %d differs from the QR code of %s", d.path, x, y, code)
				}
			}
		}
		if text := d.main(); !strings.Contains(text, "QR code"+code) && !strings.Contains(text, code) {
			t.Errorf("%s does not name %s", d.path, code)
		}
	}
	unused := read(t, explorerOf(t, chainOf("bitcoin", bitcoin(t), nil)), "/bitcoin/address/bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", http.StatusOK)
	unused.has(t, "P2WPKH", "has never been used", "Balance0")
	if len(squares(t, unused)) == 0 {
		t.Error("an unused address has no QR code")
	}
}

// Every transaction is in the period of its day and in no other period.
func TestAPeriodHasTheTransactionsOfItsDays(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 17)).Blocks(60))
		h := explorerOf(t, chainOf("made-up", db, nil))
		b := mostUsed(t, db, "address")
		history, err := db.History(t.Context(), "address", b.Value, query.Range{}, query.Page{Limit: query.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		days := map[string][]string{}
		for _, tx := range history.Txs {
			if tx.Time > 0 { // the genesis has no day
				day := time.Unix(tx.Time, 0).UTC().Format(time.DateOnly)
				days[day] = append(days[day], tx.Hash)
			}
		}
		path := "/made-up/address/" + b.Value
		sum := 0
		for day, txs := range days {
			parts := pages(t, h, path+"?from="+day+"&to="+day)
			for _, hash := range txs {
				if !slices.ContainsFunc(parts, func(d *document) bool { return d.count("/made-up/tx/"+hash) > 0 }) {
					t.Errorf("%s is not in the history of %s", hash, day)
				}
			}
			rows := 0
			for _, d := range parts {
				rows += strings.Count(d.section("history"), " UTC")
			}
			sum += rows
			if all := "CSV " + humanize.Plural(rows, "transaction"); !strings.Contains(parts[0].section("history"), all) {
				t.Errorf("%s: the page does not have %q", day, all)
			}
			if file := csvOf(t, h, path+"/history.csv?from="+day+"&to="+day); len(file) != rows+1 {
				t.Errorf("%s: %d lines of CSV, expected %d", day, len(file), rows+1)
			}
		}
		if sum < len(history.Txs)/2 || len(days) == 0 {
			t.Errorf("%d transactions in %d days, expected %d", sum, len(days), len(history.Txs))
		}
		d := read(t, h, path+"?from=1971-01-01&to=1971-01-02", http.StatusOK)
		d.has(t, "No transactions in this period", "Whole history")
		read(t, h, path+"?from=soon", http.StatusBadRequest).has(t, "expected a date such as 2009-01-12")
		read(t, h, path+"?from=2021-01-02&to=2021-01-01", http.StatusBadRequest).has(t, "the range ends before it begins")
		read(t, h, path+"?from=&to=", http.StatusOK).has(t, "Unspent outputs") // an empty form
	})
}

func csvOf(t *testing.T, h http.Handler, path string) [][]string {
	t.Helper()
	res := ask(t, h, path)
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/csv") {
		t.Fatalf("%s: %d %s", path, res.StatusCode, kind)
	}
	if name := res.Header.Get("Content-Disposition"); !strings.Contains(name, "attachment") || !strings.Contains(name, ".csv") {
		t.Errorf("%s: %s", path, name)
	}
	lines, err := csv.NewReader(res.Body).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return lines
}

func TestTheHistoryAsCSV(t *testing.T) {
	testrun.Slow(t)
	db := bitcoin(t)
	h := explorerOf(t, chainOf("bitcoin", db, nil))
	for _, path := range []string{"/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S/history.csv", "/bitcoin/index/script_type/pubkey/history.csv"} {
		index, value := "address", "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
		if strings.Contains(path, "index") {
			index, value = "script_type", "pubkey"
		}
		history, err := db.History(t.Context(), index, value, query.Range{}, query.Page{Limit: query.MaxLimit, Descending: true})
		if err != nil {
			t.Fatal(err)
		}
		lines := csvOf(t, h, path+"?raw=1")
		if history.Next == nil && len(lines) != len(history.Txs)+1 || len(lines) < len(history.Txs)+1 {
			t.Fatalf("%s: %d lines, expected %d", path, len(lines), len(history.Txs)+1)
		}
		for i, tx := range history.Txs {
			line := map[string]string{}
			for n, name := range lines[0] {
				line[name] = lines[i+1][n]
			}
			if line["hash"] != tx.Hash || line["received"] != tx.Received || line["sent"] != tx.Sent || line["time"] != fmt.Sprint(tx.Time) || line["balance"] != tx.Balance {
				t.Fatalf("%s: line %d is %v, expected %+v", path, i+2, line, tx)
			}
		}
		units := csvOf(t, h, path)
		page := strings.TrimSuffix(path, "/history.csv")
		for _, of := range []string{page, page + "?history=" + fromTheStart} {
			if all := "CSV " + humanize.Plural(len(units)-1, "transaction"); index == "address" || of == page {
				read(t, h, of, http.StatusOK).has(t, all)
			}
		}
		for i, line := range units[1:] {
			for n, name := range units[0] {
				raw := lines[i+1][n]
				switch {
				case name == "time":
					unix, _ := strconv.ParseInt(raw, 10, 64)
					raw = time.Unix(unix, 0).UTC().Format("2006-01-02T15:04:05Z")
				case slices.Contains([]string{"received", "sent", "balance"}, name) && raw != "":
					raw = strings.Repeat("0", max(0, 9-len(raw))) + raw
					raw = raw[:len(raw)-8] + "." + raw[len(raw)-8:]
				}
				if line[n] != raw {
					t.Fatalf("%s: line %d: %s is %s, expected %s", path, i+2, name, line[n], raw)
				}
			}
		}
		if next := history.Next; next != nil {
			if rest := csvOf(t, h, path+"?after="+*next); len(rest) < 2 || len(rest)-1+len(history.Txs) != len(units)-1 {
				t.Errorf("%s: %d lines follow the cursor, expected %d", path, len(rest)-1, len(units)-1-len(history.Txs))
			}
		}
	}
	if res := ask(t, h, "/bitcoin/address/nonsense/history.csv"); res.StatusCode != http.StatusBadRequest {
		t.Errorf("an invalid address: %d", res.StatusCode)
	}
}

// The number of transactions of a period is exact, a lower bound, or unknown, as far as the chart reads the history.
func TestRowsOfAPeriod(t *testing.T) {
	defer func(rows, txs int) { valueRows, chartTxs = rows, txs }(valueRows, chartTxs)
	valueRows = 2
	const address = "198aMn6ZYAczwrE5NvNTUMyJ5qkfy4g3Hi" // 19 transactions
	db := bitcoin(t)
	h := explorerOf(t, chainOf("bitcoin", db, nil))
	history, err := db.History(t.Context(), "address", address, query.Range{}, query.Page{Limit: query.MaxLimit})
	if err != nil || len(history.Txs) != 19 {
		t.Fatalf("%d transactions, %v", len(history.Txs), err)
	}
	day := func(i int) string { return time.Unix(history.Txs[i].Time, 0).UTC().Format(time.DateOnly) }
	for _, c := range []struct {
		query string
		txs   int
		want  string
	}{
		{"to=" + day(18), 400_000, "CSV 19 transactions"}, {"to=" + day(18), 7, "CSV more than 7 transactions"}, {"to=" + day(4), 3, "CSV From"},
	} {
		chartTxs = c.txs
		d := read(t, h, "/bitcoin/address/"+address+"?"+c.query, http.StatusOK)
		if text := d.section("history"); !strings.Contains(text, c.want) {
			t.Errorf("%s with %d transactions: no %q in %q", c.query, c.txs, c.want, text)
		}
	}
}

// The history of an address has the assets that each transaction moved.
func TestAssetsInAHistory(t *testing.T) {
	db := cardano(t)
	h := explorerOf(t, chainOf("cardano", db, nil))
	values, err := db.Values(t.Context(), "address", query.Page{Limit: 2000, Descending: true})
	if err != nil {
		t.Fatal(err)
	}
	in, out := 0, 0
	for _, v := range values.Values {
		a, err := db.History(t.Context(), "address", v.Value, query.Range{}, query.Page{Limit: valueRows, Descending: true})
		if err != nil {
			t.Fatal(err)
		}
		var d *document
		for _, tx := range a.Txs {
			shown := 0
			for _, moved := range tx.Assets {
				sign := format.Integer(moved.Received).Cmp(format.Integer(moved.Sent))
				if shown == movedAssets || sign == 0 {
					continue
				}
				if shown++; d == nil {
					d = read(t, h, "/cardano/address/"+v.Value+"?history=all", http.StatusOK)
				}
				if d.count("/cardano/asset/"+moved.Asset) == 0 && !strings.Contains(d.section("history"), " other asset") {
					t.Errorf("%s: the page lacks %s", d.path, moved.Asset)
				}
				if sign > 0 {
					in++
				} else {
					out++
				}
			}
		}
		if in > 20 && out > 20 {
			return
		}
	}
	t.Errorf("%d assets received, %d sent", in, out)
}

// The chart covers the whole history of a value, or the selected period, or as much as its limit allows.
func TestTheChartOfABalance(t *testing.T) {
	testrun.Slow(t)
	db := bitcoin(t)
	h := explorerOf(t, chainOf("bitcoin", db, nil))
	const path = "/bitcoin/index/script_type/pubkey" // 14,000 transactions, whose history is computed
	d := read(t, h, "/bitcoin/address/12higDjoCCNXSA95xZMWUdPvXNmkAduhWv", http.StatusOK)
	d.has(t, "16 Jan 2009", "12 May 2009", "As a table", "14,13123,175.33000000 BTC", "728100.00000000 BTC")
	month := read(t, h, "/bitcoin/address/12higDjoCCNXSA95xZMWUdPvXNmkAduhWv?from=2009-03-01&to=2009-03-31", http.StatusOK)
	month.has(t, "Balance over time", "28 Feb 2009", "31 Mar 2009", "8,14313,675.33000000 BTC", "Whole history")
	if strings.Contains(month.main(), "16 Jan 2009") || strings.Contains(month.main(), "Unspent outputs") {
		t.Errorf("the chart of %s is larger than its period", month.path)
	}
	read(t, h, path, http.StatusOK).has(t, "No balance chart: the history is too long.")

	before := chartTxs
	t.Cleanup(func() { chartTxs = before })
	chartTxs = 5
	cut := read(t, h, "/bitcoin/address/12higDjoCCNXSA95xZMWUdPvXNmkAduhWv", http.StatusOK)
	cut.has(t, "The chart starts at block 9,354: the newest 5 transactions.", "14,13123,175.33000000 BTC")

	// The page of a long history stays small.
	chartTxs = before
	v := modeltest.Variants()[1]
	busy := variant(t, v, v.NewGenerator(testseed.Of(t, 18)).Blocks(900))
	b := mostUsed(t, busy, "tag")
	if b.TxCount < chartPoints {
		t.Fatalf("the mostUsed value has %d transactions", b.TxCount)
	}
	d = read(t, explorerOf(t, chainOf("made-up", busy, nil)), "/made-up/index/tag/"+b.Value, http.StatusOK)
	d.has(t, "Balance over time")
	if steps := len(regexp.MustCompile(`h\d+v-?\d`).FindAllString(d.text, -1)); len(d.text) > maxPage || steps > chartPoints+100 {
		t.Errorf("%d bytes, %d steps", len(d.text), steps)
	}
}
