package cli

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"birthmark/core"
	"birthmark/internal/testblocks"
	"birthmark/model"
	"birthmark/storage/memory"
)

// syncedRaw returns a database in memory with raw transactions, so that pages show everything.
func syncedRaw(t *testing.T, name, network, uri string, to model.HeightPk) *core.DB {
	t.Helper()
	chain, err := newProgram(nil, nil, nil).NewChain(name, network)
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Raw: true, CacheBytes: 16 << 20})
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

// Pages of blocks, transactions and outputs of the real chains, with raw transactions.
func TestTransactionsInABrowser(t *testing.T) {
	slow(t)
	browser := browser(t)
	server := shownIn(t,
		syncedRaw(t, "bitcoin", "mainnet", "file://"+realBlocks(t), 3000),
		syncedRaw(t, "cardano", "preview", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), 37_000),
		syncedRaw(t, "ergo", "mainnet", "file://"+testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), 2000))
	t.Run("a hash is copied", func(t *testing.T) { hashIsCopied(t, browser, server) })
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
	}
	b.do("without scripts", scripting(false))
	b.open("/bitcoin/tx/"+hash, 200)
	if shown := eval[int](b, `[...document.querySelectorAll(".copy")].filter((e) => e.checkVisibility()).length`); shown > 0 {
		t.Errorf("%d buttons are shown without scripts", shown)
	}
}
