package esplora_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/wallet"
	"birthmark/core"
	"birthmark/core/meter"
	"birthmark/core/pending"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// nodeWorld is a database beside a stand-in for a node, with its mempool.
type nodeWorld struct {
	*world
	node *coretest.Node
	src  model.Source
}

func newNodeWorld(t *testing.T) *nodeWorld {
	return newNodeWorldFrom(t, func(src model.Source) model.Source { return src })
}

// newNodeWorldFrom is newNodeWorld with a change of the source of the mempool.
func newNodeWorldFrom(t *testing.T, change func(model.Source) model.Source) *nodeWorld {
	t.Helper()
	w := &nodeWorld{world: newWorld(t, "regtest", nil), node: coretest.Start(t)}
	open := func(ctx context.Context, indexes []string) (model.Source, error) {
		return w.db.Chain().Open(ctx, model.SourceOptions{URI: w.node.URL(), Indexes: indexes, Raw: true, Follow: true})
	}
	var err error
	if w.src, err = open(t.Context(), w.db.Indexes()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.src.Close() })
	f := answertest.Follow(t, w.db, func(ctx context.Context, indexes []string) (model.Source, error) {
		src, err := open(ctx, indexes)
		if err == nil {
			src = change(src)
		}
		return src, err
	})
	w.served.Mempool, w.served.Submitter, w.served.Fees = f, w.src.(model.Submitter), w.src.(model.FeeEstimator)
	w.serve(t)
	return w
}

// sync brings the database to the node's chain, and waits until the server has the node's mempool.
func (w *nodeWorld) sync(t *testing.T) {
	t.Helper()
	target := w.node.Tip().Height
	err := core.Sync(t.Context(), w.db, w.src, core.SyncOptions{To: &target})
	if err != nil {
		t.Fatal(err)
	}
	w.settle(t)
}

