package explorer

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/api/explorer/format"
	"birthmark/api/served"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

func init() { patience = time.Hour } // results must not depend on the load of the machine

// impatient makes everything too slow that a page does not answer at once.
func impatient(t testing.TB) {
	t.Helper()
	before, rows := patience, richestRead
	patience, richestRead = 0, 0
	t.Cleanup(func() { patience, richestRead = before, rows })
}

// mostUsed returns the value of an index with the most transactions.
func mostUsed(t testing.TB, db *core.DB, index string) *query.BalanceAnswer {
	t.Helper()
	values, err := db.Values(t.Context(), index, query.Page{Limit: query.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	var best *query.BalanceAnswer
	for _, v := range values.Values {
		b, err := db.Balance(t.Context(), index, v.Value)
		if err != nil {
			t.Fatal(err)
		}
		if best == nil || b.TxCount > best.TxCount {
			best = b
		}
	}
	return best
}

// pages reads all pages of a list by following the links to the next page.
func pages(t testing.TB, h http.Handler, path string) (parts []*document) {
	t.Helper()
	for path != "" {
		d := read(t, h, path, http.StatusOK)
		parts = append(parts, d)
		path = ""
		for _, n := range d.each("a") {
			if rel, _ := attr(n, "rel"); rel == "next" {
				href, _ := attr(n, "href")
				path, _, _ = strings.Cut(href, "#")
			}
		}
		if len(parts) > 200 {
			t.Fatalf("%s does not end", d.path)
		}
	}
	return parts
}

// count returns the number of links to path in the pages of a list.
func (d *document) count(href string) (n int) {
	for _, a := range d.each("a") {
		if to, _ := attr(a, "href"); to == href {
			n++
		}
	}
	return n
}

func (d *document) section(id string) string {
	for _, n := range d.each("section") {
		if by, _ := attr(n, "aria-labelledby"); by == id {
			return textOf(n)
		}
	}
	return ""
}

// The page of a value matches the database, with and without options of the index. Its lists are complete.
func TestPageOfAValueMatchesTheDatabase(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 11)).Blocks(60))
		h := explorerOf(t, chainOf("made-up", db, nil))
		for _, index := range []string{"address", "tag", "label"} {
			b := mostUsed(t, db, index)
			path := "/made-up/index/" + index + "/" + b.Value
			if index == "address" {
				if res := ask(t, h, path); res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/made-up/address/"+b.Value {
					t.Errorf("%s redirects to %s", path, res.Header.Get("Location"))
				}
				path = "/made-up/address/" + b.Value
			}
			d := read(t, h, path, http.StatusOK)
			d.has(t, "Balance"+humanize.Thousands(b.Balance), "Received"+humanize.Thousands(b.Received), "Sent"+humanize.Thousands(b.Sent),
				"Transactions"+humanize.Count(b.TxCount), humanize.Plural(*b.UnspentCount, "unspent output"), b.Value, "First seen")

			history, err := db.History(t.Context(), index, b.Value, query.Range{}, query.Page{Limit: query.MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			parts := pages(t, h, path+"?history=all")
			for _, tx := range history.Txs {
				n := 0
				for _, p := range parts {
					n += p.count("/made-up/tx/" + tx.Hash)
				}
				if n == 0 {
					t.Errorf("%s: the history lacks %s", path, tx.Hash)
				}
			}
			found, err := db.Find(t.Context(), index, b.Value, query.Terms{Unspent: true}, query.Page{Limit: query.MaxLimit})
			if err != nil {
				t.Fatal(err)
			}
			rows, refs := 0, map[string]bool{}
			for _, o := range found.Outputs { // hashes can repeat
				refs[fmt.Sprintf("/made-up/output/%s:%d", o.Tx, o.Index)] = true
			}
			for _, p := range pages(t, h, path+"?outputs=all") {
				for ref := range refs {
					rows += p.count(ref)
				}
			}
			if rows != len(found.Outputs) {
				t.Errorf("%s: %d unspent outputs are listed, expected %d", path, rows, len(found.Outputs))
			}
		}
	})
}

