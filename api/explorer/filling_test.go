package explorer

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// The rates divide the size of the transactions that pay a fee: a tenth, a half and nine tenths of it pay at most them.
func TestRatesOfAFillingDivideItsSize(t *testing.T) {
	rng := testseed.Rand(t)
	for range 200 {
		txs := make([]query.TxFilling, 1+rng.IntN(40))
		size, paid := int64(0), int64(0)
		for i := range txs {
			txs[i] = query.TxFilling{Size: 1 + rng.Int64N(1000), Fee: rng.Uint64N(100_000), Paid: rng.IntN(5) > 0}
			if size += txs[i].Size; txs[i].Paid {
				paid += txs[i].Size
			}
		}
		f := fillingOf(txs)
		if f.Size != size || f.Paid != (paid > 0) {
			t.Fatalf("%+v: size %d, paid %t", f, size, paid > 0)
		}
		for i, share := range []float64{0.1, 0.5, 0.9} {
			below, to := int64(0), int64(0)
			for _, tx := range txs {
				rate := float64(tx.Fee) / float64(tx.Size)
				if tx.Paid && rate < f.Rates[i] {
					below += tx.Size
				}
				if tx.Paid && rate <= f.Rates[i] {
					to += tx.Size
				}
			}
			if float64(below) > share*float64(paid) || float64(to) < share*float64(paid) {
				t.Fatalf("%v: %d of %d are below %v, %d up to it", share, below, paid, f.Rates[i], to)
			}
		}
	}
}

// The page of a block draws its transactions by size, with fee rates, or with amounts on chains whose miners do not
// select by fee rate. Blocks without raw transactions, whose sizes are unknown, have no picture.
func TestTheFillingOfABlock(t *testing.T) {
	const n = 3000
	h, block := largeBlock(t, n)
	path := "/made-up/block/" + block.Hash.String()
	d := read(t, h, path, http.StatusOK)
	d.has(t, "Filling by fee rate", "Fee ratesmedian ", "sat/vB: ")
	if len(d.text) > 55_000 {
		t.Errorf("the page has %d bytes", len(d.text))
	}
	count := 0
	for _, li := range d.each("li") {
		if text := textOf(li); strings.Contains(text, "sat/vB: ") {
			text = strings.Fields(text[strings.Index(text, ": ")+2:])[0]
			k, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
			if err != nil {
				t.Fatal(err)
			}
			count += k
		}
	}
	if count != n {
		t.Errorf("the legend has %d transactions, expected %d: all but the coinbase", count, n)
	}
	if text := read(t, h, path+"?page=2", http.StatusOK).main(); strings.Contains(text, "Filling") {
		t.Error("the second page has the picture too")
	}
	for chart, title := range map[string]string{"feerates": "Fee rates in 1 block", "fullness": "Fullness of 2 blocks"} {
		read(t, h, "/made-up/charts/"+chart, http.StatusOK).has(t, title)
		if all := read(t, h, "/made-up/charts", http.StatusOK); !strings.Contains(all.text, `href="/made-up/charts/`+chart+`"`) {
			t.Errorf("the charts do not link to %s", chart)
		}
	}
	plain := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	if text := read(t, plain, "/bitcoin/block/170", http.StatusOK).main(); strings.Contains(text, "Filling") {
		t.Errorf("a block without raw transactions: %s", text)
	}
	read(t, plain, "/bitcoin/charts/fullness", http.StatusOK).has(t, "Details need raw transactions")

	db, txs := generated(t, "cardano", 300)
	cardano := explorerOf(t, chainOf("cardano", db, nil))
	text := read(t, cardano, "/cardano/block/"+strconv.Itoa(int(txs[len(txs)/2].Height)), http.StatusOK).main()
	if !strings.Contains(text, "Filling") || strings.Contains(text, "Fee ratesmedian") {
		t.Errorf("a block of Cardano: %s", text)
	}
}

