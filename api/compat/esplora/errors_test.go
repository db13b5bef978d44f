package esplora_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

func TestErrors(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	w.miner.mine(3, 0)
	w.sync(t)
	n := newNaive(w.miner.chain)
	tip := n.blocks[3].BlockHash().String()
	unknown := strings.Repeat("ab", 32)
	coinbase := n.blocks[3].Transactions[0].TxHash().String()
	many := "[" + strings.Repeat(`"",`, 25) + `""]`
	for _, c := range []struct {
		endpoint string
		body     string // POST unless empty
		status   int
		text     string
	}{
		{"/block/xyz", "", 400, "Invalid hex string"},
		{"/block/" + unknown[2:], "", 400, "Invalid hex string"},
		{"/block/" + unknown + "00", "", 400, "Invalid hex string"},
		{"/block/zz" + unknown[2:] + "/status", "", 400, "Invalid hex string"},
		{"/tx/xyz", "", 400, "Invalid hex string"},
		{"/tx/xyz/status", "", 400, "Invalid hex string"},
		{"/scripthash/xyz", "", 400, "Invalid hex string"},
		{"/scripthash/abcd", "", 400, "Invalid scripthash"},
		{"/scripthash/" + unknown + "ab/txs", "", 400, "Invalid scripthash"},
		{"/block-height/x", "", 400, "Invalid number"},
		{"/block-height/-1", "", 400, "Invalid number"},
		{"/block/" + tip + "/txid/x", "", 400, "Invalid number"},
		{"/tx/" + coinbase + "/outspend/x", "", 400, "Invalid number"},
		{"/tx/" + coinbase + "/outspend/-1", "", 400, "Invalid number"},
		{"/address/1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "", 400, "Address on invalid network"},
		{"/address/bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq/utxo", "", 400, "Address on invalid network"},
		{"/block/" + tip + "/txs/1", "", 400, "start index out of range"},
		{"/block/" + tip + "/txs/25", "", 400, "start index out of range"},
		{"/block/" + unknown, "", 404, "Block not found"},
		{"/block/" + unknown + "/txids", "", 404, "Block not found"},
		{"/block/" + unknown + "/txid/0", "", 404, "Block not found"},
		{"/block/" + unknown + "/txs", "", 404, "Block not found"},
		{"/block/" + unknown + "/header", "", 404, "Block not found"},
		{"/block/" + unknown + "/raw", "", 404, "Block not found"},
		{"/block-height/4", "", 404, "Block not found"},
		{"/block-height/99999999999999999999", "", 404, "Block not found"},
		{"/blocks/4", "", 404, "Block not found"},
		{"/block/" + tip + "/txid/1", "", 404, "tx index out of range"},
		{"/tx/" + unknown, "", 404, "Transaction not found"},
		{"/tx/" + unknown + "/hex", "", 404, "Transaction not found"},
		{"/tx/" + unknown + "/raw", "", 404, "Transaction not found"},
		{"/tx/" + unknown + "/outspends", "", 404, "Transaction not found"},
		{"/tx/" + unknown + "/merkle-proof", "", 404, "Transaction not found or is unconfirmed"},
		{"/tx/" + unknown + "/merkleblock-proof", "", 404, "Transaction not found or is unconfirmed"},
		{"/scripthash/" + unknown + "/txs?after_txid=" + unknown, "", 422, "after_txid not found"},
		{"/scripthash/" + unknown + "/txs/summary/" + unknown, "", 422, "after_txid not found"},
		{"/scripthashes/txs?after_txid=" + unknown, "[]", 422, "after_txid not found"},
		{"/scripthashes/txs/summary/" + unknown, "[]", 422, "after_txid not found"},
		{"/scripthashes/txs", "[" + strings.Repeat(`"",`, 300) + `""]`, 422, "body too long"},
		{"/scripthashes/txs", `["` + strings.Repeat("a", 30_000) + `"]`, 422, "body too long"},
		{"/nothing", "", 404, `endpoint does not exist "/nothing"`},
		{"/", "", 404, `endpoint does not exist "/"`},
		{"/tx", "", 404, `endpoint does not exist "/tx"`},
		{"/tx/" + coinbase + "/hex/more", "", 404, `endpoint does not exist "/tx/` + coinbase + `/hex/more"`},
		{"/mempool", "x", 404, `endpoint does not exist "/mempool"`},
		{"/txs/outspends", "", 400, "No txids specified"},
		{"/txs/outspends?txids=" + strings.Repeat("a,", 50), "", 400, "Too many txids requested"},
		{"/tx", "xyz", 400, "Invalid hex string"},
		{"/broadcast", "", 400, "Missing tx"},
		{"/broadcast?tx=0", "", 400, "Invalid hex string"},
		{"/txs/package", many, 400, "Exceeded maximum of 25 transactions"},
		{"/txs/test", many, 400, "Exceeded maximum of 25 transactions"},
		{"/txs/package", `["` + strings.Repeat("a", 120) + `","` + strings.Repeat("a", 119) + `"]`, 400, "Invalid transaction size for item 1"},
		{"/txs/package", `["` + strings.Repeat("a", 800_000) + `"]`, 400, "Invalid transaction size for item 0"},
		{"/txs/package", `["` + strings.Repeat("x", 120) + `"]`, 400, "Invalid transaction hex for item 0"},
		{"/txs/package?maxfeerate=x", `["` + strings.Repeat("a", 120) + `"]`, 400, "Invalid maxfeerate"},
		{"/txs/package?maxburnamount=-1", `["` + strings.Repeat("a", 120) + `"]`, 400, "Invalid maxburnamount"},
		{"/tx", strings.Repeat("a", 1_000_001), 413, "Request body too large"},
	} {
		var body io.Reader
		if c.body != "" {
			body = strings.NewReader(c.body)
		}
		a := w.ask(t, c.endpoint, body)
		if a.status != c.status || a.body != c.text || a.media != textType {
			t.Errorf("%.120s: %d %q %s, expected %d %q", c.endpoint, a.status, a.body, a.media, c.status, c.text)
		}
	}
	for _, endpoint := range []string{"/address/nonsense", "/txs/package"} {
		var body io.Reader
		if endpoint == "/txs/package" {
			body = strings.NewReader(`{"not": "an array"}`)
		}
		if a := w.ask(t, endpoint, body); a.status != 400 || a.body == "" || a.media != textType {
			t.Errorf("%s: %+v", endpoint, a)
		}
	}
}

// A page of a block begins at a multiple of 25.
func TestStartOfAPage(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	for len(w.miner.chain.Tip().Transactions) < 3 {
		w.miner.mine(1, 30)
	}
	w.sync(t)
	at := "/block/" + w.miner.chain.Tip().BlockHash().String() + "/txs/1"
	if a := w.ask(t, at, nil); a.status != 400 || a.body != "start index must be a multiple of 25" {
		t.Errorf("%s: %+v", at, a)
	}
}

// A database without blocks has answers. A database without the index is rejected.
func TestEmptyDatabase(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	for _, endpoint := range []string{"/blocks/tip/hash", "/blocks/tip/height", "/blocks", "/block-height/0"} {
		if a := w.ask(t, endpoint, nil); a.status != http.StatusNotFound || a.body != "Block not found" {
			t.Errorf("%s: %+v", endpoint, a)
		}
	}
}

func TestABodyThatCannotBeRead(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	a := w.ask(t, "/tx", iotest.ErrReader(errors.New("broken")))
	if a.status != 400 || a.body != "The request body cannot be read: broken" {
		t.Errorf("%+v", a)
	}
}

// HEAD has the headers of GET, and the length of its body.
func TestHead(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	w.sync(t)
	server := httptest.NewServer(w)
	defer server.Close()
	resp, err := http.Head(server.URL + path + "/blocks/tip/height")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.ContentLength != 1 || resp.Header.Get("Content-Type") != textType {
		t.Errorf("%d %d %v", resp.StatusCode, resp.ContentLength, resp.Header)
	}
}

// A long list is sent in parts, and is complete.
func TestLongLists(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	pkScript := w.miner.scripts[len(w.miner.scripts)-2]
	w.miner.chain.PayTo = pkScript
	w.miner.chain.MineEmpty(700)
	w.sync(t)
	_, _, _, utxos := newNaive(w.miner.chain).history(pkScript)
	want := text(utxos)
	rec := &chunks{header: http.Header{}}
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path+"/scripthash/"+keyOf(pkScript)+"/utxo", nil))
	if rec.String() != want {
		t.Errorf("%d bytes in %d parts, expected %d bytes", rec.Len(), rec.parts, len(want))
	}
	if rec.parts < 2 || rec.header.Get("Content-Length") != "" || rec.header.Get("Content-Type") != jsonType {
		t.Errorf("%d parts, headers %v", rec.parts, rec.header)
	}
}

// chunks records the parts of an answer.
type chunks struct {
	bytes.Buffer
	header http.Header
	parts  int
}

func (c *chunks) Header() http.Header { return c.header }
func (c *chunks) WriteHeader(int)     {}
func (c *chunks) Write(b []byte) (int, error) {
	c.parts++
	return c.Buffer.Write(b)
}