// Each row of a history has the balance after it. The newest row has the current balance, the oldest its own amount.
func TestHistoryShowsRunningBalance(t *testing.T) {
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	d := read(t, h, "/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S", http.StatusOK)
	d.has(t, "Balance18.00000000 BTC", "Received195.00000000 BTC", "Sent177.00000000 BTC", "Balance over time, in BTC")
	history := d.section("history")
	at := 0
	for _, held := range []string{"-10.00000000 BTCreceived 18", "18.00000000 BTC", "-1.00000000", "28.00000000 BTC", "+50.00000000 BTC", "50.00000000 BTC"} {
		i := strings.Index(history[at:], held)
		if i < 0 {
			t.Fatalf("the next row of the history is not %q:\n%s", held, history)
		}
		at += i
	}
	if !strings.Contains(d.text, "From 9 to 14,131: least 18.00000000 BTC at 248, most 50.00000000 BTC at 9, last 18.00000000 BTC.") {
		t.Errorf("the chart differs: %s", d.text)
	}
	d.has(t, "script hash8131e31b", "script typepubkey")
}

// columns returns the headings of the list in a section.
func (d *document) columns(section string) (heads []string) {
	for _, n := range d.each("section") {
		if by, _ := attr(n, "aria-labelledby"); by != section {
			continue
		}
		for c := range n.Descendants() {
			if scope, _ := attr(c, "scope"); scope == "col" {
				heads = append(heads, textOf(c))
			}
		}
	}
	return heads
}

// A list of outputs has a column for assets only if there are assets. Unspent outputs have their age instead of their
// spender.
func TestColumnsOfOutputLists(t *testing.T) {
	before := ergo(t)
	h := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil), chainOf("cardano", cardano(t), nil),
		chainOf("ergo", before, nil))
	const (
		satoshi = "/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
		holder  = "addr_test1qznlpfsacueksurtd29l3sjev4ludqcd7js3eh2kqj8mcl2eax5vl7djrvgv0cv53yhatn3mmz2hy3m3sdl4wagju9xs" +
			"upq0s0"
	)
	unspent := []string{"Output", "Amount", "Block", "Time", "Confirmations"}
	all := []string{"Output", "Amount", "Spent by"}
	for path, want := range map[string][]string{
		satoshi:                                    unspent,
		satoshi + "?show=all":                      all,
		satoshi + "?outputs=all":                   unspent,
		satoshi + "?outputs=all&show=all":          all,
		"/cardano/address/" + holder:               slices.Insert(slices.Clone(unspent), 2, "Assets"),
		"/cardano/address/" + holder + "?show=all": slices.Insert(slices.Clone(all), 2, "Assets"),
	} {
		if got := read(t, h, path, http.StatusOK).columns("outputs"); !slices.Equal(got, want) {
			t.Errorf("%s has the columns %v, expected %v", path, got, want)
		}
	}
	row := read(t, h, satoshi, http.StatusOK).section("outputs")
	if want := "18.00000000 BTC2482009-01-12 20:04 UTC13,884"; !strings.Contains(row, want) {
		t.Errorf("the unspent output is not listed as %q: %s", want, row)
	}
	values, err := before.Values(t.Context(), "address", query.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, value := range values.Values { // outputs of the genesis are not in a block
		row := read(t, h, "/ergo/address/"+value.Value, http.StatusOK).section("outputs")
		if strings.Contains(row, "ERGgenesis") {
			listed++
		}
	}
	if listed == 0 {
		t.Error("no genesis output is listed")
	}
}

