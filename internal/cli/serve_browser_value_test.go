package cli

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/testblocks"
	"birthmark/model"
	"birthmark/storage/memory"
)

// syncedPreset returns a database in memory with the indexes of the preset explorer and raw transactions.
func syncedPreset(t *testing.T, name, network, uri string, to model.HeightPk) *core.DB {
	t.Helper()
	chain, err := newProgram(nil, nil, nil).NewChain(name, network)
	if err != nil {
		t.Fatal(err)
	}
	s, err := config.Parse("birthmark.yaml", []byte("chain: "+name+"\nindexes: explorer\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.One()
	if err != nil {
		t.Fatal(err)
	}
	names, err := daemon.IndexesOf(set, chain)
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Indexes: names, Keep: set.IndexOptions(), Raw: true, CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: db.Indexes(), Raw: true, To: &to})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{To: &to}); err != nil {
		t.Fatal(err)
	}
	return db
}

// Pages of addresses and assets of the real chains, with the preset explorer and raw transactions.
func TestValuesInABrowser(t *testing.T) {
	slow(t)
	browser := browser(t)
	server := shownIn(t,
		syncedPreset(t, "bitcoin", "mainnet", "file://"+realBlocks(t), 14_131),
		syncedPreset(t, "cardano", "preview", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), 37_000),
		syncedPreset(t, "ergo", "mainnet", "file://"+testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), 2000))
	t.Run("every element is fit", func(t *testing.T) { valuesAreFit(t, browser, server) })
	t.Run("dates without scripts", func(t *testing.T) { datesAreSelected(t, browser, server) })
}

const (
	nftPolicy   = "0fc891fb7368d3b7c7b88815c203fda0d6862b0f1d797222672e91fe"
	happyPolicy = "919e8a1922aaa764b1d66407c6f62244e77081215f385b60a6209149"
	nft         = nftPolicy + "4d79416d617a696e674e4654"
	emission    = "2Z4YBkDsDvQj8BX7xiySFewjitqp2ge9c99jfes2whbtKitZTxdBYqbrVZUvZvKv6aqn9by4kp3LE1c26LCyosFnVnm6b6U1JYvWpYmL2ZnixJbXLjWAWuBThV1D6dLpqZJYQHYDznJCk49g5TUiS4q8khpag2aNmHwREV7JSsypHdHLgJT7MGaw51aJfNubyzSKxZ4AJXFS27EfXwyCLzW1K6GVqwkJtCoPvrcLqmqwacAWJPkmh78nke9H4oT88XmSbRt2n9aWZjosiZCafZ4osUDxmZcc5QVEeTWn8drSraY3eFKe8Mu9MSCcVU"
)

func valuesAreFit(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	b.do("begin", wide(desk), scheme("light"))
	for path, elements := range map[string][]string{
		manyCoins: {"svg.qr", ".copy", "h1 .badge", "#balance-t", ".head a[download]", "form.period"},
		manyCoins + "?from=2009-03-01&to=2009-03-31":                  {"#balance-t", "form.period a"},
		"/bitcoin/address/bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": {"svg.qr", "h1 .badge", ".stats"},
		"/cardano-preview/assets":                                     {"#name", ".held .name"},
		"/cardano-preview/asset/" + nft:                               {"#metadata", "#transfers", ".badge.minted", `a[href="/cardano-preview/index/policy/` + nftPolicy + `"]`},
		"/cardano-preview/index/policy/" + happyPolicy:                {`#held + table a[href*="` + happyPolicy + `"]`, "#history"},
		manyHolders:                 {"#holders-chart-t", "#transfers", ".badge.unspent"},
		"/ergo/address/" + emission: {"h1 .badge", "#balance-t", "form.period"},
	} {
		b.open(path, 200)
		for _, selector := range elements {
			if !eval[bool](b, "!!document.querySelector(`"+selector+"`)") {
				t.Errorf("%s has no %s: %s", path, selector, eval[string](b, "document.querySelector('main').innerText.slice(0, 900)"))
			}
		}
		eval[bool](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
		b.look("", "frame", "contrast", "width")
		b.do("in the dark", scheme("dark"))
		b.look("in the dark", "contrast")
		b.do("on a phone", wide(phone))
		b.look("on a phone", "contrast", "width")
		b.do("back", wide(desk), scheme("light"))
		res, err := http.Get(server + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || len(text) > 100_000 {
			t.Errorf("%s: %d bytes, expected 100,000 at most (%v)", path, len(text), err)
		}
	}
}

// The form of dates works without scripts, on a phone.
func datesAreSelected(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	b.open(manyCoins, 200)
	eval[bool](b, `document.querySelector("#from").value = "2009-03-01", document.querySelector("#to").value = "2009-03-31", true`)
	b.do("without scripts", scripting(false), wide(phone))
	b.follow("Show", chromedp.Click(chromedp.CSS("form.period button")))
	if b.at != manyCoins+"?from=2009-03-01&to=2009-03-31" {
		t.Fatalf("the form leads to %s", b.at)
	}
	dates := eval[string](b, `[...document.querySelectorAll("[aria-labelledby=history] tbody time")].map((e) => e.dateTime.slice(0, 7)).join(" ")`)
	if n := strings.Count(dates, "2009-03"); n < 3 || n != len(strings.Fields(dates)) {
		t.Errorf("the months are %s", dates)
	}
	b.look("on a phone", "width")
	b.follow("Whole history", chromedp.Click(chromedp.CSS("form.period a")))
	if b.at != manyCoins {
		t.Errorf("Whole history leads to %s", b.at)
	}
}
