package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	nftPolicy   = "0fc891fb7368d3b7c7b88815c203fda0d6862b0f1d797222672e91fe"
	happyPolicy = "919e8a1922aaa764b1d66407c6f62244e77081215f385b60a6209149"
	nft         = nftPolicy + "4d79416d617a696e674e4654"
	emission    = "2Z4YBkDsDvQj8BX7xiySFewjitqp2ge9c99jfes2whbtKitZTxdBYqbrVZUvZvKv6aqn9by4kp3LE1c26LCyosFnVnm6b6U1JYvWpYmL2ZnixJbXLjWAWuBThV1D6dLpqZJYQHYDznJCk49g5TUiS4q8khpag2aNmHwREV7JSsypHdHLgJT7MGaw51aJfNubyzSKxZ4AJXFS27EfXwyCLzW1K6GVqwkJtCoPvrcLqmqwacAWJPkmh78nke9H4oT88XmSbRt2n9aWZjosiZCafZ4osUDxmZcc5QVEeTWn8drSraY3eFKe8Mu9MSCcVU"
)

// elementsAreShown opens pages of addresses and assets with all details expanded.
func elementsAreShown(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	b.do("begin", wide(desk), scheme("light"))
	for path, elements := range map[string][]string{
		manyCoins: {"svg.qr", ".copy", "h1 .badge", "h1 .label", "#balance-t", ".head a[download]", "form.period"},
		manyCoins + "?from=2009-03-01&to=2009-03-31": {"#balance-t", "form.period a"},
		"/bitcoin/richest":                           {"table.rich .label"},
		manyInputs:                                   {"#outputs ~ table .label"},
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
		b.everyLook("")
		res, err := http.Get(server + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || len(text) > maxPageBytes {
			t.Errorf("%s: %d bytes, expected %d at most (%v)", path, len(text), maxPageBytes, err)
		}
	}
}

// labelled returns a file of labels with a label of an address that pages show.
func labelled(t *testing.T) (file string) {
	file = filepath.Join(t.TempDir(), "labels.txt")
	write(t, file, strings.TrimPrefix(manyCoins, "/bitcoin/address/")+" Collector of fifty coins\n1EWbQNeNNiZcZyJcfQ6CQbnptHiU9pvVYr "+
		"A company with a name of exactly sixty characters, Ltd. & Co\n")
	return file
}

// The form of dates works without scripts on a phone.
func datesAreSelected(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	b.open(manyCoins, 200)
	eval[bool](b, `document.querySelector("#from").value = "2009-03-01", document.querySelector("#to").value = "2009-03-31", true`)
	b.do("without scripts", scripting(false), wide(phone))
	b.follow("Show", chromedp.Click(chromedp.CSS("form.period button")))
	if b.at != manyCoins+"?from=2009-03-01&to=2009-03-31&direction=" {
		t.Fatalf("the form opens %s", b.at)
	}
	dates := eval[string](b, `[...document.querySelectorAll("[aria-labelledby=history] tbody time")].map((e) => e.dateTime.slice(0, 7)).join(" ")`)
	if n := strings.Count(dates, "2009-03"); n < 3 || n != len(strings.Fields(dates)) {
		t.Errorf("the months are %s", dates)
	}
	b.look("on a phone", "width")
	b.follow("Whole history", chromedp.Click(chromedp.CSS("form.period a")))
	if b.at != manyCoins {
		t.Errorf("Whole history opens %s", b.at)
	}
}

// referenceToken is an asset that CIP-68 describes in its own output.
const referenceToken = "/cardano-preview/asset/cb46e65cad648ace645d32a698f35e4465528d036bcd92e5b0559148000640a0363736373637"

// pictureGateway starts an IPFS gateway that serves the same picture for every path.
func pictureGateway(t *testing.T) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="teal"/></svg>`)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/ipfs/"
}

// The page of an asset shows its picture, which the browser loads from the gateway.
func picturesAreLoaded(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	b.open(referenceToken, 200)
	eval[bool](b, `document.querySelector(".picture").scrollIntoView(), true`)
	b.becomes(`document.querySelector(".picture").complete && document.querySelector(".picture").naturalWidth === 40`)
	if text := eval[string](b, `document.querySelector("#metadata").parentElement.innerText`); !strings.Contains(text, "CIP-68") || !strings.Contains(text, "ggg") {
		t.Errorf("the metadata is %s", text)
	}
	b.everyLook("")
	b.open(referenceToken, 200) // again in the same minute: the server returns 304
	b.open(referenceToken, 200)
	b.do("without scripts", scripting(false), wide(phone))
	b.open(referenceToken, 200)
	if !eval[bool](b, `!!document.querySelector(".picture[alt]")`) {
		t.Error("no picture without scripts")
	}
}