// settle waits until the server has the node's mempool.
func (w *nodeWorld) settle(t *testing.T) {
	t.Helper()
	f := w.served.Mempool
	for range 200_000 {
		s, pool := f.Standing(), w.node.Mempool()
		same := s.Tip == w.db.Tip() && s.State() == pending.Live && s.Count() == len(pool)
		for _, tx := range pool {
			same = same && s.Tx(coretest.ID(tx)) != nil
		}
		if same {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the mempool has %d transactions, expected %d", f.Standing().Count(), len(w.node.Mempool()))
}

func (w *nodeWorld) send(t *testing.T, tx *wire.MsgTx) {
	t.Helper()
	a := w.post(t, "/tx", hex.EncodeToString(coretest.Raw(tx)))
	if want := (answer{http.StatusOK, tx.TxHash().String(), textType, "public, max-age=0"}); a != want {
		t.Fatalf("%+v, expected %+v", a, want)
	}
}

// A submitted transaction is in every list before the answer is sent.
func TestSentTransactionsAreInTheMempoolAtOnce(t *testing.T) {
	w := newNodeWorld(t)
	coins := w.node.Coins(t, 20)
	w.sync(t)
	for _, coin := range coins {
		tx := coretest.Spend(1000, coin)
		id := tx.TxHash().String()
		w.send(t, tx)
		for endpoint, want := range map[string]string{
			"/tx/" + id:                `"status":{"confirmed":false}}`,
			"/tx/" + id + "/status":    `{"confirmed":false}`,
			"/tx/" + id + "/hex":       hex.EncodeToString(coretest.Raw(tx)),
			"/tx/" + id + "/outspends": `[{"spent":false}]`,
			"/mempool/txids":           id,
			"/mempool/recent":          `[{"txid":"` + id + `","fee":1000,`,
			"/scripthash/" + keyOf(tx.TxOut[0].PkScript) + "/txs":                       id,
			"/scripthash/" + keyOf(tx.TxOut[0].PkScript) + "/txs/mempool":               id,
			"/scripthash/" + keyOf(tx.TxOut[0].PkScript) + "/utxo":                      `{"txid":"` + id + `","vout":0,"status":{"confirmed":false},`,
			"/tx/" + coin.At.Hash.String() + fmt.Sprintf("/outspend/%d", coin.At.Index): `{"spent":true,"txid":"` + id + `","vin":0,"status":{"confirmed":false}}`,
		} {
			if got := w.get(t, endpoint); !strings.Contains(got, want) {
				t.Fatalf("%s: %.1000s, expected %s", endpoint, got, want)
			}
		}
	}
	// The same by GET.
	w.node.Mine(t)
	more := w.node.Coins(t, 1)
	w.sync(t)
	tx := coretest.Spend(1000, more[0])
	w.expect(t, "/broadcast?tx="+hex.EncodeToString(coretest.Raw(tx)), tx.TxHash().String(), textType, "0")
}

// After a replacement the original is unknown, and the output that both spend has the replacement as its spender.
func TestReplacement(t *testing.T) {
	w := newNodeWorld(t)
	coin := w.node.Coins(t, 1)[0]
	w.sync(t)
	first, second := coretest.Spend(1000, coin), coretest.Spend(5000, coin)
	w.send(t, first)
	w.send(t, second)
	w.settle(t)
	if a := w.ask(t, "/tx/"+first.TxHash().String(), nil); a.status != http.StatusNotFound {
		t.Errorf("the original: %+v", a)
	}
	spent := w.get(t, fmt.Sprintf("/tx/%s/outspend/%d", coin.At.Hash, coin.At.Index))
	if !strings.Contains(spent, second.TxHash().String()) {
		t.Errorf("outspend: %s", spent)
	}
}

// A rejection has the node's message.
func TestRefusal(t *testing.T) {
	w := newNodeWorld(t)
	coin := w.node.Coins(t, 1)[0]
	w.sync(t)
	tx := coretest.Spend(1000, coin)
	w.send(t, tx)
	w.node.Mine(t)
	w.sync(t)
	refused := w.node.TrySend(coretest.Spend(2000, coin))
	if refused == nil {
		t.Fatal("a double spend is accepted")
	}
	a := w.post(t, "/tx", hex.EncodeToString(coretest.Raw(coretest.Spend(2000, coin))))
	if a.status != http.StatusBadRequest || a.body == "" || !strings.HasPrefix(refused.Error(), a.body) {
		t.Errorf("%+v, the node's error is %v", a, refused)
	}
}

// A package of a parent with a fee that is too low and its child is accepted and visible.
func TestPackage(t *testing.T) {
	w := newNodeWorld(t)
	coin := w.node.Coins(t, 1)[0]
	w.sync(t)
	parent := coretest.Spend(0, coin)
	child := coretest.Spend(5000, coretest.Outputs(parent)[0])
	body := text([]string{hex.EncodeToString(coretest.Raw(parent)), hex.EncodeToString(coretest.Raw(child))})
	a := w.post(t, "/txs/test", body)
	var tested []struct {
		TxID    string
		Allowed bool
	}
	if err := json.Unmarshal([]byte(a.body), &tested); err != nil || a.status != 200 || len(tested) != 2 || a.media != jsonType {
		t.Errorf("test: %+v", a)
	}
	if a := w.post(t, "/tx", hex.EncodeToString(coretest.Raw(parent))); a.status != http.StatusBadRequest {
		t.Errorf("the parent alone: %+v", a)
	}
	a = w.post(t, "/txs/package?maxfeerate=1&maxburnamount=0", body)
	var sent struct {
		Message string         `json:"package_msg"`
		Results map[string]any `json:"tx-results"`
	}
	if err := json.Unmarshal([]byte(a.body), &sent); err != nil || sent.Message != "success" || len(sent.Results) != 2 {
		t.Fatalf("package: %+v", a)
	}
	for _, tx := range []*wire.MsgTx{parent, child} {
		w.expect(t, "/tx/"+tx.TxHash().String()+"/status", `{"confirmed":false}`, jsonType, "10")
		w.get(t, "/tx/"+tx.TxHash().String())
	}
}

func TestFees(t *testing.T) {
	w := newNodeWorld(t)
	w.node.Coins(t, 1)
	w.sync(t)
	w.expect(t, "/fee-estimates", "{}", jsonType, "10")
	w.expect(t, "/v1/fees/recommended",
		`{"fastestFee":1,"halfHourFee":1,"hourFee":1,"economyFee":1,"minimumFee":1}`, jsonType, "10")
}

func TestFeesOfANodeWithEstimates(t *testing.T) {
	w := newNodeWorld(t)
	w.node.SetEstimates(map[int]float64{1: 0.00020123, 2: 0.0002, 3: 0.00015, 6: 0.00010001, 144: 0.00002})
	w.node.Coins(t, 1)
	w.sync(t)
	var got map[string]float64
	body := w.get(t, "/fee-estimates")
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got["1"] != 20.123 || got["2"] != 20 || got["3"] != 15 || got["6"] != 10.001 || got["144"] != 2 || !strings.Contains(body, `"2":20.0,`) {
		t.Errorf("%s", body)
	}
	w.expect(t, "/v1/fees/recommended",
		`{"fastestFee":21,"halfHourFee":15,"hourFee":11,"economyFee":2,"minimumFee":1}`, jsonType, "10")
}

// A node that is starting and a node that cannot be reached are different errors. Requests that need no node succeed.
func TestANodeThatDoesNotAnswer(t *testing.T) {
	w := newNodeWorld(t)
	coin := w.node.Coins(t, 1)[0]
	w.sync(t)
	tx := hex.EncodeToString(coretest.Raw(coretest.Spend(1000, coin)))
	w.node.Set(func(f *coretest.Faults) { f.Starting = "Loading block index…" })
	if a := w.post(t, "/tx", tx); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "Loading block index") {
		t.Errorf("a node that starts: %+v", a)
	}
	w.get(t, "/blocks/tip/hash")
	w.served.Mempool, w.served.Submitter, w.served.Fees = nil, nil, nil
	w.serve(t)
	if a := w.post(t, "/tx", tx); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "there is no node") {
		t.Errorf("no node: %+v", a)
	}
	w.expect(t, "/mempool", `{"count":0,"vsize":0,"total_fee":0,"fee_histogram":[]}`, jsonType, "10")
	w.expect(t, "/mempool/txids", "[]", jsonType, "10")
	w.expect(t, "/mempool/recent", "[]", jsonType, "5")
}