// If the index lacks an option and a part of the page would take too long, the page omits it and states the reason.
func TestSlowPartsOfAPageAreOmitted(t *testing.T) {
	v := modeltest.Variants()[0]
	db := variant(t, v, v.NewGenerator(testseed.Of(t, 12)).Blocks(60))
	h := explorerOf(t, chainOf("made-up", db, nil))
	b := mostUsed(t, db, "address")
	impatient(t)
	d := read(t, h, "/made-up/address/"+b.Value, http.StatusOK)
	d.has(t, "Balance not available", "History not available", "All outputs, newest first", "No balance chart")
	if tag := ask(t, h, "/made-up/address/"+b.Value).Header.Get("ETag"); tag != "" {
		t.Errorf("an incomplete page has the ETag %s", tag)
	}
	read(t, h, "/made-up/richest/address", http.StatusOK).has(t, "Not available", "too many for a page")

	kept := modeltest.Variants()[1] // with the options of the index nothing is omitted
	db = variant(t, kept, kept.NewGenerator(testseed.Of(t, 12)).Blocks(60))
	b = mostUsed(t, db, "address")
	d = read(t, explorerOf(t, chainOf("made-up", db, nil)), "/made-up/address/"+b.Value, http.StatusOK)
	d.has(t, "Balance"+humanize.Thousands(b.Balance), "Balance over time", "Balance after", "Unspent outputs")
}

