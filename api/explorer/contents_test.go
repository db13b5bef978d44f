package explorer

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"golang.org/x/net/html"

	"birthmark/api/compat/script"
	"birthmark/bench/generate"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testnode/oddtest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// generated returns a database of a generated chain with raw transactions, and all its transactions.
func generated(t *testing.T, name string, txs int) (*core.DB, []*query.TxAnswer) {
	t.Helper()
	made, err := generate.Write(t.Context(), name, t.TempDir(), generate.Options{Seed: testseed.Of(t, 3), Txs: txs, AllParts: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := chains.New(name, made.Network)
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Raw: true, CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + made.Path, Indexes: db.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	return db, txsOf(t, db)
}

// txsOf returns the transactions of the blocks of a database.
func txsOf(t *testing.T, db *core.DB) (txs []*query.TxAnswer) {
	t.Helper()
	for h := 0; h <= int(db.Tip().Height); h++ {
		b, err := db.Block(t.Context(), strconv.Itoa(h))
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			continue // a chain that begins above 0
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range b.Txs {
			tx, err := db.Tx(t.Context(), hash)
			if err != nil {
				t.Fatal(err)
			}
			txs = append(txs, tx)
		}
	}
	return txs
}

// fieldsOf returns the texts of the fields of a page by name.
func fieldsOf(d *document) map[string][]string {
	fields := map[string][]string{}
	for _, n := range d.each("dt") {
		for value := n.NextSibling; value != nil; value = value.NextSibling {
			if value.Type == html.ElementNode {
				fields[textOf(n)] = append(fields[textOf(n)], textOf(value))
				break
			}
		}
	}
	return fields
}

// The page of a transaction has the scripts that its inputs reveal, as operations.
func TestRevealedScriptsAreShown(t *testing.T) {
	db, txs := generated(t, "bitcoin", testrun.Amount(3000, 600))
	h := explorerOf(t, chainOf("bitcoin", db, nil))
	seen := map[string]int{}
	for _, tx := range txs {
		if len(tx.Inputs) == 0 || len(tx.Inputs) > 5 {
			continue
		}
		want := map[string]int{}
		for _, in := range tx.Inputs {
			o, err := db.Output(t.Context(), query.OutputRef(in.Output.Tx, in.Output.Index))
			if err != nil {
				t.Fatal(err)
			}
			var witness [][]byte
			for _, item := range in.Witness {
				witness = append(witness, unhex(t, item))
			}
			redeem, revealed := script.Inner(unhex(t, *o.Script), unhex(t, *in.ScriptSig), witness)
			if redeem != nil {
				want["redeem script"]++
			}
			if name := map[bool]string{true: "tapscript", false: "witness script"}[o.Type == "p2tr"]; revealed != nil {
				want[name]++
			}
		}
		if len(want) == 0 {
			continue
		}
		d := read(t, h, "/bitcoin/tx/"+tx.Hash, http.StatusOK)
		fields := fieldsOf(d)
		for _, name := range []string{"redeem script", "witness script", "tapscript"} {
			if got := len(fields[name]); got != want[name] && len(fields["more"]) == 0 {
				t.Errorf("%s has %d fields %q, expected %d", d.path, got, name, want[name])
			}
			seen[name] += want[name]
			for _, text := range fields[name] {
				if text == "" || strings.Contains(text, "[error]") {
					t.Errorf("%s: %s: %q", d.path, name, text)
				}
			}
		}
	}
	t.Log(seen)
	if len(seen) < 3 || seen["tapscript"] == 0 {
		t.Errorf("scripts of the kinds %v were compared", seen)
	}
}

func unhex(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The page of a transaction has each redeemer with its script, its limits and their part of the fee.
func TestRedeemersAreExplained(t *testing.T) {
	db, txs := generated(t, "cardano", testrun.Amount(2000, 500))
	h := explorerOf(t, chainOf("cardano", db, nil))
	redeemers, native := 0, 0
	for _, tx := range txs {
		for _, s := range tx.Scripts {
			if s.Language == "native" {
				native++
			}
		}
		if len(tx.Redeemers) == 0 || !*tx.Valid { // a failed transaction does not have its inputs
			continue
		}
		d := read(t, h, "/cardano/tx/"+tx.Hash, http.StatusOK)
		fields := fieldsOf(d)
		if strings.Contains(d.text, "?details=all") { // the page has no room for all
			for name, texts := range fieldsOf(read(t, h, d.path+"?details=all", http.StatusOK)) {
				fields[name] = append(fields[name], texts...)
			}
		}
		for _, r := range tx.Redeemers {
			redeemers++
			if r.Script == "" && (r.Output == nil || strings.HasPrefix(addressOf(t, db, r.Output), "addr")) {
				t.Errorf("%s: the redeemer %s %d has no script", tx.Hash, r.Purpose, r.Index)
			}
			if text := strings.Join(fields["script hash"], " "); !strings.Contains(text, r.Script) && len(fields["more"]) == 0 {
				t.Errorf("%s does not show the script %s of a redeemer: %s", d.path, r.Script, text)
			}
		}
		if len(fields["limits"]) == 0 {
			t.Errorf("%s has no limits", d.path)
		}
	}
	t.Logf("%d redeemers, %d native scripts in %d transactions", redeemers, native, len(txs))
	if redeemers < 20 {
		t.Errorf("%d redeemers", redeemers)
	}
}

// addressOf returns the address of an output.
func addressOf(t *testing.T, db *core.DB, ref *model.OutputReference) string {
	t.Helper()
	o, err := db.Output(t.Context(), query.OutputRef(ref.Tx, ref.Index))
	if err != nil {
		t.Fatal(err)
	}
	address, _ := o.Keys["address"].(string)
	return address
}

// The page of a transaction has the trees of its outputs as text, and marks the output that is the fee.
func TestTreesAndFeeOutputsAreShown(t *testing.T) {
	db, txs := generated(t, "ergo", testrun.Amount(1000, 300))
	h := explorerOf(t, chainOf("ergo", db, nil))
	trees, fees := 0, 0
	for i, tx := range txs {
		if i%5 > 0 {
			continue
		}
		d := read(t, h, "/ergo/tx/"+tx.Hash, http.StatusOK)
		shown := 0
		for _, n := range d.each("td") {
			if label, _ := attr(n, "data-label"); label == "To" && strings.HasSuffix(textOf(n), " fee") {
				shown++
			}
		}
		want := 0
		for n, o := range tx.Outputs {
			if o.Keys["address"] != db.Chain().Traits().FeeAddress {
				continue
			}
			want++
			read(t, h, fmt.Sprintf("/ergo/output/%s:%d", tx.Hash, n), http.StatusOK).has(t, "fee")
		}
		if shown != want && len(tx.Outputs) <= rowsPage {
			t.Errorf("%s marks %d fees, expected %d", d.path, shown, want)
		}
		fees += want
		trees += len(fieldsOf(d)["ErgoTree as text"])
	}
	if trees == 0 || fees == 0 {
		t.Errorf("%d trees, %d fees", trees, fees)
	}
}

// envelope returns a script with a file of a type.
func envelope(kind, content string) []byte {
	b := append([]byte{0x20}, make([]byte, 32)...)
	b = append(b, 0xac, 0, 0x63, 3, 'o', 'r', 'd', 1, 1, byte(len(kind)))
	b = append(append(b, kind...), 0, byte(len(content)))
	return append(append(b, content...), 0x68)
}

// The content of an inscription is served as its type only if it is a picture, and can do nothing. Text is on the page.
// Nothing else has a content.
func TestInscriptionsAreShown(t *testing.T) {
	node := coretest.Start(t)
	chain, err := chains.New("bitcoin", "regtest")
	if err != nil {
		t.Fatal(err)
	}
	w := newFull(t, chain, node.URL())
	files := []struct{ kind, content, served string }{
		{"text/plain;charset=utf-8", "hello <script>alert(1)</script>", ""},
		{"image/png", "\x89PNG\r\n and more", "image/png"},
		{"text/html", "<img src=x onerror=alert(1)>", ""},
		{"image/svg+xml", "<svg onload='alert(1)'/>", "image/svg+xml"},
		{"application/x-unknown", "\xff\xfe", ""},
		{"", "no type", ""},
		{"image/png", "", ""},
	}
	coins := node.Coins(t, len(files)+1)
	tx := coretest.Pay(coins, wire.NewTxOut(1000, oddtest.P2PKH))
	for i, f := range files {
		tx.TxIn[i].Witness = wire.TxWitness{make([]byte, 64), envelope(f.kind, f.content), append([]byte{0xc0}, make([]byte, 32)...)}
	}
	node.MineOnly(t, tx)
	w.sync(t, node.Tip().Height, nil)
	path := "/odd/tx/" + tx.TxHash().String()
	d := read(t, w, path, http.StatusOK)
	d.has(t, "Inscriptions", tx.TxHash().String()+"i0", "hello <script>alert(1)</script>", "<img src=x onerror=alert(1)>", "no type")
	var shown []string
	for _, n := range d.each("img") {
		src, _ := attr(n, "src")
		shown = append(shown, src)
	}
	if want := []string{path + "/inscription/1", path + "/inscription/3"}; !slices.Equal(shown, want) {
		t.Errorf("%s has the pictures %v, expected %v", path, shown, want)
	}
	for i, f := range files {
		res := ask(t, w, path+"/inscription/"+strconv.Itoa(i))
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK || string(body) != f.content {
			t.Errorf("file %d: %d %q, %v", i, res.StatusCode, body, err)
		}
		kind, how := f.served, ""
		if kind == "" {
			kind, how = "application/octet-stream", "attachment"
		}
		for name, want := range map[string]string{"Content-Type": kind, "Content-Disposition": how,
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options": "nosniff"} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("file %d: %s: %q, expected %q", i, name, got, want)
			}
		}
	}
	for _, number := range []string{strconv.Itoa(len(files)), "-1", "x", "0x1"} {
		read(t, w, path+"/inscription/"+number, http.StatusNotFound).has(t, "Not found")
	}
	read(t, w, "/odd/tx/"+strings.Repeat("ab", 32)+"/inscription/0", http.StatusNotFound)
}
