package cli

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// mostClicks is the number of clicks after which a visitor has an answer. A search is a click.
const mostClicks = 3

// question is a question of a first visitor: the links that lead to its answer, from the first page of the server. A
// link is a pattern for its path, and a search is a text after "search ".
type question struct {
	text   string
	clicks []string
	answer []string // patterns of texts of the last page
}

var questions = map[string][]question{
	"bitcoin": {
		{"What is the newest block, and how many transactions are there?", []string{"/bitcoin"}, []string{"14,131", "14,247"}},
		{"Who mined the newest block, and for how much?", []string{"/bitcoin", "/bitcoin/block/.*"}, []string{"(?i)paid to", `50\.00000000 BTC`}},
		{"Who was paid by this transaction?", []string{"search f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"},
			[]string{"1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3", `10\.00000000 BTC`}},
		{"How long ago was it confirmed, and how deep is it?", []string{"search f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"},
			[]string{"2009-01-12 03:30:25 UTC", "13,962 confirmations"}},
		{"What script did it use?", []string{"search f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"}, []string{"OP_CHECKSIG"}},
		{"What does this address hold, and when did it move?", []string{"search 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"},
			[]string{`Balance ?18\.00000000 BTC`, "Last active"}},
		{"Where did the money of an output go?", []string{"search 12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S", "/bitcoin/tx/.*"}, []string{"Spent by"}},
		{"Who holds most?", []string{"/bitcoin", "/bitcoin/richest"}, []string{"1 ", "of supply"}},
		{"How many coins are there?", []string{"/bitcoin", "/bitcoin/charts", "/bitcoin/charts/supply.*"}, []string{"Supply"}},
		{"How busy is the chain?", []string{"/bitcoin", "/bitcoin/charts", "/bitcoin/charts/transactions.*"}, []string{"Transactions"}},
		{"What changed in the last reorganization?", []string{"/bitcoin", "/bitcoin/forks"}, []string{"Reorganizations"}},
	},
	"cardano": {
		{"What is the newest block, and which pool made it?", []string{"/cardano-preview", "/cardano-preview/block/.*"}, []string{"pool1"}},
		{"Which pools make the most blocks?", []string{"/cardano-preview", "/cardano-preview/charts", "/cardano-preview/producers"}, []string{"pool1", `\d%`}},
		{"How far is the epoch?", []string{"/cardano-preview"}, []string{"Epoch"}},
		{"Who was paid by this transaction?", []string{"search d77fafb498b2ca2859b27fe3443e266a4de7f6ec98f7b647719d115aa0dd74d5"}, []string{"addr_test1", "ADA"}},
		{"How deep is it?", []string{"search d77fafb498b2ca2859b27fe3443e266a4de7f6ec98f7b647719d115aa0dd74d5"}, []string{"confirmations"}},
		{"What did this contract do?", []string{"search 04c059a4be60354e25850b476bc055830bf09fd17701da21d5130b4c8b60a4e8"},
			[]string{"Redeemers", "plutus v1, 6,769 bytes", "memory units", "constructor 0"}},
		{"Who holds this asset?", []string{"/cardano-preview", "/cardano-preview/assets", "/cardano-preview/asset/.*"}, []string{"Holders", "Shares"}},
		{"How much of it was burned?", []string{"/cardano-preview", "/cardano-preview/assets", "/cardano-preview/asset/.*"}, []string{`Burned ?\d`}},
		{"Which assets has its policy?", []string{"search HappyCoin", "/cardano-preview/asset/.*", "/cardano-preview/index/policy/.*"}, []string{"Assets of this policy"}},
		{"To which pool does this account delegate?", []string{"search 7b4fddb53f730db367294b101510d62e4350fde21d2cf44193d07dc3f92fde70"},
			[]string{"Certificates", "pool1", "stake_test1"}},
		{"Who holds most?", []string{"/cardano-preview", "/cardano-preview/richest"}, []string{"addr_test1", "of supply"}},
		{"What changed in the last reorganization?", []string{"/cardano-preview", "/cardano-preview/forks"}, []string{"Reorganizations"}},
	},
	"ergo": {
		{"What is the newest block, and who mined it?", []string{"/ergo", "/ergo/block/.*"}, []string{"(?i)miner public key", "9[0-9A-Za-z]{50}"}},
		{"Which miners make the most blocks?", []string{"/ergo", "/ergo/charts", "/ergo/producers"}, []string{`\d%`}},
		{"Who was paid by this transaction?", []string{"search b335440b3bd2f84fa6cbb23d0e740ced1625d2c5e67fcfce51f79c14346cc4b7"}, []string{"ERG", "9[0-9A-Za-z]{50}"}},
		{"How deep is it?", []string{"search b335440b3bd2f84fa6cbb23d0e740ced1625d2c5e67fcfce51f79c14346cc4b7"}, []string{"confirmations"}},
		{"What does this contract say?", []string{"search b335440b3bd2f84fa6cbb23d0e740ced1625d2c5e67fcfce51f79c14346cc4b7"}, []string{"ErgoTree as text"}},
		{"What is in this box?", []string{"search b335440b3bd2f84fa6cbb23d0e740ced1625d2c5e67fcfce51f79c14346cc4b7", "/ergo/output/.*"}, []string{"box id", "creation height"}},
		{"How high is the chain?", []string{"/ergo"}, []string{"2,000"}},
		{"Who holds most?", []string{"/ergo", "/ergo/richest"}, []string{"of supply"}},
		{"How many coins are there?", []string{"/ergo", "/ergo/charts", "/ergo/charts/supply.*"}, []string{"Supply"}},
		{"How busy is the chain?", []string{"/ergo", "/ergo/charts", "/ergo/charts/transactions.*"}, []string{"Transactions"}},
		{"What changed in the last reorganization?", []string{"/ergo", "/ergo/forks"}, []string{"Reorganizations"}},
	},
}