func TestValuesAreListedByPrefix(t *testing.T) {
	v := modeltest.Variants()[1]
	db := variant(t, v, v.NewGenerator(testseed.Of(t, 15)).Blocks(30))
	h := explorerOf(t, chainOf("made-up", db, nil))
	values, err := db.Values(t.Context(), "address", query.Page{Limit: query.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	prefix := values.Values[0].Value[:3]
	beginning := 0
	for _, value := range values.Values {
		if strings.HasPrefix(value.Value, prefix) {
			beginning++
		}
	}
	for path, want := range map[string]int{"/made-up/values/address": len(values.Values), "/made-up/values/address?order=asc": len(values.Values), "/made-up/values/address?prefix=" + prefix: beginning} {
		n := 0
		for _, p := range pages(t, h, path) {
			for _, td := range p.each("td") {
				label, _ := attr(td, "data-label")
				if label == "Value" && slices.ContainsFunc(values.Values, func(v query.ValueAnswer) bool {
					return strings.HasPrefix(textOf(td), v.Value[:min(len(v.Value), longValue/2)])
				}) {
					n++
				}
			}
		}
		if n != want {
			t.Errorf("%s: %d values, expected %d", path, n, want)
		}
	}
	read(t, h, "/made-up/values/address?prefix=zz%3Cscript%3E", http.StatusOK).has(t, "No addresses begin with zz<script>")
	read(t, h, "/made-up/values/colour", http.StatusBadRequest)
	read(t, h, "/made-up/richest/colour", http.StatusBadRequest)
	read(t, h, "/made-up/index/colour/red", http.StatusBadRequest)
	plain := modeltest.Variants()[0]
	h = explorerOf(t, chainOf("made-up", variant(t, plain, plain.NewGenerator(1).Blocks(5)), nil))
	if d := read(t, h, "/made-up/values/address", http.StatusOK); strings.Contains(d.text, "id=\"prefix\"") {
		t.Error("an index without prefixes has a form for prefixes")
	}
	read(t, h, "/made-up/values/address?prefix=a0", http.StatusBadRequest)
}

// eventList is a source with a fixed list of events.
type eventList []model.Event

func (s eventList) Tip(context.Context) (model.Point, error) { return s[len(s)-1].Block.Point(), nil }
func (s eventList) Close() error                             { return nil }
func (s eventList) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, e := range s {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// The page of a fork lists all its blocks and their replacements, also a block that returned to the chain.
func TestForksAreShown(t *testing.T) {
	v := modeltest.Variants()[0]
	g := v.NewGenerator(testseed.Of(t, 16))
	trunk := g.Blocks(6)
	ours, theirs := g.Fork(1).Blocks(3), g.Fork(2).Blocks(4)
	db := variant(t, v, append(trunk[:6:6], ours...))
	h := explorerOf(t, chainOf("made-up", db, nil))
	read(t, h, "/made-up/forks", http.StatusOK).has(t, "No reorganizations since")
	at := trunk[5].Point()
	var s eventList
	for _, branch := range [][]*model.Block{theirs, ours[:1], theirs} {
		s = append(s, model.Event{Rollback: &at})
		for _, b := range branch {
			s = append(s, model.Event{Block: b})
		}
	}
	if err := core.Sync(t.Context(), db, s, core.SyncOptions{BatchWeight: 1}); err != nil {
		t.Fatal(err)
	}
	d := read(t, h, "/made-up/forks", http.StatusOK)
	d.has(t, "3 orphaned blocks", "4 orphaned blocks", "1 orphaned block", "reinstated")
	for _, b := range append(ours, theirs...) {
		d.has(t, b.Hash.String())
	}
	if n := d.count("/made-up/block/" + theirs[0].Hash.String()); n == 0 {
		t.Error("no link to the replacement")
	}
	read(t, h, "/made-up", http.StatusOK).has(t, "Recent reorganizations")
}

func TestStatusPage(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 17)).Blocks(20))
		c := chainOf("made-up", db, nil)
		var rates served.Rates
		c.Rates = &rates
		h := explorerOf(t, c)
		status, err := db.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d := read(t, h, "/made-up/status", http.StatusOK)
		if strings.Contains(d.main(), "Transactions per second") {
			t.Error("a chain without a sync has a chart of its rate")
		}
		d.has(t, "Blocks"+humanize.Count(status.Totals.Blocks), "Outputs"+humanize.Count(status.Totals.Outputs))
		if assets, err := db.Assets(t.Context(), query.Page{Limit: 1}); err != nil || assets.Count == 0 || status.Totals.Assets == assets.Count {
			t.Errorf("%d assets in outputs: %v", status.Totals.Assets, err)
		} else {
			d.has(t, "Assets"+humanize.Count(assets.Count), "Assets in outputs"+humanize.Count(status.Totals.Assets))
			read(t, h, "/made-up", http.StatusOK).has(t, "Assets"+humanize.Count(assets.Count))
		}
		for _, f := range status.Families {
			rows := "" // not counted
			if f.Keys != nil {
				rows = humanize.Count(*f.Keys)
			}
			d.has(t, f.Name+rows)
		}
		for _, x := range status.Indexes {
			d.has(t, format.Words(x.Name)+x.Kind+humanize.Count(x.Values)+strings.Join(x.Keeps, ", "))
		}
		for i := range 100 {
			rates.Add(core.Progress{Elapsed: time.Duration(i) * time.Second, TxsPerSecond: float64(1000 + i)})
		}
		read(t, h, "/made-up/status", http.StatusOK).has(t, "Transactions per second")
	})
}

// A custom index has pages like any other index.
func TestCustomIndexHasPages(t *testing.T) {
	chain, err := chains.New("bitcoin", "mainnet")
	if err != nil {
		t.Fatal(err)
	}
	if chain, err = chain.Define([]model.Definition{{Name: "kind_of_script", When: "output.value > 0", Value: "output.script_type"}}); err != nil {
		t.Fatal(err)
	}
	db := followed(t, chain, "file://"+blocksFile(t), "address", "kind_of_script")
	h := explorerOf(t, chainOf("bitcoin", db, nil))
	read(t, h, "/bitcoin/status", http.StatusOK).has(t, "kind of script output.script_type when output.value > 0")
	d := read(t, h, "/bitcoin/values/kind_of_script", http.StatusOK)
	values := 0
	for _, path := range d.links() {
		if strings.HasPrefix(path, "/bitcoin/index/kind_of_script/") {
			values++
			read(t, h, path, http.StatusOK).has(t, "Kind of script", "Received", "History")
		}
	}
	if values < 2 {
		t.Errorf("%d values are listed", values)
	}
	read(t, h, "/bitcoin/richest/kind_of_script", http.StatusOK).has(t, "Rich list Kind of scripts ranked by")
}
