package bitcoin

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

func TestInvalidURIsAreRejected(t *testing.T) {
	for _, c := range []struct{ network, uri, says string }{
		{"", "", "file:///"},
		{"", "tcp://x", "tcp"},
		{"", "file://", "no path"},
		{"", "http://", "no host"},
		{"", "http://host:99999", "port"},
		{"", "http://host?cookie=x", "query"},
		{"", "p2p://user:secret@host", "no user"},
		{"", "p2p://host:0", "port"},
		{"", "p2p://host:8333:1", "host:port"},
		{"regtest", "p2p://", "DNS seeds"},
	} {
		chain, err := New(c.network)
		if err != nil {
			t.Fatal(err)
		}
		src, err := chain.Open(t.Context(), model.SourceOptions{URI: c.uri})
		if err == nil {
			t.Errorf("%q was accepted: %v", c.uri, src.Close())
			continue
		}
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_source" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: kind %v, code %s: %v, expected %q", c.uri, kind, code, err, c.says)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error contains the password: %v", c.uri, err)
		}
	}
}

// Opening sends no request, so the node does not have to run.
func TestURIsOfNodesAndPeers(t *testing.T) {
	chain, err := New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"http://localhost", "http://u:p@127.0.0.1:1/path", "https://[::1]:8334", "p2p://127.0.0.1:1", "p2p://localhost, 127.0.0.1:2,[::1]:3"} {
		src, err := chain.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: []string{"address"}})
		if err != nil {
			t.Errorf("%q: %v", uri, err)
			continue
		}
		if err := src.Close(); err != nil {
			t.Errorf("%q: %v", uri, err)
		}
		if _, ok := src.(model.BlockReader); !ok {
			t.Errorf("source %q cannot read single blocks", uri)
		}
		if _, counts := src.(model.UnspentCounter); counts != strings.HasPrefix(uri, "http") {
			t.Errorf("%q counts unspent outputs: %t", uri, counts)
		}
		if _, err := chain.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: []string{"adress"}}); err == nil {
			t.Errorf("%q with an unknown index was opened", uri)
		}
	}
}

func TestASingleFileIsASource(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(3)
	dir := write(t, map[string][]byte{"some blocks.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...)})
	path := filepath.Join(dir, "some blocks.dat")
	for _, uri := range []string{path, "file://" + path, "file://" + strings.ReplaceAll(path, " ", "%20"), "file://localhost" + path} {
		yields(t, networks[4], mustOpen(t, "regtest", dir, func(o *model.SourceOptions) { o.URI = uri }), c.Blocks())
	}
	if _, err := open(t, "regtest", dir, func(o *model.SourceOptions) { o.Indexes = []string{"adress"} }); err == nil || !contains(err.Error(), `"adress"`, "address") {
		t.Errorf("an unknown index: %v", err)
	}
}
