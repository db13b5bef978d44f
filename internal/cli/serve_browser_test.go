package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	tabs "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/model"
)

// kindOf returns the kind of a page: the part of its path that all pages of the kind share.
func kindOf(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	words := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	kind := strings.Join(words[:min(2, len(words))], "/")
	if len(words) > 2 && slices.Contains([]string{"index", "values", "richest"}, words[1]) {
		kind += "/" + words[2]
	}
	if len(u.Query()) > 0 {
		kind += "?"
	}
	return kind
}

// Kinds of pages that must be reachable from the first page by links.
var pageKinds = map[string][]string{
	"bitcoin": {"bitcoin", "bitcoin/blocks", "bitcoin/block", "bitcoin/tx", "bitcoin/output", "bitcoin/address", "bitcoin/richest", "bitcoin/richest/address", "bitcoin/values/address", "bitcoin/charts", "bitcoin/forks", "bitcoin/status"},
	"cardano": {"cardano-preview", "cardano-preview/block", "cardano-preview/tx", "cardano-preview/address",
		"cardano-preview/assets", "cardano-preview/asset", "cardano-preview/producers"},
}

// The explorer in a browser, with real blocks of every chain. All subtests share one browser and one server, because
// these take longer to start than a page to load.
func TestExplorerInABrowser(t *testing.T) {
	slow(t)
	browser := browser(t)
	dbs := explored(t)
	set := config.Default()
	set.Server.Site.Pictures, set.Server.Site.Labels = pictureGateway(t), labelled(t)
	server := shownWith(t, set, dbs...)
	t.Run("every page is fit for everybody", func(t *testing.T) { everyPageIsFit(t, browser, server, dbs) })
	t.Run("the keyboard reaches everything", func(t *testing.T) { keyboardReachesEverything(t, browser, server, "/bitcoin/block/170") })
	t.Run("the search box finds", func(t *testing.T) { searchBoxFinds(t, browser, server, dbs) })
	t.Run("search suggests", func(t *testing.T) { searchSuggests(t, browser, server, len(dbs)) })
	t.Run("search without scripts", func(t *testing.T) { searchWithoutScripts(t, browser, server) })
	t.Run("display settings hold", func(t *testing.T) { displayHolds(t, browser, server) })
	t.Run("a hash is copied", func(t *testing.T) { hashIsCopied(t, browser, server) })
	t.Run("a coin is followed", func(t *testing.T) { coinIsFollowed(t, browser, server) })
	t.Run("dates without scripts", func(t *testing.T) { datesAreSelected(t, browser, server) })
	t.Run("a list is read to its end", func(t *testing.T) { listIsRead(t, browser) })
	t.Run("blocks and forks arrive", func(t *testing.T) { blocksArrive(t, browser) })
	t.Run("unconfirmed transactions arrive", func(t *testing.T) { unconfirmedArrive(t, browser) })
	if len(dbs) < 3 {
		t.Skip("the real blocks of Cardano and Ergo are not present")
	}
	t.Run("the keyboard reaches everything of the other chains", func(t *testing.T) {
		keyboardReachesEverything(t, browser, server, "/cardano-preview/block/49472",
			"/cardano-preview/tx/7b4fddb53f730db367294b101510d62e4350fde21d2cf44193d07dc3f92fde70",
			"/ergo/tx/b335440b3bd2f84fa6cbb23d0e740ced1625d2c5e67fcfce51f79c14346cc4b7")
	})
	t.Run("a first visitor has answers", func(t *testing.T) { visitorHasAnswers(t, server) })
	t.Run("every element is shown", func(t *testing.T) { elementsAreShown(t, browser, server) })
	t.Run("every content is shown", func(t *testing.T) { contentsAreShown(t, browser, server) })
	t.Run("pictures come from the gateway", func(t *testing.T) { picturesAreLoaded(t, browser, server) })
}