// The page of a block that arrived when the mempool was complete compares it with the projected block.
func TestBlocksAreComparedWithTheProjectedOne(t *testing.T) {
	w := pendingtest.New(t, pendingtest.Variants()[0], testseed.Of(t, 472))
	for range 3 {
		w.Mine(nil)
	}
	w.Sync()
	for range 30 {
		w.Arrive(w.Pay(w.Coins(w.Pool)))
	}
	traits := w.DB.Chain().Traits()
	traits.BlockVSize = 4500
	h, chain, n := poolOfNode(t, w, traits)
	if text := read(t, h, "/made-up/block/tip", http.StatusOK).main(); strings.Contains(text, "projected") {
		t.Errorf("a block from before the start is compared: %s", text)
	}
	n.Lock()
	txs := w.Valid(w.Pool[len(w.Pool)/3:])
	w.Mine(append(txs, w.Pay(w.Coins(txs))))
	block := w.Blocks[len(w.Blocks)-1]
	w.Sync()
	n.Unlock()
	a := chain.Mempool.Audit(block.Hash)
	for ; a == nil; a = chain.Mempool.Audit(block.Hash) {
		if t.Context().Err() != nil {
			t.Fatal("timeout: the block is not compared")
		}
		time.Sleep(2 * time.Millisecond)
	}
	d := read(t, h, "/made-up/block/"+block.Hash.String(), http.StatusOK)
	d.has(t, "Compared with the projected block", fmt.Sprintf("%s of %d", humanize.Plural(a.Both.Count, "transaction"), a.Expected.Count),
		"Missing"+humanize.Plural(a.Missing.Count, "transaction"), "Added"+humanize.Plural(a.Added.Count, "transaction"),
		"Not in the mempool1 transaction")
	links := strings.Join(d.links(), " ")
	for _, tx := range slices.Concat(a.MissingTxs[:min(len(a.MissingTxs), mostCompared)], a.AddedTxs[:min(len(a.AddedTxs), mostCompared)]) {
		if !strings.Contains(links, "/made-up/tx/"+tx.ID.String()) {
			t.Errorf("the page does not link to %v", tx.ID)
		}
	}
	var answer query.BlockComparisonAnswer
	v1 := everythingOf(t, chain)
	body, err := io.ReadAll(ask(t, v1, "/v1/made-up/block/tip/comparison").Body)
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || answer.Block.Hash != block.Hash.String() || answer.Expected.TxCount != a.Expected.Count || answer.Unknown != a.Unknown ||
		answer.Missing.TxCount != a.Missing.Count || answer.Added.Fees != strconv.FormatUint(a.Added.Fees, 10) || len(answer.AddedTxs) != len(a.AddedTxs) {
		t.Errorf("%s, %v, expected %+v", body, err, a)
	}
	if res := ask(t, v1, "/v1/made-up/block/0/comparison"); res.StatusCode != http.StatusNotFound {
		t.Errorf("a block from before the start: status %d", res.StatusCode)
	}
	if a.Missing.Count == 0 || a.Added.Count == 0 {
		t.Errorf("%d are missing, %d added: the test shows nothing", a.Missing.Count, a.Added.Count)
	}
}

// The page of an unconfirmed or confirmed transaction, and that of a transaction that was replaced, have the replacements.
func TestReplacementsAreATimeline(t *testing.T) {
	w := pendingtest.New(t, pendingtest.Variants()[0], testseed.Of(t, 473))
	first := w.Pay(w.Coins(nil))
	w.Arrive(first)
	h, chain, n := poolOfNode(t, w, w.DB.Chain().Traits())
	if text := read(t, h, "/made-up/tx/"+first.Hash.String(), http.StatusOK).main(); strings.Contains(text, "Replacements") {
		t.Errorf("a transaction that replaced nothing: %s", text)
	}
	ids := []model.Hash{first.Hash}
	for range 3 {
		next := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: first.Inputs, Outputs: first.Outputs})
		n.Lock()
		w.Arrive(next)
		n.Unlock()
		for !chain.Mempool.Standing().Contains(next.Hash) {
			if t.Context().Err() != nil {
				t.Fatal("timeout: the replacement did not enter")
			}
			time.Sleep(2 * time.Millisecond)
		}
		ids = append(ids, next.Hash)
	}
	timeline := func(path string, status int) (got string) {
		for _, li := range read(t, h, path, status).each("li") {
			if text := textOf(li); strings.Contains(text, "was replaced by") {
				p := li.LastChild
				for p.Data != "p" {
					p = p.PrevSibling
				}
				words := strings.Fields(textOf(p))
				got += words[0] + " was replaced by " + words[len(words)-1] + "|"
			}
		}
		return got
	}
	last := "/made-up/tx/" + ids[len(ids)-1].String()
	unconfirmed := timeline(last, http.StatusOK)
	n.Lock()
	w.Mine(w.Pool)
	w.Sync()
	n.Unlock()
	for i, id := range ids {
		status := http.StatusNotFound
		if i == len(ids)-1 {
			status = http.StatusOK // confirmed
		}
		want := ""
		for j := range ids[:len(ids)-1] {
			want += fmt.Sprintf("%v was replaced by %v|", ids[j], ids[j+1])
		}
		if got := timeline("/made-up/tx/"+id.String(), status); got != want || unconfirmed != want {
			t.Errorf("%d: the timeline is %s, before the confirmation %s\nexpected %s", i, got, unconfirmed, want)
		}
	}
}