// Answers about unconfirmed transactions equal those of the confirmed ones after a block with exactly the mempool.
func TestMempoolEqualsTheChainAfterMiningIt(t *testing.T) {
	w := newNodeWorld(t)
	rng := testseed.Rand(t)
	coins := w.node.Coins(t, 60)
	w.sync(t)
	for range testrun.Amount(5, 1) {
		for range 30 {
			i := rng.IntN(len(coins))
			tx := coretest.Pay(coins[i:i+1], outputsOf(w.miner, coins[i].Value)...)
			if w.node.TrySend(tx) != nil {
				continue
			}
			coins = slices.Delete(coins, i, i+1)
			for o, coin := range coretest.Outputs(tx) {
				if !unspendable(tx.TxOut[o].PkScript) && coin.Value > 20_000 {
					coins = append(coins, coin)
				}
			}
		}
		w.settle(t)
		w.compareMempool(t)
		before := w.answersOfScripts(t)
		w.node.Mine(t)
		w.sync(t)
		if after := w.answersOfScripts(t); !maps.Equal(before, after) {
			for k, v := range before {
				if after[k] != v {
					t.Fatalf("%s:\nwith the mempool %.2000s\n  after the block %.2000s", k, v, after[k])
				}
			}
		}
	}
}

// outputsOf are random outputs of at most a value, less a fee.
func outputsOf(m *miner, value int64) (outputs []*wire.TxOut) {
	value -= 2000 + int64(m.rng.IntN(3000))
	for range 1 + m.rng.IntN(3) {
		part := value / int64(1+m.rng.IntN(3))
		if value -= part; part > 0 {
			outputs = append(outputs, wire.NewTxOut(part, m.script()))
		}
	}
	return outputs
}

// answersOfScripts returns the sums, histories without order, unspent outputs and spenders of all scripts, without the
// fields that distinguish confirmed from unconfirmed transactions.
func (w *nodeWorld) answersOfScripts(t *testing.T) map[string]string {
	t.Helper()
	answers := map[string]string{}
	for _, s := range w.miner.scripts {
		if bytes.Equal(s, coretest.AnyoneCanSpend) { // the coinbase of the block is new
			continue
		}
		at := "/scripthash/" + keyOf(s)
		var totals struct {
			Chain   statsJSON `json:"chain_stats"`
			Mempool statsJSON `json:"mempool_stats"`
		}
		if err := json.Unmarshal([]byte(w.get(t, at)), &totals); err != nil {
			t.Fatal(err)
		}
		a, b := totals.Chain, totals.Mempool
		answers[at] = fmt.Sprint(a.Funded+b.Funded, a.FundedSum+b.FundedSum, a.Spent+b.Spent, a.SpentSum+b.SpentSum, a.Txs+b.Txs)
		var utxos []utxoJSON
		if err := json.Unmarshal([]byte(w.get(t, at+"/utxo")), &utxos); err != nil {
			t.Fatal(err)
		}
		for i := range utxos {
			utxos[i].Status = statusJSON{}
		}
		slices.SortFunc(utxos, func(a, b utxoJSON) int { return cmp.Or(cmp.Compare(a.TxID, b.TxID), cmp.Compare(a.Vout, b.Vout)) })
		answers[at+"/utxo"] = text(utxos)
		var txs []txJSON
		if err := json.Unmarshal([]byte(w.get(t, at+"/txs?max_txs=1000")), &txs); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(txs, func(a, b txJSON) int { return cmp.Compare(a.TxID, b.TxID) })
		for i := range txs {
			txs[i].Status = statusJSON{}
			var spends []spendJSON
			if err := json.Unmarshal([]byte(w.get(t, "/tx/"+txs[i].TxID+"/outspends")), &spends); err != nil {
				t.Fatal(err)
			}
			for j := range spends {
				spends[j].Status = nil
			}
			answers["/tx/"+txs[i].TxID+"/outspends"] = text(spends)
		}
		answers[at+"/txs"] = text(txs)
	}
	return answers
}

