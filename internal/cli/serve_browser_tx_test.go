package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// shownContents are texts that pages with raw transactions show.
var shownContents = map[string][]string{
	"/bitcoin/tx/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16": {
		"Total input", "50.00000000 BTC", "275 vB, weight 1,100", "0xffffffff", "p2pk", "OP_CHECKSIG", "confirmations", "QR code",
	},
	"/bitcoin/tx/4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b": {"The Times 03/Jan/2009", "coinbase"},
	"/bitcoin/output/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:0": {
		"p2pk", "OP_CHECKSIG", "4104ae1a62fe", "confirmations",
	},
	"/bitcoin/block/2812":          {"total output", "299.97000000 BTC", "fees included", "5,972, 0.1% of the maximum", "Fee", "Paid to", "Median time", "0x00000001"},
	"/bitcoin/block/0":             {"Coinbase text", "The Times 03/Jan/2009"},
	"/cardano-preview/block/49472": {"total output", "0.966648 ADA", "confirmations", "pool1grvqd4eu354qervmr62uew0nsrjqedx5kglldeqr4c29vv59rku"},
	"/ergo/block/700": {
		"total output", "confirmations", "67.5", "9gBChAr3CyZ1rpXAxB46Dmh6C5LVokg3ojj81CY5ezCBrhnt499", "Miner public key", "AD proofs root",
	},
	"/cardano-preview/tx/04c059a4be60354e25850b476bc055830bf09fd17701da21d5130b4c8b60a4e8": {
		"from 1,091,691 before 1,093,490", "Metadata", "Optim Bond Tokens", "Collateral", "Redeemers", "713,775 memory units", "script hash",
		"6,769 bytes, in this transaction", "0.060933 ADA, 6.3% of the fee", "constructor 0, 9 values",
		"Datums", "Scripts", "plutus v1", "datum hash",
	},
	"/cardano-preview/tx/7b4fddb53f730db367294b101510d62e4350fde21d2cf44193d07dc3f92fde70": {"Certificates", "pool1", "stake_test1"},
	"/cardano-preview/tx/d77fafb498b2ca2859b27fe3443e266a4de7f6ec98f7b647719d115aa0dd74d5": {"Withdrawals", "stake_tes"},
	"/cardano-preview/tx/ed6394494888c0590b1110770d2336b228dd1438b3bfb48384eedd30e0c72b24": {"Reference inputs"},
	"/ergo/tx/b335440b3bd2f84fa6cbb23d0e740ced1625d2c5e67fcfce51f79c14346cc4b7":            {"ErgoTree", "ErgoTree as text", "creation height", "box id"},
}

// contentsAreShown opens each page with and without scripts.
func contentsAreShown(t *testing.T, browser context.Context, server string) {
	for _, scripts := range []bool{true, false} {
		b := newTab(t, browser, server)
		b.do("begin", scripting(scripts), wide(desk), scheme("light"))
		for path, texts := range shownContents {
			b.open(path, 200)
			eval[bool](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
			b.everyLook("")
			page := eval[string](b, `document.querySelector("main").innerText`)
			for _, text := range texts {
				if !strings.Contains(strings.ToLower(page), strings.ToLower(text)) {
					t.Errorf("%s does not show %q:\n%s", path, text, page)
				}
			}
			if size := eval[int](b, `document.documentElement.outerHTML.length`); size > maxPageBytes {
				t.Errorf("%s has %d characters", path, size)
			}
		}
	}
}

func hashIsCopied(t *testing.T, browser context.Context, server string) {
	const hash = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	b := newTab(t, browser, server)
	for how, prepare := range map[string]string{
		"secure":   `navigator.clipboard.writeText = async (text) => { window.copied = text; }, true`,
		"insecure": `Object.defineProperty(navigator, "clipboard", {}), document.addEventListener("copy", () => { window.copied = getSelection().toString(); }), true`,
	} {
		b.open("/bitcoin/tx/"+hash, 200)
		eval[bool](b, prepare)
		eval[bool](b, `document.querySelector("main .copy").focus(), true`)
		b.do("press Enter", chromedp.KeyEvent(kb.Enter))
		b.becomes(`document.querySelector("main .copy").classList.contains("done")`)
		if got := eval[string](b, "window.copied"); got != hash {
			t.Errorf("%s: copied %q, expected %q", how, got, hash)
		}
		b.becomes(`[...document.querySelectorAll("[role=status]")].some((e) => e.textContent === "Copied.")`)
		eval[bool](b, `document.querySelector(".links .copy").click(), true`)
		b.becomes(`document.querySelector(".links .copy").classList.contains("done")`)
		if got, want := eval[string](b, "window.copied"), "curl '"+strings.TrimSuffix(server, "/")+"/v1/bitcoin/tx/"+hash+"'"; got != want {
			t.Errorf("%s: copied %q, expected %q", how, got, want)
		}
	}
	b.do("without scripts", scripting(false))
	b.open("/bitcoin/tx/"+hash, 200)
	if shown := eval[int](b, `[...document.querySelectorAll(".copy")].filter((e) => e.checkVisibility()).length`); shown > 0 {
		t.Errorf("%d buttons are shown without scripts", shown)
	}
}