// The questions of a first visitor have answers after at most three clicks from the first page, without scripts.
func visitorHasAnswers(t *testing.T, server string) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	read := func(t *testing.T, res *http.Response, err error) (*html.Node, *url.URL) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(res.Body)
			t.Fatalf("%s: %d %s", res.Request.URL, res.StatusCode, text)
		}
		root, err := html.Parse(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return root, res.Request.URL
	}
	for chain, list := range questions {
		if len(list) < 10 {
			t.Errorf("%s: %d questions", chain, len(list))
		}
		for _, q := range list {
			t.Run(chain+" "+q.text, func(t *testing.T) {
				if len(q.clicks) > mostClicks {
					t.Fatalf("%d clicks", len(q.clicks))
				}
				res, err := client.Get(server + "/")
				page, at := read(t, res, err)
				for _, click := range q.clicks {
					if text, ok := strings.CutPrefix(click, "search "); ok {
						res, err = client.PostForm(server+"/search", url.Values{"q": {text}})
						page, at = read(t, res, err)
						continue
					}
					to := linkTo(page, at, regexp.MustCompile("^"+click+"$"))
					if to == "" {
						t.Fatalf("%s has no link to %s", at.Path, click)
					}
					res, err = client.Get(to)
					page, at = read(t, res, err)
				}
				text := pageText(page)
				for _, pattern := range q.answer {
					if !regexp.MustCompile(pattern).MatchString(text) {
						t.Errorf("%s does not show %s:\n%s", at.Path, pattern, text)
					}
				}
			})
		}
	}
}

// linkTo returns the URL of the first link of a page to a path, with its query.
func linkTo(page *html.Node, at *url.URL, path *regexp.Regexp) string {
	for n := range page.Descendants() {
		if n.Data != "a" || n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			if a.Key != "href" {
				continue
			}
			to, err := at.Parse(a.Val)
			if err == nil && to.Host == at.Host && path.MatchString(to.Path) {
				return to.String()
			}
		}
	}
	return ""
}

// pageText returns the text of the main part of a page, with a space between elements.
func pageText(page *html.Node) string {
	var b strings.Builder
	for n := range page.Descendants() {
		if n.Data != "main" || n.Type != html.ElementNode {
			continue
		}
		for c := range n.Descendants() {
			if c.Type != html.TextNode {
				continue
			}
			switch c.Parent.Data {
			case "span", "a", "wbr": // of a number, or of a hash
			default:
				b.WriteByte(' ')
			}
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