// Every kind of linked page is checked for names, contrast, width, labels, axe-core and size, on a desktop and on a
// phone, in light and dark. It is also readable without scripts.
func everyPageIsFit(t *testing.T, browser context.Context, server string, dbs []*core.DB) {
	axe := axeScript(t)
	b := newTab(t, browser, server)
	weight := b.weigh()
	b.do("begin", wide(desk), scheme("light"), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	}))
	found := map[string]string{} // a page of each kind
	var paints, sizes []string
	queue := []string{"/", manyInputs, "/search?q=555", "/docs", "/docs?q=balance", "/nowhere"}
	for _, db := range dbs {
		name := daemon.ServedName(db.Chain())
		queue = append(queue, "/"+name, "/"+name+"/block/170", "/"+name+"/search?q=zebra")
	}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if found[kindOf(path)] != "" {
			continue
		}
		found[kindOf(path)] = path
		status := int64(200)
		if missingPage(path) {
			status = 404
		}
		*weight = 0
		b.open(path, status)
		if size := *weight; size == 0 || size > maxPageBytes {
			t.Errorf("%s transfers %d bytes, expected at most %d", path, size, maxPageBytes)
		}
		sizes = append(sizes, fmt.Sprintf("%7d %.50s", *weight, path))
		paints = append(paints, fmt.Sprintf("%7.0f %.50s", b.firstPaint(), path))
		for _, link := range eval[[]string](b, `[...document.querySelectorAll('main a[href]:not([download]), nav a[href]')].filter(a => a.origin === location.origin).map(a => a.pathname + a.search)`) {
			if !strings.HasPrefix(link, "/v1") && !strings.HasPrefix(link, "/openapi") {
				queue = append(queue, link)
			}
		}
		b.everyLook(axe)
	}
	slices.Sort(sizes)
	slices.Sort(paints)
	last := func(list []string) string { return strings.Join(list[max(0, len(list)-5):], "\n") }
	t.Logf("%d pages; first paint in ms, median %s, slowest:\n%s\nbytes with style and scripts, median %s, largest:\n%s",
		len(sizes), paints[len(paints)/2], last(paints), sizes[len(sizes)/2], last(sizes))
	for _, db := range dbs {
		for _, kind := range pageKinds[db.Chain().Name()] {
			if found[kind] == "" {
				t.Errorf("no page links to a page of the kind %s: %v", kind, found)
			}
		}
	}
	t.Run("without scripts", func(t *testing.T) {
		b := newTab(t, browser, server)
		b.do("no scripts", scripting(false), wide(desk))
		for _, path := range found {
			if missingPage(path) {
				continue
			}
			b.open(path, 200)
			if text := eval[string](b, "document.querySelector('main').innerText"); len(text) < 20 {
				t.Errorf("%s: %q", path, text)
			}
		}
		for _, path := range b.asked {
			if strings.HasSuffix(path, ".js") || strings.HasSuffix(path, "/events") {
				t.Errorf("%s was requested", path)
			}
		}
	})
	if axe == "" {
		t.Skip("axe-core is not installed: make test-programs installs it")
	}
}

// missingPage reports whether a path of the crawl belongs to a page that does not exist.
func missingPage(path string) bool { return strings.HasSuffix(path, "q=zebra") || path == "/nowhere" }

// everyLook checks the page on a desktop and on a phone, on both in light and in dark. If the script of axe-core is not
// empty, it runs too.
func (b *tab) everyLook(axe string) {
	b.Helper()
	if axe != "" {
		eval[bool](b, axe+"; true")
	}
	for _, width := range []int64{desk, phone} {
		for i, theme := range []string{"light", "dark"} {
			b.do("how to look", wide(width), scheme(theme))
			how := fmt.Sprint(width, " pixels, ", theme)
			if i == 0 {
				b.look(how, "frame", "contrast", "width", "labels")
			} else {
				b.look(how, "contrast")
			}
			if axe != "" {
				b.axe(how, i == 0)
			}
		}
	}
	b.do("back", wide(desk), scheme("light"))
}

