package cli

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// browserPatience is far longer than any step in a browser takes.
const browserPatience = 10 * time.Minute

//go:embed testdata/browser/look.js
var lookScript string

// browser starts a headless Chromium, or skips the test if there is none. It can reach this host only. The build
// without windows takes 30% less CPU time.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		t.Skip("chromium is not installed: run tools/setup.sh tests")
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("js-flags", "--no-opt --no-maglev"), // scripts are too short for optimization
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-gpu", true), chromedp.WindowSize(1280, 900),
		chromedp.NoSandbox) // root and many containers have no sandbox; all pages are local
	ctx, stop := chromedp.NewExecAllocator(context.Background(), o...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return ctx
}

// tab is a browser tab for one server. Errors in the console, failed requests and requests to other hosts fail the
// test.
type tab struct {
	*testing.T
	ctx  context.Context
	base string

	axeContrast bool // axe-core checks the contrast too

	mu       sync.Mutex
	at       string // the current page
	expected int64  // its status
	faults   []string
	asked    []string // paths of all requests
}

func newTab(t *testing.T, browser context.Context, server string) *tab {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser)
	t.Cleanup(stop)
	b := &tab{T: t, ctx: ctx, base: server, expected: 200}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	console := chromedp.Console(ctx)
	go func() {
		for m, err := range console {
			if err != nil {
				return
			}
			// Only tests request documents that do not exist.
			if m.Type != chromedp.ConsoleError && m.Type != chromedp.ConsoleWarning && !m.IsException() || m.Source == "network" {
				continue
			}
			b.fault("console: %s", m)
		}
	}()
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, f := range b.faults {
			t.Error(f)
		}
	})
	return b
}

func (b *tab) fault(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, b.at+": "+fmt.Sprintf(format, args...))
}

func (b *tab) hear(ev any) {
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "data" && "http://"+u.Host != b.base && !isPicture(e, u) {
			b.fault("asks for %s", e.Request.URL)
			return
		}
		b.mu.Lock()
		b.asked = append(b.asked, u.Path)
		b.mu.Unlock()
	case *network.EventResponseReceived:
		b.mu.Lock()
		expected := int64(200)
		if e.Type == network.ResourceTypeDocument {
			expected = b.expected
		}
		b.mu.Unlock()
		if e.Response.Status != expected && e.Response.Status != 304 {
			b.fault("%s is answered with %d, expected %d", e.Response.URL, e.Response.Status, expected)
		}
	case *network.EventLoadingFailed:
		if !e.Canceled {
			b.fault("a request for a %s failed: %s", e.Type, e.ErrorText)
		}
	}
}

// isPicture reports whether a request is for a picture of the gateway.
func isPicture(e *network.EventRequestWillBeSent, u *url.URL) bool {
	return e.Type == network.ResourceTypeImage && strings.HasPrefix(u.Path, "/ipfs/")
}

// do runs steps in the browser with a time limit.
func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, browserPatience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatalf("%s: %s: %v", b.at, what, err)
	}
}

// open opens a page whose response must have a status.
func (b *tab) open(path string, status int64) {
	b.Helper()
	b.mu.Lock()
	b.at, b.expected = path, status
	b.mu.Unlock()
	b.do("open", chromedp.Navigate(b.base+path))
}

// follow runs steps that open another page, and waits for that page.
func (b *tab) follow(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, browserPatience)
	defer stop()
	if _, err := chromedp.RunResponse(ctx, steps...); err != nil {
		b.Fatalf("%s: %s: %v", b.at, what, err)
	}
	at := eval[string](b, "location.pathname + location.search")
	b.mu.Lock()
	b.at = at
	b.mu.Unlock()
}

// eval returns the value of an expression in the page.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, browserPatience)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %s: %v", b.at, expression, err)
	}
	return v
}

// becomes waits until an expression is true.
func (b *tab) becomes(expression string) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.ctx, browserPatience)
	defer stop()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(0)))
	if err != nil {
		b.Fatalf("%s: timeout while waiting for %s: %v\nthe page: %s", b.at, expression, err, eval[string](b, "document.body.innerText.slice(0, 600)"))
	}
}

// look checks the page: frame, contrast, width, labels.
func (b *tab) look(how string, what ...string) {
	b.Helper()
	names, err := json.Marshal(what)
	if err != nil {
		b.Fatal(err)
	}
	for _, fault := range eval[[]string](b, fmt.Sprintf("(%s)(...%s)", strings.TrimSpace(lookScript[strings.Index(lookScript, "(() =>"):]), names)) {
		b.Errorf("%s %s: %s", b.at, how, fault)
	}
}

// The viewports and color schemes that are checked.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	})
}

func scripting(on bool) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return err
	})
}

const (
	desk  = 1280 // CSS pixels
	phone = 390
)

func wide(pixels int64) chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(pixels, 844)
}
