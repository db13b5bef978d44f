package explorer

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/internal/testnode/coretest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// A visitor tests and broadcasts a transaction without scripts. The page has the answer of the node, and keeps a
// transaction that was refused.
func TestBroadcast(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 2)
	chain, err := chains.New("bitcoin", "regtest")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: n.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	c := chainOf("regtest", db, nil)
	bare := explorerOf(t, c)
	read(t, bare, "/regtest/broadcast", http.StatusNotFound).has(t, "has no node on this server")
	withNode := *c
	withNode.Submitter = src.(model.Submitter)
	h := explorerOf(t, &withNode)
	read(t, h, "/regtest/broadcast", http.StatusOK).has(t, "Signed transaction, in hex")
	send := func(status int, form url.Values) string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/regtest/broadcast", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		text, err := io.ReadAll(w.Result().Body)
		if err != nil || w.Code != status {
			t.Fatalf("status %d, expected %d; %v: %s", w.Code, status, err, text)
		}
		return string(text)
	}
	contains := func(text string, want ...string) {
		t.Helper()
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("the page lacks %q: %s", part, text)
			}
		}
	}
	tx := coretest.Spend(500, coins[0])
	raw := hex.EncodeToString(coretest.Raw(tx))
	contains(send(http.StatusOK, url.Values{"tx": {raw}, "test": {""}}), "&#34;allowed&#34;: true", raw)
	if len(n.Mempool()) != 0 {
		t.Fatal("a test submitted the transaction")
	}
	lines := " " + raw[:40] + "\n" + raw[40:] + "\n"
	contains(send(http.StatusOK, url.Values{"tx": {lines}, "submit": {""}}), "The node has accepted the transaction", "/regtest/tx/"+tx.TxHash().String())
	if len(n.Mempool()) != 1 {
		t.Errorf("%d transactions are in the mempool", len(n.Mempool()))
	}
	low := hex.EncodeToString(coretest.Raw(coretest.Spend(1, coins[1])))
	contains(send(http.StatusBadRequest, url.Values{"tx": {low}, "submit": {""}}), "Refused", "Min relay fee not met", low)
	hostile := "<script>alert(1)</script>"
	if text := send(http.StatusBadRequest, url.Values{"tx": {hostile}, "submit": {""}}); strings.Contains(text, hostile) {
		t.Errorf("the page has %s", hostile)
	}
	contains(send(http.StatusBadRequest, url.Values{"submit": {""}}), "Refused")
	send(http.StatusRequestEntityTooLarge, url.Values{"tx": {strings.Repeat("0", maxBroadcast)}, "submit": {""}})
	send(http.StatusRequestEntityTooLarge, url.Values{"tx": {strings.Repeat("0", maxBroadcast-1000)}, "submit": {""}})
}