// The keyboard reaches every control of a page, in the order of the page, with a visible focus.
func keyboardReachesEverything(t *testing.T, browser context.Context, server string, paths ...string) {
	b := newTab(t, browser, server)
	for _, path := range paths {
		b.open(path, 200)
		b.do("begin", wide(desk))
		b.reachEverything(path)
	}
}

func (b *tab) reachEverything(path string) {
	b.Helper()
	wanted := eval[int](b, `[...document.querySelectorAll('a[href], button, input, select, summary')].filter((e) => e.checkVisibility()).length`)
	eval[bool](b, "window.before = null, document.activeElement.blur(), true")
	for i := range wanted {
		b.do("Tab", chromedp.KeyEvent(kb.Tab))
		for range 3 { // day, month, year and the button of a calendar are one element
			if !eval[bool](b, `document.activeElement.type === "date" && document.activeElement === window.before`) {
				break
			}
			b.do("Tab", chromedp.KeyEvent(kb.Tab))
		}
		said := eval[string](b, `(() => {
			const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
			const back = window.before && !(window.before.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING);
			window.before = e;
			const here = e.tagName + ' ' + e.textContent.trim().slice(0, 30);
			if (e === document.body) return 'nothing has the focus';
			if (back) return here + ' comes before what had the focus';
			if (s.outlineStyle === 'none' && s.boxShadow === 'none') return here + ' does not show that it has the focus';
			if (r.width === 0 || r.right <= 0 || r.bottom <= 0 || r.top >= innerHeight) return here + ' is not in sight';
			return '';
		})()`)
		if said != "" {
			b.Fatalf("%s: Tab %d of %d: %s", path, i+1, wanted, said)
		}
		if i == 0 && !eval[bool](b, `document.activeElement.matches('.skip') && document.querySelector(document.activeElement.hash) === document.querySelector('main')`) {
			b.Errorf("%s: the first link does not skip to the content", path)
		}
	}
}

// search pastes a text into the search box of the current page: a browser takes seconds for the keys of seven hashes.
func (b *tab) search(text string) {
	b.Helper()
	paste := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
	b.follow("search "+text, chromedp.Focus(chromedp.CSS("#q")), paste, chromedp.KeyEvent(kb.Enter))
}

func searchBoxFinds(t *testing.T, browser context.Context, server string, dbs []*core.DB) {
	b := newTab(t, browser, server)
	for text, want := range map[string]string{
		"170": "/bitcoin/block/",
		"00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee":   "/bitcoin/block/00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee",
		"f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16":   "/bitcoin/tx/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16",
		"f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:1": "/bitcoin/output/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:1",
		"E9831E9E16":                         "/bitcoin/tx/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16", // the end of the hash
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S": "/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S",
	} {
		b.open("/bitcoin", 200)
		b.search(text)
		if !strings.HasPrefix(b.at, want) {
			t.Errorf("%s: found %s, expected %s", text, b.at, want)
		}
	}
	b.open("/bitcoin", 200)
	b.mu.Lock()
	b.expected = 404
	b.mu.Unlock()
	b.search("<script>alert(1)</script>")
	if text := eval[string](b, "document.querySelector('main').innerText"); !strings.Contains(text, "<script>alert(1)</script>") {
		t.Errorf("the page does not contain the search text: %s", text)
	}
	if len(dbs) > 1 {
		db := dbs[1]
		assets, err := db.Assets(t.Context(), query.Page{Limit: 1})
		if err != nil || len(assets.Assets) == 0 {
			t.Fatalf("%v: %+v", err, assets)
		}
		b.open("/cardano-preview", 200)
		b.search(assets.Assets[0].Asset)
		if want := "/cardano-preview/asset/" + assets.Assets[0].Asset; b.at != want {
			t.Errorf("found %s, expected %s", b.at, want)
		}
	}
}

