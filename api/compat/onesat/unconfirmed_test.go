package onesat_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/onesat"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/chains/bitcoinsv"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testnode/onesattest"
	"birthmark/model"
)

func serialized(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withPool serves the world beside a node that has these unconfirmed transactions, and waits until they are served.
// The result adds another one.
func (w *world) withPool(txs ...*wire.MsgTx) (add func(*wire.MsgTx)) {
	w.Helper()
	var blocks [][]byte
	for _, b := range w.Blocks() {
		blocks = append(blocks, serialized(w.T, func(to *bytes.Buffer) error { return b.Serialize(to) }))
	}
	var mu sync.Mutex
	pool := map[string][]byte{}
	add = func(tx *wire.MsgTx) {
		mu.Lock()
		defer mu.Unlock()
		pool[tx.TxHash().String()] = serialized(w.T, func(to *bytes.Buffer) error { return tx.Serialize(to) })
	}
	for _, tx := range txs {
		add(tx)
	}
	c := w.db.Chain()
	uri := cointest.NodeWithPool(w, "regtest", bitcoinsv.Spec.Format, func() [][]byte { return blocks },
		func() map[string][]byte {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(pool)
		})
	f := answertest.Mempool(w, w.db, uri, len(txs))
	state := func() served.State { return served.State{} }
	var err error
	w.Handler, err = onesat.New(onesat.Options{
		Chain: wallet.New(&served.Chain{Name: "bitcoin-sv", Model: c, View: w.db.View, Moved: w.db.Moved, State: state, Fees: fees{}, Mempool: f}),
		Rules: c.Traits().Tokens.Rules, Path: "/bsv",
	})
	if err != nil {
		w.Fatal(err)
	}
	return add
}

// Searches find unconfirmed outputs by each key that the same outputs have in a block. Their scores are the highest.
func TestSearchesFindUnconfirmedOutputs(t *testing.T) {
	t.Parallel()
	var coins []*wire.MsgTx
	w := newWorld(t, func(s *onesattest.Scenario) {
		for range 3 {
			coins = append(coins, s.Chain.Mine().Transactions[0])
		}
	})
	a, b := onesattest.Lock(1), onesattest.Lock(2)
	send := bitcointest.Spend(w.Burn, 1, onesattest.Told("transfer", `,"id":"`+w.Token+`","amt":"40"`, a),
		onesattest.Told("transfer", `,"id":"`+w.Token+`","amt":"110"`, b))
	again := bitcointest.Spend(send, 0, onesattest.Told("transfer", `,"id":"`+w.Token+`","amt":"40"`, onesattest.Cosign(2)))
	deploy := bitcointest.Spend(coins[0], 0, onesattest.Told("deploy+mint", `,"sym":"BIRDS","amt":"9"`, a), wire.NewTxOut(1000, b))
	parent := onesattest.Outpoint(w.Inscribe, 1)
	child := bitcointest.Spend(coins[1], 0, wire.NewTxOut(1, append(onesattest.Envelope("image/png", "x",
		append(parent.Hash[:], 1, 0, 0, 0)), a...)))
	listing := bitcointest.Spend(w.Mint, 1, onesattest.Told("transfer", `,"id":"`+w.Minted+`","amt":"50"`, listingLock(t, b[3:23])))
	invalid := bitcointest.Spend(coins[2], 0, onesattest.Told("transfer", `,"id":"`+w.Token+`","amt":"1"`, a))
	all := []*wire.MsgTx{send, again, deploy, child, listing, invalid}
	for name, tx := range map[string]*wire.MsgTx{"send": send, "again": again, "birds": deploy, "picture": child, "offer": listing, "wrong": invalid} {
		w.known[name] = tx.TxHash().String()
	}
	w.withPool(all...)
	for _, q := range [][3]string{
		{"/txo/search?key=id:{token}&rev=true&limit=3", "", `map(answer, .outpoint)[0:3] != [] and all(answer, .score > 1000000)`},
		{"/txo/search?key=id:{token}&unspent=true", "", `len(answer) == 2 and any(answer, .outpoint == send + "_1") and any(answer, .outpoint == again + "_0")`},
		{"/txo/search?key=p2pkh:{b}:{token}&unspent=true&tags=bsv21", "", `map(answer, .data.bsv21.amt) == ["110"]`},
		{"/txo/search?key=cos:{b}:{token}&events=true", "", `map(answer, .outpoint) == [again + "_0"] and ("cos:" + b + ":" + token) in answer[0].events`},
		{"/txo/search?key=sym:BIRDS", "", `map(answer, .outpoint) == [birds + "_0"]`},
		{"/txo/search?key=type:image/png", "", `map(answer, .outpoint) == [picture + "_0"]`},
		{"/txo/search?key=parent:{ordinal}", "", `map(answer, .outpoint) == [child + "_0", picture + "_0"]`},
		{"/txo/search?key=parent:{ordinal}&limit=1", "", `map(answer, .outpoint) == [child + "_0"]`},
		{"/txo/search?key=parent:{ordinal}&limit=1&rev=true", "", `map(answer, .outpoint) == [picture + "_0"]`},
		{"/txo/search?key=parent:{ordinal}&from=1000000", "", `map(answer, .outpoint) == [picture + "_0"]`},
		{"/txo/search?key=list:{b}:{minted}", "", `map(answer, .outpoint) == [offer + "_0"]`},
		{"/txo/search?key=list:{minted}", "", `map(answer, .outpoint) == [offer + "_0"]`},
		{"/txo/search?key=list", "", `map(answer, .outpoint) == [offer + "_0"]`},
		{"/txo/search?key=tp:tm_{minted}&unspent=true", "", `any(answer, .outpoint == offer + "_0")`},
		{"/txo/search?key=txid:{send}&spend=true", "", `map(answer, .outpoint) == [send + "_0", send + "_1"] and answer[0].spend == again`},
		{"/txo/search?key=own:{a}&unspent=true&limit=500", "", `any(answer, .outpoint == birds + "_0") and any(answer, .outpoint == wrong + "_0") and none(answer, .outpoint == send + "_0")`},
		{"/txo/tx/{send}?tags=bsv21", "", `map(answer, .data.bsv21.amt) == ["40", "110"]`},
		{"/txo/{wrong}_0?tags=bsv21", "", `answer.data == {}`},
		{"/owner/{b}/balance", "", `answer.balance == 1007 and answer.count == 8`},
		{"/owner/{a}/txos?unspent=true", "", `answer contains picture`},
		{"/bsv21/{token}/p2pkh/{b}/balance", "", `answer.balance == 110 and answer.utxoCount == 1`},
		{"/bsv21/{token}/cos/{b}/balance", "", `answer.balance == 40 and answer.utxoCount == 1`},
		{"/bsv21/{birds}_0/p2pkh/{a}/balance", "", `answer.balance == 9 and answer.utxoCount == 1`},
		{"/bsv21/{token}/p2pkh/{b}/unspent", "", `map(answer, .outpoint) == [send + "_1"]`},
		{"/bsv21/{token}/p2pkh/{b}/history?rev=true&limit=1", "", `map(answer, .outpoint) == [send + "_1"]`},
	} {
		w.holds(q[0], w.ask(q[0], q[1]), q[2])
	}
	// The same keys find the same outputs in a block.
	paths := []string{
		"/txo/search?key=id:{token}&unspent=true", "/txo/search?key=cos:{b}:{token}", "/txo/search?key=sym:BIRDS",
		"/txo/search?key=type:image/png", "/txo/search?key=list:{minted}", "/txo/search?key=own:{a}&unspent=true&limit=500",
		"/txo/search?key=p2pkh:{b}:{token}&unspent=true",
	}
	balances := func() (text string) {
		for _, owner := range []string{"{a}", "{b}"} {
			text += w.ask("/owner/"+owner+"/balance", "").Body.String() + "\n"
		}
		return text
	}
	sums := balances()
	found := func() (all []string) {
		for _, path := range paths {
			var outputs []struct{ Outpoint string }
			if err := json.Unmarshal(w.ask(path, "").Body.Bytes(), &outputs); err != nil {
				t.Fatal(err)
			}
			text := map[string]bool{}
			for _, o := range outputs {
				text[o.Outpoint] = true
			}
			all = append(all, fmt.Sprint(text))
		}
		return all
	}
	before := strings.Join(found(), "\n")
	changes := w.changes("/owner/sync?owner={a}&owner={b}")
	unconfirmed := w.changes("/owner/sync?owner={a}&owner={b}&from=1000000")
	first := slices.IndexFunc(changes, func(c change) bool { return c.Score > 1000000 })
	if !slices.Equal(changes[first:], unconfirmed) || len(unconfirmed) != 11 || first == 0 {
		t.Errorf("%d changes, then %v, expected %v", first, changes[first:], unconfirmed)
	}
	if !slices.IsSortedFunc(changes, func(a, b change) int { return cmp.Compare(a.Score, b.Score) }) {
		t.Errorf("changes are not in the order of scores: %v", changes)
	}
	mined := newWorld(t, func(s *onesattest.Scenario) {
		for range 3 {
			s.Chain.Mine()
		}
		s.Chain.Mine(all...)
	})
	w.Handler = mined.Handler
	sorted := func(all []change) []change {
		for i := range all {
			all[i].Score = 0
		}
		slices.SortFunc(all, func(a, b change) int {
			return cmp.Or(cmp.Compare(a.Outpoint, b.Outpoint), cmp.Compare(a.SpendTxid, b.SpendTxid))
		})
		return all
	}
	if after := sorted(w.changes("/owner/sync?owner={a}&owner={b}")); !slices.Equal(sorted(changes), after) {
		t.Errorf("changes: unconfirmed\n%v\nconfirmed\n%v", changes, after)
	}
	if after := balances(); after != sums {
		t.Errorf("balances: unconfirmed\n%s\nconfirmed\n%s", sums, after)
	}
	if after := strings.Join(found(), "\n"); after != before {
		t.Errorf("unconfirmed\n%s\nconfirmed\n%s", before, after)
	}
}

// change is an event of a synchronization.
type change struct {
	Outpoint  string
	Score     float64
	SpendTxid string
}

// changes returns the changes that a synchronization streams.
func (w *world) changes(path string) (all []change) {
	w.Helper()
	text, done := strings.CutSuffix(w.ask(path, "").Body.String(), "event: done\ndata: {}\nretry: 60000\n\n")
	if !done {
		w.Fatalf("%s: %s", path, text)
	}
	for _, event := range strings.SplitAfter(text, "\n\n") {
		if event == "" {
			continue
		}
		var c change
		data, id, ok := strings.Cut(strings.TrimPrefix(event, "data: "), "\n")
		if err := json.Unmarshal([]byte(data), &c); err != nil || !ok || id != fmt.Sprintf("id: %.0f\n\n", c.Score) {
			w.Fatalf("%s: %q, %v", path, event, err)
		}
		all = append(all, c)
	}
	return all
}

// stream is a response that another goroutine reads.
type stream struct {
	mu   sync.Mutex
	text strings.Builder

	headers http.Header
}

func (s *stream) Header() http.Header { return s.headers }
func (s *stream) WriteHeader(int)     {}
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A stream has the outputs of unconfirmed transactions that arrive after it began, once for each topic.
func TestStreamsHaveUnconfirmedOutputs(t *testing.T) {
	t.Parallel()
	var coins []*wire.MsgTx
	w := newWorld(t, func(s *onesattest.Scenario) {
		for range 6 {
			coins = append(coins, s.Chain.Mine().Transactions[0])
		}
	})
	lock := onesattest.Lock(1)
	owner := w.db.Chain().(model.Scripter).ScriptAddress(lock)
	deploy := func(n int) *wire.MsgTx {
		return bitcointest.Spend(coins[n], 0, onesattest.Told("deploy+mint", `,"sym":"BIRDS","amt":"9"`, lock), wire.NewTxOut(1000, lock),
			wire.NewTxOut(1000, onesattest.Lock(2)))
	}
	add := w.withPool(deploy(0))
	s := &stream{headers: http.Header{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.ServeHTTP(s, httptest.NewRequest(http.MethodGet, "/bsv/sse/own:"+owner+",sym:BIRDS,sym:OTHER", nil).WithContext(ctx))
	}()
	seen := 0
	for n := 1; n < len(coins); n++ {
		tx := deploy(n)
		add(tx)
		id := tx.TxHash().String()
		want := []string{"event: own:" + owner + "\ndata: " + id + ".0\n\nevent: own:" + owner + "\ndata: " + id + ".1\n\n",
			"event: sym:BIRDS\ndata: " + id + ".0\n\n"}
		has := func() bool { return strings.Contains(s.String(), want[0]) && strings.Contains(s.String(), want[1]) }
		wait := time.Minute
		if seen == 0 {
			wait = 5 * time.Second // the stream may have begun after this one
		}
		for deadline := time.Now().Add(wait); !has() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		switch {
		case has():
			seen++
		case seen > 0:
			t.Fatalf("after %d transactions, without %s: %s", seen, id, s)
		}
	}
	cancel()
	<-done
	if seen == 0 || strings.Count(s.String(), "event: ") != 3*seen {
		t.Errorf("%d transactions in the stream: %s", seen, s)
	}
}

// Amounts have up to 64 bits, their sums more. A sum that would fit if it wrapped around is not valid.
func TestAmountsOfAllSizes(t *testing.T) {
	t.Parallel()
	const most = "18446744073709551615" // 2^64-1
	var minted, joined, wrapped *wire.MsgTx
	w := newWorld(t, func(s *onesattest.Scenario) {
		of := func(op, amount string, lock []byte) *wire.TxOut {
			return onesattest.Told(op, `,"id":"`+s.Minted+`","amt":"`+amount+`"`, lock)
		}
		minted = bitcointest.Spend(s.Mint, 0, of("mint", most, onesattest.Lock(5)), of("mint", most, onesattest.Lock(5)),
			of("mint", most, onesattest.Lock(6)), of("mint", "18446744073709551616", onesattest.Lock(6)))
		s.Chain.Mine(minted)
		joined = onesattest.Spend([]wire.OutPoint{onesattest.Outpoint(minted, 0), onesattest.Outpoint(minted, 1)},
			of("transfer", most, onesattest.Lock(5)), of("transfer", most, onesattest.Lock(5)))
		wrapped = onesattest.Spend([]wire.OutPoint{onesattest.Outpoint(minted, 2)}, of("transfer", most, onesattest.Lock(7)),
			of("transfer", "1", onesattest.Lock(7)))
		s.Chain.Mine(joined, wrapped)
	})
	for n := byte(5); n <= 7; n++ {
		w.known[fmt.Sprintf("owner%d", n)] = w.db.Chain().(model.Scripter).ScriptAddress(onesattest.Lock(n))
	}
	for path, want := range map[string]string{
		"/bsv21/{minted}/p2pkh/{owner5}/balance": `{"balance":36893488147419103230,"utxoCount":2}`,
		"/bsv21/{minted}/p2pkh/{owner6}/balance": `{"balance":0,"utxoCount":0}`,
		"/bsv21/{minted}/p2pkh/{owner7}/balance": `{"balance":0,"utxoCount":0}`,
	} {
		if rec := w.ask(path, ""); strings.TrimSpace(rec.Body.String()) != want {
			t.Errorf("%s: %s, expected %s", path, rec.Body, want)
		}
	}
	w.known["joined"] = joined.TxHash().String()
	w.holds("amounts", w.ask("/txo/tx/{joined}?tags=bsv21", ""), `map(answer, .data.bsv21.amt) == ["`+most+`", "`+most+`"]`)
}

// The first command of MAP counts, whether it is SET or another, and bitcom has all parts of the data.
func TestDataTags(t *testing.T) {
	t.Parallel()
	push := func(texts ...string) (script []byte) {
		for _, text := range texts {
			script = append(append(script, byte(len(text))), text...)
		}
		return script
	}
	const protocol = "1PuQa7K62MiKCtssSLKy1kh56WWU7MtUR5"
	var tx *wire.MsgTx
	w := newWorld(t, func(s *onesattest.Scenario) {
		script := append([]byte{0, 0x6a}, push(protocol, "SET", "app", "one", "|", protocol, "SET", "app", "two", "|", "other", "x")...)
		tx = bitcointest.Spend(s.Chain.Mine().Transactions[0], 0, wire.NewTxOut(0, script),
			wire.NewTxOut(0, append([]byte{0, 0x6a}, push(protocol, "DELETE", "app")...)))
		tx.AddTxOut(wire.NewTxOut(2, listingLock(t, onesattest.Lock(1)[3:23]))) // an offer has one satoshi
		s.Chain.Mine(tx)
	})
	w.holds("an offer", w.ask("/txo/tx/"+tx.TxHash().String()+"?tags=ordlock&events=true", ""), `answer[2].data == {} and not ("list" in answer[2].events)`)
	w.known["data"] = tx.TxHash().String()
	w.holds("tags", w.ask("/txo/tx/{data}?tags=map,bitcom", ""), `answer[0].data.map == {"cmd": "SET", "data": {"app": "one"}} and `+
		`map(answer[0].data.bitcom.protos, .proto) == ["`+protocol+`", "`+protocol+`", "other"] and `+
		`map(answer[0].data.bitcom.protos, .pos) == [2, 51, 100] and answer[0].data.bitcom.protos[2].script == "AXg=" and `+
		`answer[1].data.map == {"cmd": "DELETE", "data": {}}`)
}
