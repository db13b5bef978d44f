package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// axeScript returns axe-core, which defines window.axe, or "" if it is not installed.
func axeScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "tools", "axe", "node_modules", "axe-core", "axe.min.js"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// maxPageBytes is the largest page with its style and scripts, as transferred to a browser without a cache.
const maxPageBytes = 100_000

// weigh returns the number of transferred bytes of the responses that the tab received. Streams of events do not end
// and do not count.
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

// axe reports the violations that axe-core finds in the page, in one theme of a width the ones of all rules, in the other
// those of color-contrast. This rule takes more time than all others, and look.js checks the contrast of every text: it
// is off, unless the test turns it on.
func (b *tab) axe(how string, all bool) {
	b.Helper()
	options := `{resultTypes: ["violations"]}`
	switch {
	case !all && !b.axeContrast:
		return
	case !all:
		options = `{resultTypes: ["violations"], runOnly: {type: "rule", values: ["color-contrast"]}}`
	case !b.axeContrast:
		options = `{resultTypes: ["violations"], rules: {"color-contrast": {enabled: false}}}`
	}
	ctx, stop := context.WithTimeout(b.ctx, browserPatience)
	defer stop()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run(document, `+options+`).then(r => JSON.stringify(
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