// The links from the first payment's block reach the spending transactions and return.
func coinIsFollowed(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	link := func(selector string) chromedp.Action[chromedp.Void] {
		return chromedp.Click(chromedp.CSS("main " + selector))
	}
	b.open("/bitcoin/block/9", 200)
	for _, step := range []struct{ selector, to string }{
		{`a[href="/bitcoin/tx/0437cd7f8525ceed2324359c2d0ba26006d92d856a9c20fa0241106ee5a597c9"]`, "/bitcoin/tx/0437cd7f8525"},
		{`table a[href^="/bitcoin/tx/f4184fc5"]`, "/bitcoin/tx/f4184fc59640"},
		{`table a[href^="/bitcoin/tx/a16f3ce4"]`, "/bitcoin/tx/a16f3ce4dd5d"},
		{`table a[href*="f4184fc5"]`, "/bitcoin/output/f4184fc59640"}, // back to the spent output
		{`a[href^="/bitcoin/tx/f4184fc5"]`, "/bitcoin/tx/f4184fc59640"},
		{`a[href^="/bitcoin/block/"]`, "/bitcoin/block/"},
	} {
		b.follow(step.selector, link(step.selector))
		if !strings.HasPrefix(b.at, step.to) {
			t.Fatalf("%s opens %s, expected %s", step.selector, b.at, step.to)
		}
	}
}

// The links of a list reach all its pages up to the end, without duplicates.
func listIsRead(t *testing.T, browser context.Context) {
	b := newTab(t, browser, shownIn(t, syncedBitcoin(t, 120)))
	b.open("/bitcoin/blocks", 200)
	seen := map[string]bool{}
	for {
		for _, href := range eval[[]string](b, `[...document.querySelectorAll('main table.blocks th a')].map(a => a.textContent)`) {
			if seen[href] {
				t.Fatalf("block %s is in the list twice", href)
			}
			seen[href] = true
		}
		if !eval[bool](b, `!!document.querySelector('main a[rel=next]')`) {
			break
		}
		b.follow("next", chromedp.Click(chromedp.CSS("main a[rel=next]")))
	}
	if len(seen) != 121 {
		t.Errorf("%d blocks in the list, expected 121", len(seen))
	}
	for h := range 121 {
		if !seen[fmt.Sprint(h)] {
			t.Errorf("block %d is not in the list", h)
		}
	}
}

// Open pages show changes of the chain by themselves.
func blocksArrive(t *testing.T, browser context.Context) {
	uri := "file://" + realBlocks(t)
	db := syncedBitcoin(t, 200)
	server := shownIn(t, db)
	const paid = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S" // also spends in block 248
	home, address := newTab(t, browser, server), newTab(t, browser, server)
	address.open("/bitcoin/address/"+paid, 200)
	home.open("/bitcoin", 200)
	newest := func(height int) string {
		return fmt.Sprintf(`document.querySelector('table.blocks tbody a').textContent === '%d' && document.querySelector('#tip').textContent.includes('block %d,')`, height, height)
	}
	home.becomes(newest(200))
	for _, height := range []int{201, 205} {
		syncOn(t, db, uri, model.HeightPk(height))
		home.becomes(newest(height))
	}
	to, err := db.PointAt(t.Context(), 203)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Rollback(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	home.becomes(`document.querySelector('#news').textContent.includes('2 blocks were replaced')`)
	home.becomes(newest(203))
	syncOn(t, db, uri, 250)
	home.becomes(newest(250))
	// A hidden tab has no connection. When it is visible again, it receives the missed changes.
	address.do("look at it", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, tabs.BringToFront, cdp.Empty{})
		return err
	}))
	address.becomes(`document.querySelector('#tip').textContent.includes('block 250,')`)
	address.becomes(`!document.querySelector('#news').hidden`)
	address.follow("show it as it is now", chromedp.Click(chromedp.CSS("#news a")))
	address.becomes(`[...document.querySelectorAll('main a')].some(a => a.pathname === '/bitcoin/block/248' || a.textContent === '248')`)
}
