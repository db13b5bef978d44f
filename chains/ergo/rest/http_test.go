package rest

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

func TestURLsThatAreRefused(t *testing.T) {
	const expected = ": expected http://HOST:PORT, http://:API_KEY@HOST:PORT or https://…, special characters of a key written as %XX"
	for url, says := range map[string]string{
		"http://:sec%ret@node":     "invalid URL of the node" + expected,
		"http://:a@b@node/#secret": "the node's URL has an API key with a character that must be percent-encoded" + expected,
		"http://user:secret@node":  "the node's URL has a user name, which an Ergo node does not support" + expected,
	} {
		_, err := New(Options{URL: url, Port: "9053"})
		if kind, code := model.KindOf(err); err == nil || kind != model.Usage || code != "bad_source" || err.Error() != says {
			t.Errorf("%s: %v, expected %s", url, err, says)
		}
	}
}

// Other servers at the URL of a node are reported with Ergo's terms.
func TestServersThatAreNoNodeAreNamed(t *testing.T) {
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for url, want := range map[string]struct{ code, says string }{
		secure.URL: {"bad_certificate", "certificate signed by unknown authority (trust the node's own by ?cert=FILE in the URL)"},
		strings.Replace(secure.URL, "https", "http", 1): {"not_a_node", "does not answer as an Ergo node: /info returned 400 Bad Request"},
	} {
		_, err := client(t, url).Tip(t.Context())
		if _, code := model.KindOf(err); code != want.code || !strings.Contains(err.Error(), want.says) || blocksource.IsTemporary(err) {
			t.Errorf("%s: %v (%s), expected %s: %s", url, err, code, want.code, want.says)
		}
	}
}