// compareMempool compares the answers about the mempool with the node's.
func (w *nodeWorld) compareMempool(t *testing.T) {
	t.Helper()
	pool := w.node.Mempool()
	ids, vsize := []string{}, 0
	for _, tx := range pool {
		ids = append(ids, tx.TxHash().String())
		vsize += (3*tx.SerializeSizeStripped() + tx.SerializeSize() + 3) / 4
	}
	var info struct {
		Count     int
		VSize     int
		TotalFee  int64        `json:"total_fee"`
		Histogram [][2]float64 `json:"fee_histogram"`
	}
	var list, paged []string
	var recent []struct{ TxID string }
	for endpoint, to := range map[string]any{"/mempool": &info, "/mempool/txids": &list, "/mempool/recent": &recent} {
		if err := json.Unmarshal([]byte(w.get(t, endpoint)), to); err != nil {
			t.Fatal(err)
		}
	}
	if info.Count != len(pool) || info.VSize != vsize {
		t.Errorf("/mempool: %+v, expected %d with %d vB", info, len(pool), vsize)
	}
	sum := 0.0
	for i, bin := range info.Histogram {
		if sum += bin[1]; i > 0 && bin[0] >= info.Histogram[i-1][0] {
			t.Errorf("the histogram does not fall: %v", info.Histogram)
		}
	}
	if int(sum) != vsize {
		t.Errorf("the histogram has %v vB of %d", sum, vsize)
	}
	if len(recent) != min(10, len(pool)) {
		t.Errorf("%d recent transactions", len(recent))
	}
	for query := "/mempool/txids/page?max_txs=7"; ; {
		var page []string
		if err := json.Unmarshal([]byte(w.get(t, query)), &page); err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
		query = "/mempool/txids/page/" + page[len(page)-1] + "?" + url.Values{"max_txs": {"7"}}.Encode()
	}
	for name, got := range map[string][]string{"/mempool/txids": list, "/mempool/txids/page": paged} {
		slices.Sort(got)
		slices.Sort(ids)
		if !slices.Equal(got, ids) {
			t.Errorf("%s: %d ids, expected %d", name, len(got), len(ids))
		}
	}
	c := wallet.New(w.served)
	n := newNaiveOf(append(w.node.Blocks(), &wire.MsgBlock{Header: wire.BlockHeader{}, Transactions: pool}))
	for _, tx := range pool {
		j := n.tx(tx, c.Address)
		j.Status = statusJSON{}
		w.expect(t, "/tx/"+j.TxID, text(j), jsonType, "10")
	}
}

// The client pays for a walk over the mempool, including the transactions that the answer does not have.
func TestWalksOfTheMempoolAreCounted(t *testing.T) {
	w := newNodeWorld(t)
	coins := w.node.Coins(t, 20)
	w.sync(t)
	w.settle(t)
	rows := func(endpoint string) int64 {
		m := meter.New(freely{}, 1<<40, meter.Unit, nil)
		r := httptest.NewRequest(http.MethodGet, path+endpoint, nil)
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r.WithContext(meter.With(r.Context(), m)))
		if rec.Code != http.StatusOK {
			t.Errorf("%s: %d %s", endpoint, rec.Code, rec.Body)
		}
		return m.Cost().Rows
	}
	endpoints := []string{"/mempool", "/mempool/txids", "/mempool/txids/page?max_txs=1"}
	empty := map[string]int64{}
	for _, endpoint := range endpoints {
		empty[endpoint] = rows(endpoint)
	}
	for _, coin := range coins {
		w.send(t, coretest.Spend(1000, coin))
	}
	w.settle(t)
	for _, endpoint := range endpoints {
		if n := rows(endpoint); n < empty[endpoint]+int64(len(coins)) {
			t.Errorf("%s: %d rows are counted for %d unconfirmed transactions, %d for none", endpoint, n, len(coins), empty[endpoint])
		}
	}
}

// freely is a payer without a limit.
type freely struct{}

func (freely) Pay(int64) error { return nil }
func (freely) Release()        {}
