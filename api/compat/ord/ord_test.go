package ord_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/ord"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core"
	"birthmark/core/check"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// world is a database with runes, of a chain that the test mines, and the handler that serves it.
type world struct {
	*testing.T
	chain *bitcointest.Chain
	db    *core.DB
	http.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c, err := bitcoin.New("regtest")
	if err == nil {
		c, err = c.(model.TokenChain).WithTokens("runes")
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{
		Chain: c, Indexes: []string{"address", "script_hash"}, Raw: true, CacheBytes: 4 << 20,
		Keep: map[string]model.IndexOptions{"script_hash": {Balance: true, Unspent: true, History: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, chain: bitcointest.NewChain(), db: db}
	state := func() served.State { return served.State{} }
	w.Handler, err = ord.New(ord.Options{
		Chain: wallet.New(&served.Chain{Name: "bitcoin", Model: c, View: db.View, Moved: db.Moved, State: state}),
		Rules: c.Traits().Tokens.Rules, Path: "/ord",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if a, err := db.Check(context.Background(), check.Options{}); err != nil || !a.OK {
			t.Errorf("check: %+v, %v", a, err)
		}
	})
	return w
}

// sync brings the database to the mined chain.
func (w *world) sync() {
	w.Helper()
	file := filepath.Join(w.TempDir(), "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, w.chain.Blocks()...), 0o600); err != nil {
		w.Fatal(err)
	}
	src, err := w.db.Chain().Open(w.Context(), model.SourceOptions{URI: "file://" + file, Indexes: w.db.Indexes(),
		Raw: true})
	if err != nil {
		w.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(w.Context(), w.db, src, core.SyncOptions{}); err != nil {
		w.Fatal(err)
	}
}

// ask sends a request, GET if body is empty, and returns status and body.
func (w *world) ask(path, body string) (int, string) {
	w.Helper()
	method, content := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, content = http.MethodPost, strings.NewReader(body)
	}
	r := httptest.NewRequest(method, "/ord/"+path, content).WithContext(w.Context())
	r.Header.Set("Accept", "application/json")
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

func (w *world) expect(path, body, want string) {
	w.Helper()
	if status, got := w.ask(path, body); status != http.StatusOK || got != want {
		w.Errorf("%s %s: %d\n%s\nexpected\n%s", path, body, status, got, want)
	}
}

func (w *world) refuses(path, body string, status int, text string) {
	w.Helper()
	if code, got := w.ask(path, body); code != status || !strings.Contains(got, text) {
		w.Errorf("%s: %d %s, expected %d %s", path, code, got, status, text)
	}
}

var (
	payKeyHash = append([]byte{0, 20}, make([]byte, 20)...)
	payTaproot = append([]byte{0x51, 32}, make([]byte, 32)...)
)

func out(value int64, script []byte) *wire.TxOut { return wire.NewTxOut(value, script) }

// coin mines a block and returns its coinbase.
func (w *world) coin() *wire.MsgTx { return w.chain.Mine().Transactions[0] }

// etch mines an etching, whose first output gets the premine.
func (w *world) etch(s *runes.Runestone) *wire.MsgTx {
	w.Helper()
	commit := bitcointest.Spend(w.coin(), 0, out(10_000, payTaproot))
	w.chain.Mine(commit)
	w.chain.MineEmpty(4)
	tx := bitcointest.Spend(commit, 0, out(1000, payKeyHash), out(0, s.Script()))
	if s.Etching.Name.OK {
		data := s.Etching.Name.Value.Commitment()
		tx.TxIn[0].Witness = wire.TxWitness{append([]byte{byte(len(data))}, data...), {}}
	}
	w.chain.Mine(tx)
	return tx
}

func (w *world) address(script []byte) string {
	return w.db.Chain().(interface{ ScriptAddress([]byte) string }).ScriptAddress(script)
}

func TestAnswersAboutRunes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name, spacers, _ := runes.ParseSpaced("AAAAAA•AAAAAAAB")
	etching := w.etch(&runes.Runestone{Etching: &runes.Etching{
		Name: runes.Some(name), Spacers: spacers, Symbol: runes.Some('$'), Divisibility: 2, Premine: model.MaxUint128,
		Turbo: true,
	}})
	first := runes.ID{Block: uint64(w.chain.Height()), Tx: 1}
	etchedAt := w.chain.Tip().Header.Timestamp.Unix()
	terms := w.etch(&runes.Runestone{Etching: &runes.Etching{Terms: runes.Some(runes.Terms{
		Amount: runes.Some(model.Uint128Of(10)), Cap: runes.Some(model.Uint128Of(2)),
		Offset: runes.Range{End: runes.Some(uint64(1000))},
	})}})
	second := runes.ID{Block: uint64(w.chain.Height()), Tx: 1}
	secondAt := w.chain.Tip().Header.Timestamp.Unix()
	secondName := runes.ReservedFor(second).String()

	mint := runes.Runestone{Mint: runes.Some(second)}
	minting := bitcointest.Spend(w.coin(), 0, out(700, payKeyHash), out(0, mint.Script()))
	w.chain.Mine(minting)
	w.sync()

	entry := func(id runes.ID, burned, decimals string, tx *wire.MsgTx, mints, number int, premine, name, symbol,
		terms string, at int64, turbo bool) string {
		return fmt.Sprintf(`{"block":%d,"burned":%s,"divisibility":%s,"etching":"%s","mints":%d,"number":%d,"premine":%s,"spaced_rune":"%s",`+
			`"symbol":%s,"terms":%s,"timestamp":%d,"turbo":%t}`, id.Block, burned, decimals, tx.TxHash(), mints, number,
			premine, name, symbol,
			terms, at, turbo)
	}
	all := model.MaxUint128.String()
	termsJSON := `{"amount":10,"cap":2,"height":[null,null],"offset":[null,1000]}`
	one := entry(first, "0", "2", etching, 0, 0, all, "AAAAAA•AAAAAAAB", `"$"`, "null", etchedAt, true)
	two := entry(second, "0", "0", terms, 1, 1, "0", secondName, "null", termsJSON, secondAt, false)
	for _, query := range []string{"AAAAAA•AAAAAAAB", "AAAAAAAAAAAAAB", "A.AAAAAAAAAAAAB", first.String(), "0"} {
		w.expect("rune/"+query, "", `{"entry":`+one+`,"id":"`+first.String()+`","mintable":false,"parent":null}`)
	}
	for _, query := range []string{secondName, second.String(), "1"} {
		w.expect("rune/"+query, "", `{"entry":`+two+`,"id":"`+second.String()+`","mintable":true,"parent":null}`)
	}
	list := `{"entries":[["` + second.String() + `",` + two + `],["` + first.String() + `",` + one + `]],"more":false,"prev":%s,"next":null}`
	w.expect("runes", "", fmt.Sprintf(list, "null"))
	w.expect("runes/0", "", fmt.Sprintf(list, "null"))
	w.expect("runes/1", "", `{"entries":[],"more":false,"prev":0,"next":null}`)

	pile := `{"AAAAAA•AAAAAAAB":{"amount":` + all + `,"divisibility":2,"symbol":"$"}}`
	output := func(tx *wire.MsgTx, index, confirmations int, indexed bool, held string, spent bool) string {
		address := "null"
		if text := w.address(tx.TxOut[index].PkScript); text != "" {
			address = `"` + text + `"`
		}
		return fmt.Sprintf(`{"address":%s,"confirmations":%d,"indexed":%t,"inscriptions":null,"outpoint":"%s:%d","runes":%s,"sat_ranges":null,`+
			`"script_pubkey":"%x","spent":%t,"transaction":"%s","value":%d}`, address, confirmations, indexed, tx.TxHash(),
			index, held,
			tx.TxOut[index].PkScript, spent, tx.TxHash(), tx.TxOut[index].Value)
	}
	ref := func(tx *wire.MsgTx, index int) string { return fmt.Sprintf("%s:%d", tx.TxHash(), index) }
	depth := w.chain.Height() - int(first.Block) + 1
	ofPremine := output(etching, 0, depth, true, pile, false)
	ofMint := output(minting, 0, 1, true, `{"`+secondName+`":{"amount":10,"divisibility":0,"symbol":null}}`, false)
	w.expect("output/"+ref(etching, 0), "", ofPremine)
	w.expect("output/"+ref(etching, 1), "", output(etching, 1, depth, true, "{}", false))
	w.expect("output/"+ref(minting, 0), "", ofMint)
	w.expect("outputs", `["`+ref(minting, 0)+`","`+ref(etching, 0)+`"]`, "["+ofMint+","+ofPremine+"]")

	// The address of both outputs.
	address := w.address(payKeyHash)
	whole, fraction := all[:len(all)-2], strings.TrimRight(all[len(all)-2:], "0")
	code, body := w.ask("address/"+address, "")
	var info struct {
		Outputs       []string
		Inscriptions  any
		SatBalance    uint64  `json:"sat_balance"`
		RunesBalances [][]any `json:"runes_balances"`
	}
	if err := json.Unmarshal([]byte(body), &info); err != nil || code != http.StatusOK {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	// The second etching has an output of the address, too.
	wantRunes := fmt.Sprint([][]any{{"AAAAAA•AAAAAAAB", whole + "." + fraction, "$"}, {secondName, "10", nil}})
	if fmt.Sprint(info.RunesBalances) != wantRunes || info.SatBalance != 2700 || len(info.Outputs) != 3 || info.Inscriptions != nil {
		t.Errorf("%s, expected %s", body, wantRunes)
	}
	var listed []map[string]any
	for query, want := range map[string]int{"": 3, "?type=any": 3, "?type=runic": 2} {
		code, body := w.ask("outputs/"+address+query, "")
		if err := json.Unmarshal([]byte(body), &listed); err != nil || code != http.StatusOK || len(listed) != want {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}

	// Moved: the second output gets the rest, and the message burns 5.
	stone := runes.Runestone{Pointer: runes.Some(uint32(1)), Edicts: []runes.Edict{{ID: first,
		Amount: model.Uint128Of(5), Output: 2}}}
	moved := bitcointest.Spend(etching, 0, out(300, payTaproot), out(400, payTaproot), out(0, stone.Script()))
	w.chain.Mine(moved)
	w.sync()
	left, _ := model.MaxUint128.Sub(model.Uint128Of(5))
	w.expect("output/"+ref(etching, 0), "", output(etching, 0, depth+1, false, "{}", true))
	w.expect("output/"+ref(moved, 1), "", output(moved, 1, 1, true,
		`{"AAAAAA•AAAAAAAB":{"amount":`+left.String()+`,"divisibility":2,"symbol":"$"}}`, false))
	burned := entry(first, "5", "2", etching, 0, 0, all, "AAAAAA•AAAAAAAB", `"$"`, "null", etchedAt, true)
	w.expect("rune/0", "", `{"entry":`+burned+`,"id":"`+first.String()+`","mintable":false,"parent":null}`)

	// Chain and transactions.
	tip := w.chain.Tip()
	height := fmt.Sprint(w.chain.Height())
	w.expect("blockheight", "", height)
	w.expect("r/blockheight", "", height)
	w.expect("blockcount", "", fmt.Sprint(w.chain.Height()+1))
	w.expect("blockhash", "", tip.BlockHash().String())
	w.expect("blockhash/"+height, "", tip.BlockHash().String())
	w.expect("blockhash/0", "", w.chain.Blocks()[0].BlockHash().String())
	w.expect("r/blockhash/0", "", `"`+w.chain.Blocks()[0].BlockHash().String()+`"`)
	w.expect("blocktime", "", fmt.Sprint(tip.Header.Timestamp.Unix()))
	in := etching.TxIn[0]
	w.expect("tx/"+etching.TxHash().String(), "",
		fmt.Sprintf(`{"chain":"regtest","etching":"AAAAAA•AAAAAAAB","inscription_count":0,`+
			`"transaction":{"version":%d,"lock_time":0,"input":[{"previous_output":"%s","script_sig":"%x","sequence":%d,"witness":["%x",""]}],`+
			`"output":[{"value":1000,"script_pubkey":"%x"},{"value":0,"script_pubkey":"%x"}]},"txid":"%s"}`, etching.Version,
			in.PreviousOutPoint, in.SignatureScript, in.Sequence, in.Witness[0], etching.TxOut[0].PkScript,
			etching.TxOut[1].PkScript,
			etching.TxHash()))
	if _, body := w.ask("tx/"+moved.TxHash().String(), ""); !strings.Contains(body, `"etching":null`) {
		t.Error(body)
	}
	var raw bytes.Buffer
	if err := moved.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	w.expect("r/tx/"+moved.TxHash().String(), "", fmt.Sprintf("%q", hex.EncodeToString(raw.Bytes())))
	of := etching.TxHash().String() + ":0"
	w.expect("r/utxo/"+of, "", `{"inscriptions":null,"runes":{},"sat_ranges":null,"value":1000}`) // it is spent
	if _, body := w.ask("r/utxo/"+moved.TxHash().String()+":1", ""); !strings.Contains(body, `"runes":{"AAAAAA•AAAAAAAB":{"amount":`) {
		t.Error(body)
	}
	var status map[string]any
	if code, body := w.ask("status", ""); code != http.StatusOK || json.Unmarshal([]byte(body),
		&status) != nil || status["runes"] != 2.0 ||
		status["height"] != float64(w.chain.Height()) || status["rune_index"] != true || status["inscription_index"] != false ||
		status["minimum_rune_for_next_block"] != runes.RulesOf(0,
			false).Minimum(model.HeightPk(w.chain.Height()+1)).String() {
		t.Errorf("%d %s", code, body)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.chain.MineEmpty(3)
	w.sync()
	unknown := strings.Repeat("ab", 32)
	w.refuses("rune/AAAAAAAAAAAAAB", "", http.StatusNotFound, "")
	w.refuses("rune/1:1", "", http.StatusNotFound, "rune 1:1 not found")
	w.refuses("rune/99999999999:1", "", http.StatusNotFound, "rune 99999999999:1 not found")
	w.refuses("rune/0", "", http.StatusNotFound, "rune number 0 not found")
	w.refuses("rune/-1", "", http.StatusBadRequest, "invalid rune number")
	w.refuses("rune/a", "", http.StatusBadRequest, "invalid rune")
	w.refuses("rune/1:x", "", http.StatusBadRequest, "invalid rune ID")
	w.refuses("r/tx/"+unknown, "", http.StatusNotFound, "transaction "+unknown+" not found")
	w.refuses("r/tx/x", "", http.StatusBadRequest, "invalid transaction id")
	w.refuses("r/utxo/"+unknown+":0", "", http.StatusNotFound, "output "+unknown+":0 not found")
	w.refuses("runes/-1", "", http.StatusBadRequest, "invalid page")
	w.refuses("output/"+unknown+":0", "", http.StatusNotFound, "output "+unknown+":0 not found")
	coinbase := w.chain.Tip().Transactions[0].TxHash().String()
	w.refuses("output/"+coinbase+":9", "", http.StatusNotFound, "output "+coinbase+":9 not found")
	w.refuses("output/"+coinbase+":4294967295", "", http.StatusNotFound, "not found")
	for _, bad := range []string{"x", coinbase, coinbase + ":", coinbase + ":-1", coinbase + ":01",
		coinbase + ":4294967296"} {
		w.refuses("output/"+bad, "", http.StatusBadRequest, "invalid outpoint")
		w.refuses("outputs", `["`+bad+`"]`, http.StatusBadRequest, "invalid outpoint")
	}
	w.refuses("outputs", `{}`, http.StatusBadRequest, "invalid body")
	w.refuses("outputs", `["`+unknown+`:0"]`, http.StatusNotFound, "not found")
	w.expect("outputs", "[]", "[]")
	w.refuses("address/x", "", http.StatusBadRequest, "")
	w.refuses("address/1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "", http.StatusBadRequest, "")
	address := w.address(payKeyHash)
	w.expect("address/"+address, "", `{"outputs":[],"inscriptions":null,"sat_balance":0,"runes_balances":[]}`)
	w.expect("outputs/"+address, "", `[]`)
	w.refuses("outputs/"+address+"?type=cardinal", "", http.StatusBadRequest, "this server has no inscriptions index")
	w.refuses("outputs/"+address+"?type=x", "", http.StatusBadRequest, "invalid type")
	w.refuses("tx/"+unknown, "", http.StatusNotFound, "transaction "+unknown+" not found")
	w.refuses("tx/x", "", http.StatusBadRequest, "invalid transaction id")
	w.refuses("blockhash/4", "", http.StatusNotFound, "blockhash not found")
	w.refuses("blockhash/x", "", http.StatusBadRequest, "invalid height")
	for _, path := range []string{"block/", "r/blockinfo/"} {
		w.refuses(path+"4", "", http.StatusNotFound, "block 4 not found")
		w.refuses(path+unknown, "", http.StatusNotFound, "block "+unknown+" not found")
		w.refuses(path+"x", "", http.StatusBadRequest, "invalid block")
		w.refuses(path+"-1", "", http.StatusBadRequest, "invalid block")
		w.refuses(path+strings.Repeat("zz", 32), "", http.StatusBadRequest, "invalid block hash")
	}
	w.refuses("nothing", "", http.StatusNotFound, "")
	w.expect("runes", "", `{"entries":[],"more":false,"prev":null,"next":null}`)

	if _, err := ord.New(ord.Options{}); err == nil {
		t.Error("a chain without runes is served")
	}
}

// Pages of many runes have all of them, by their numbers.
func TestPagesOfRunes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const count = 123
	stone := runes.Runestone{Etching: &runes.Etching{Premine: model.Uint128Of(7)}}
	for made := 0; made < count; {
		from := w.coin()
		var txs []*wire.MsgTx
		for range min(count-made, 1+made%9) { // several in a block
			tx := bitcointest.Spend(from, 0, out(from.TxOut[0].Value-1, payKeyHash), out(0, stone.Script()))
			from, txs = tx, append(txs, tx)
			made++
		}
		w.chain.Mine(txs...)
		w.chain.MineEmpty(made % 3)
	}
	w.sync()
	type page struct {
		Entries    [][]json.RawMessage
		More       bool
		Prev, Next *int
	}
	number := count
	for p := range 4 {
		code, body := w.ask(fmt.Sprintf("runes/%d", p), "")
		var got page
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != http.StatusOK {
			t.Fatalf("%d %s", code, body)
		}
		want := max(0, min(51, count-50*p))
		if len(got.Entries) != want || got.More != (count-50*p > 50) || (got.Next != nil) != got.More || (got.Prev != nil) != (p > 0) {
			t.Errorf("page %d: %d runes, more %t", p, len(got.Entries), got.More)
		}
		number = count - 50*p
		for _, e := range got.Entries {
			number--
			var id string
			var entry struct{ Number int }
			if json.Unmarshal(e[0], &id) != nil || json.Unmarshal(e[1], &entry) != nil || entry.Number != number {
				t.Fatalf("page %d: %s has number %d, expected %d", p, id, entry.Number, number)
			}
			w.expect(fmt.Sprintf("rune/%d", number), "",
				`{"entry":`+string(e[1])+`,"id":"`+id+`","mintable":false,"parent":null}`)
		}
	}
	w.refuses(fmt.Sprintf("rune/%d", count), "", http.StatusNotFound, "not found")
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount   uint64
		decimals uint8
		want     string
	}{{0, 0, "0"}, {0, 5, "0"}, {1, 1, "0.1"}, {1, 2, "0.01"}, {10, 1, "1"}, {1100, 3, "1.1"}, {100, 2, "1"}, {101, 2,
		"1.01"}, {25, 0, "25"}} {
		if got := ord.Decimal(model.Uint128Of(c.amount), c.decimals); got != c.want {
			t.Errorf("%d with %d decimals is %s, expected %s", c.amount, c.decimals, got, c.want)
		}
	}
	if got := ord.Decimal(model.MaxUint128, 38); got != "3.40282366920938463463374607431768211455" {
		t.Error(got)
	}
}
