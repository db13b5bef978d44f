package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// press sends keys to the element with the focus.
func (b *tab) press(keys ...string) {
	b.Helper()
	for _, key := range keys {
		b.do("press a key", chromedp.KeyEvent(key))
	}
}

// pick selects an option with the keyboard.
func (b *tab) pick(id, first string) {
	b.Helper()
	eval[bool](b, `document.getElementById('`+id+`').focus(), true`)
	b.press(first)
}

// The theme, the unit of amounts and the time zone apply to the next pages, and to parts of a page that change.
func displayHolds(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	zone := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"})
		return err
	})
	b.do("begin", wide(desk), scheme("light"), zone)
	const paper, dark = `getComputedStyle(document.documentElement).backgroundColor`, "rgb(20, 21, 23)"
	b.open("/bitcoin/block/170", 200)
	text := func() string { return eval[string](b, "document.body.innerText") }
	light, before := eval[string](b, paper), text()
	if light == dark || !strings.Contains(before, "UTC") || !strings.Contains(before, "BTC") {
		t.Fatalf("%s is the background of %s", light, before)
	}
	b.pick("theme", "d")
	b.becomes(paper + ` === '` + dark + `'`)
	b.pick("amounts", "s")
	b.pick("times", "l")
	b.look("after the switches", "frame", "contrast", "width")
	b.open("/bitcoin/tx/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16", 200)
	if got := eval[string](b, paper); got != dark {
		t.Errorf("the background of the next page is %s, expected %s", got, dark)
	}
	for _, want := range []string{"1,000,000,000", "4,000,000,000", "sat", "2009-01-12 12:30:25 GMT+9"} {
		if !strings.Contains(text(), want) {
			t.Errorf("no %q in %s", want, text())
		}
	}
	if strings.Contains(eval[string](b, "document.querySelector('main').innerText"), " BTC") {
		t.Errorf("amounts in BTC: %s", text())
	}
	b.do("on a phone", wide(phone))
	b.look("on a phone", "contrast", "width", "labels")
	b.do("back", wide(desk))
	b.pick("amounts", "B")
	b.pick("times", "U")
	b.pick("theme", "a")
	b.becomes(paper + ` === '` + light + `'`)
	b.open("/bitcoin/block/170", 200)
	if after := text(); after != before {
		t.Errorf("the page was %s\nnow it is %s", before, after)
	}
}

// The slash key moves the focus to the search box. Suggestions open results by keyboard and by mouse.
func searchSuggests(t *testing.T, browser context.Context, server string, chains int) {
	b := newTab(t, browser, server)
	b.do("begin", wide(desk), scheme("light"))
	const open = `document.querySelectorAll('#suggestions [role=option]').length`
	b.open("/bitcoin/block/9", 200)
	b.press("/")
	b.becomes(`document.activeElement.id === 'q'`)
	eval[bool](b, `document.getElementById('q').value = '', true`) // the driver sends the character in spite of preventDefault
	b.press("1", "7", "0")
	b.becomes(open + ` === 1 && document.getElementById('q').getAttribute('aria-expanded') === 'true'`)
	b.look("with suggestions", "frame", "contrast", "width")
	b.press(kb.ArrowDown)
	b.becomes(`document.getElementById(document.getElementById('q').getAttribute('aria-activedescendant')).ariaSelected === 'true'`)
	b.follow("Enter", chromedp.KeyEvent(kb.Enter))
	if !strings.HasPrefix(b.at, "/bitcoin/block/00000000d1145790") {
		t.Errorf("the suggestion opens %s", b.at)
	}
	b.open("/bitcoin", 200)
	if got := eval[string](b, "document.activeElement.id"); got != "q" {
		t.Errorf("the overview has its focus on %q", got)
	}
	b.press("1", "2", "c")
	b.becomes(open + ` > 3`)
	const selected = `[...document.querySelectorAll('#suggestions [role=option]')].findIndex((o) => o.ariaSelected === 'true')`
	b.press(kb.ArrowUp) // to the last one, then to the text, then down to the first
	b.becomes(selected + ` === ` + open + ` - 1`)
	b.press(kb.ArrowDown)
	b.becomes(selected + ` === -1 && !document.getElementById('q').hasAttribute('aria-activedescendant')`)
	b.press(kb.ArrowDown, kb.ArrowUp)
	b.becomes(selected + ` === -1`)
	b.press(kb.Escape)
	b.becomes(open + ` === 0 && document.getElementById('q').value === '12c' && document.activeElement.id === 'q'`)
	b.press("b")
	b.becomes(open + ` > 0`)
	b.press(kb.Tab) // to the button
	b.becomes(open + ` === 0 && document.activeElement.closest('form') === document.getElementById('q').form`)
	b.follow("the text itself", chromedp.KeyEvent(kb.Enter))
	if b.at != "/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S" { // the only result that begins with it
		t.Errorf("the text without a suggestion opens %s", b.at)
	}
	b.open("/", 200)
	b.press("5", "5", "5")
	b.becomes(open + ` === ` + string(rune('0'+chains)))
	b.do("on a phone", wide(phone))
	b.look("with suggestions on a phone", "contrast", "width")
	b.follow("click", chromedp.Click(chromedp.CSS("#suggestions li")))
	if !strings.HasPrefix(b.at, "/bitcoin/block/") {
		t.Errorf("the suggestion opens %s", b.at)
	}
	if chains < 3 {
		return
	}
	b.open("/cardano-preview", 200)
	eval[bool](b, `document.getElementById('q').focus(), true`)
	b.press("h", "a", "p", "p")
	b.becomes(open + ` > 0 && document.getElementById('suggestions').textContent.includes('HappyCoin')`)
}

// The search form works without scripts, by keyboard and by its button, on a screen and on a phone.
func searchWithoutScripts(t *testing.T, browser context.Context, server string) {
	b := newTab(t, browser, server)
	b.do("without scripts", scripting(false))
	write := func(text ...string) {
		eval[bool](b, `document.getElementById('q').focus(), true`)
		b.press(text...)
	}
	for _, width := range []int64{desk, phone} {
		b.do("resize", wide(width))
		for _, submit := range []chromedp.Action[chromedp.Void]{chromedp.KeyEvent(kb.Enter), chromedp.Click(chromedp.CSS("form.find button"))} {
			b.open("/bitcoin/block/9", 200)
			write("1", "7", "0", " ")
			b.follow("submit", submit)
			if !strings.HasPrefix(b.at, "/bitcoin/block/00000000d1145790") {
				t.Errorf("the form opens %s", b.at)
			}
		}
		b.open("/bitcoin", 200)
		write("1", "2", "c")
		b.follow("submit", chromedp.KeyEvent(kb.Enter))
		b.look("with results", "contrast", "width", "labels")
		b.follow("the first result", chromedp.Click(chromedp.CSS("main .hits a")))
		if !strings.HasPrefix(b.at, "/bitcoin/") || strings.Contains(b.at, "search") {
			t.Errorf("the first result opens %s", b.at)
		}
	}
}
