package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"birthmark/core"
	"birthmark/internal/daemon"
	"birthmark/internal/testblocks"
)

// axeScript returns axe-core, which defines window.axe, or skips the test if it is not installed.
func axeScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "tools", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Skip("axe-core is not installed: make test-programs installs it")
	}
	return string(text)
}

// maxPageBytes is the largest page with its style and scripts, as transferred to a browser without a cache.
const maxPageBytes = 100_000

// axe-core has no finding on any page of any chain, on a desk and a phone, in light and dark; and pages are small.
func TestPagesAreAccessible(t *testing.T) {
	slow(t)
	script := axeScript(t)
	browser := browser(t)
	dbs := []*core.DB{syncedBitcoin(t, 14_131)}
	if cardano := syncedCardano(t, 37_000); cardano != nil {
		dbs = append(dbs, cardano)
	}
	t.Run("ergo", func(t *testing.T) {
		blocks := testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz")
		dbs = append(dbs, synced(t, "ergo", "mainnet", "file://"+blocks, 2000))
	})
	b := newTab(t, browser, shownIn(t, dbs...))
	weight := b.weigh()
	b.do("begin", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
		return err
	}))
	queue := []string{"/", "/docs", "/docs?q=balance", "/search?q=170", "/nowhere", manyInputs}
	for _, db := range dbs {
		name := daemon.ServedName(db.Chain())
		queue = append(queue, "/"+name, "/"+name+"/block/170", "/"+name+"/search?q=zebra")
	}
	seen := map[string]bool{}
	var paints, sizes []string
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if kind := kindOf(path); seen[kind] && path != manyInputs {
			continue
		} else {
			seen[kind] = true
		}
		status := int64(200)
		if strings.Contains(path, "q=zebra") || path == "/nowhere" {
			status = 404
		}
		for _, width := range []int64{desk, phone} {
			b.do("resize", wide(width))
			*weight = 0
			b.open(path, status)
			size := *weight
			if width == desk {
				sizes = append(sizes, fmt.Sprintf("%7d %.50s", size, path))
				paints = append(paints, fmt.Sprintf("%7.0f %.50s", b.firstPaint(), path))
			}
			if size == 0 || size > maxPageBytes {
				t.Errorf("%s transfers %d bytes, expected at most %d", path, size, maxPageBytes)
			}
			eval[bool](b, script+"; true")
			for _, colors := range []string{"light", "dark"} {
				b.do("colors", scheme(colors))
				b.axe(fmt.Sprintf("%d pixels, %s", width, colors))
			}
		}
		for _, link := range eval[[]string](b, `[...document.querySelectorAll('main a[href]:not([download]), nav a[href]')].filter(a => a.origin === location.origin).map(a => a.pathname + a.search)`) {
			if !strings.HasPrefix(link, "/v1") && !strings.HasPrefix(link, "/openapi") && !seen[kindOf(link)] {
				queue = append(queue, link)
			}
		}
	}
	if len(seen) < 12*len(dbs) {
		t.Errorf("%d kinds of pages: %v", len(seen), seen)
	}
	slices.Sort(sizes)
	slices.Sort(paints)
	last := func(list []string) string { return strings.Join(list[max(0, len(list)-5):], "\n") }
	t.Logf("%d pages; first paint in ms, median %s, slowest:\n%s\nbytes with style and scripts, median %s, largest:\n%s",
		len(sizes), paints[len(paints)/2], last(paints), sizes[len(sizes)/2], last(sizes))
}

// weigh returns the number of bytes of the answers that the tab received, as they were transferred. Streams of events do
// not end and do not count.
func (b *tab) weigh() *int64 {
	b.Helper()
	var n int64
	if err := chromedp.Listen(b.ctx, func(ev any) {
		if e, ok := ev.(*network.EventLoadingFinished); ok {
			b.mu.Lock()
			n += int64(e.EncodedDataLength)
			b.mu.Unlock()
		}
	}); err != nil {
		b.Fatal(err)
	}
	return &n
}

// firstPaint returns the time of the first contentful paint in milliseconds after the request.
func (b *tab) firstPaint() float64 {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, browserPatience)
	defer stop()
	at, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`new Promise(done => new PerformanceObserver((list) => {
		for (const e of list.getEntriesByName("first-contentful-paint")) done(e.startTime);
	}).observe({type: "paint", buffered: true}))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: first paint: %v", b.at, err)
	}
	return at
}

// axe reports what axe-core finds in the page.
func (b *tab) axe(how string) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, browserPatience)
	defer stop()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(
		r.violations.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ": " + n.html.slice(0, 150) + " " + n.failureSummary.replace(/\s+/g, " ").slice(0, 200)))))`,
		chromedp.EvalAwaitPromise))
	var faults []string
	if err == nil {
		err = json.Unmarshal([]byte(found), &faults)
	}
	if err != nil {
		b.Fatalf("%s: axe-core: %v", b.at, err)
	}
	for _, f := range faults {
		b.Errorf("%s, %s: %s", b.at, how, f)
	}
}
