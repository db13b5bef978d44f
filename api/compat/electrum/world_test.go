package electrum_test

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/electrum"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// world is a database of a generated chain and an Electrum server of it.
type world struct {
	t      testing.TB
	miner  *miner
	store  *storetest.Faulty
	db     *core.DB
	served *served.Chain
	server *electrum.Server
	addr   string
	sub    *client // a connection that stays open
}

func newWorld(t testing.TB, rng *rand.Rand, o electrum.Options) *world {
	t.Helper()
	db, chain, store := openDatabase(t)
	w := &world{t: t, miner: newMiner(rng), store: store, db: db}
	w.sync()
	w.served = &served.Chain{
		Name: "bitcoin-regtest", Model: chain, View: db.View, Moved: db.Moved,
		State: func() served.State { return served.State{} },
	}
	answers := wallet.New(w.served)
	o.Version = "v1.2.3"
	w.server = electrum.New(answers, o)
	w.addr = listen(t, w.server, nil)
	t.Cleanup(w.server.Close)
	return w
}

// openDatabase opens an empty database with everything that the protocol needs.
func openDatabase(t testing.TB) (*core.DB, model.Chain, *storetest.Faulty) {
	t.Helper()
	return openDatabaseOf(t, "regtest")
}

func openDatabaseOf(t testing.TB, network string) (*core.DB, model.Chain, *storetest.Faulty) {
	t.Helper()
	chain, err := bitcoin.New(network)
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.NewFaulty(memory.New())
	answertest.Charged(t, store)
	db, err := core.Open(t.Context(), store, core.Options{
		Chain: chain, Indexes: []string{"address", "script_hash"}, Raw: true, CacheBytes: 4 << 20,
		Keep: map[string]model.IndexOptions{"script_hash": {Balance: true, Unspent: true, History: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return db, chain, store
}

// listen opens another address of the server. wrap changes its connections.
func (w *world) listen(wrap func(net.Conn) net.Conn) string {
	w.t.Helper()
	return listen(w.t, w.server, wrap)
}

// listen opens an address of a server. wrap, which may be nil, changes its connections.
func listen(t testing.TB, s *electrum.Server, wrap func(net.Conn) net.Conn) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if wrap == nil {
		wrap = func(c net.Conn) net.Conn { return c }
	}
	recorded := answertest.RecordedLines(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(wrapping{l, func(c net.Conn) net.Conn { return recorded(wrap(c)) }}) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

type wrapping struct {
	net.Listener
	wrap func(net.Conn) net.Conn
}

func (l wrapping) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.wrap(c), nil
}

// sync syncs the database to the miner's chain.
func (w *world) sync() {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, w.miner.chain.Blocks()...), 0o600); err != nil {
		w.t.Fatal(err)
	}
	syncFile(w.t, w.db, file, nil)
}

// syncFile syncs a database from a block file, up to a height if it is not nil.
func syncFile(t testing.TB, db *core.DB, file string, to *model.HeightPk) {
	t.Helper()
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: "file://" + file, Indexes: db.Indexes(), Raw: true, To: to})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{To: to}); err != nil {
		t.Fatal(err)
	}
}

// miner makes random blocks that pay to a few scripts. Scripts are not valid: the database does not run them.
type miner struct {
	rng     *rand.Rand
	chain   *bitcointest.Chain
	scripts [][]byte
}

func newMiner(rng *rand.Rand) *miner {
	m := &miner{rng: rng, chain: bitcointest.NewChain(), scripts: newScripts(rng, 20)}
	m.chain.PayTo = m.scripts[0]
	return m
}

// newScripts returns n random P2WPKH scripts.
func newScripts(rng *rand.Rand, n int) [][]byte {
	scripts := make([][]byte, n)
	for i := range scripts {
		s := make([]byte, 22)
		s[1] = 20
		for i := range s[2:] {
			s[2+i] = byte(rng.Uint32())
		}
		scripts[i] = s
	}
	return scripts
}

// mine adds blocks. Each has a coinbase and up to most other transactions.
func (m *miner) mine(blocks, most int) {
	for range blocks {
		free := m.unspent()
		var txs []*wire.MsgTx
		for range m.rng.IntN(most + 1) {
			if len(free) == 0 {
				break
			}
			i := m.rng.IntN(len(free))
			from := free[i]
			free = slices.Delete(free, i, i+1)
			tx := bitcointest.Spend(from.tx, from.index)
			value := from.tx.TxOut[from.index].Value
			for range 1 + m.rng.IntN(3) {
				part := value / int64(2+m.rng.IntN(3))
				value -= part
				tx.AddTxOut(wire.NewTxOut(part, m.scripts[m.rng.IntN(len(m.scripts))]))
				free = append(free, coin{tx, uint32(len(tx.TxOut) - 1), 0})
			}
			tx.TxIn[0].Witness = wire.TxWitness{{byte(m.rng.Uint32()), byte(m.rng.Uint32())}}
			txs = append(txs, tx)
		}
		m.chain.PayTo = m.scripts[m.rng.IntN(len(m.scripts))]
		m.chain.Mine(txs...)
	}
}

// fork replaces the last blocks by more others.
func (m *miner) fork(depth int) {
	m.chain = m.chain.Fork(m.chain.Height() - depth)
	m.mine(depth+1+m.rng.IntN(2), 5)
}

// coin is an unspent output.
type coin struct {
	tx     *wire.MsgTx
	index  uint32
	height int // 0: unconfirmed
}

func (m *miner) unspent() []coin { return m.truth().unspent }

func (m *miner) truth() *truth { return newTruth(m.chain.Blocks(), nil) }

// truth has the expected data about scripts, from a scan of the chain and the mempool. It is immutable.
type truth struct {
	blocks  []*wire.MsgBlock
	unspent []coin // in chain order, those of the mempool last
	by      map[string]*account
}

// account has the expected data of a script.
type account struct {
	history                []entry // the unconfirmed ones last, in the order of get_history
	unspent                []coin
	confirmed, unconfirmed int64 // balance
}

// entry is an element of get_history.
type entry struct {
	Tx     string `json:"tx_hash"`
	Height int    `json:"height"`
	Fee    *int64 `json:"fee"`
}

func newTruth(blocks []*wire.MsgBlock, mempool []*wire.MsgTx) *truth {
	c := &truth{blocks: blocks, by: map[string]*account{}}
	of := func(script string) *account {
		if c.by[script] == nil {
			c.by[script] = new(account)
		}
		return c.by[script]
	}
	type placed struct {
		*wire.MsgTx
		id     chainhash.Hash
		height int // 0: unconfirmed
	}
	var all []placed
	for h, b := range blocks[1:] { // the coinbase of block 0 cannot be spent
		for _, tx := range b.Transactions {
			all = append(all, placed{tx, tx.TxHash(), h + 1})
		}
	}
	pool := map[chainhash.Hash]bool{}
	for _, tx := range mempool { // after a reorganization, children can be listed before their parents
		id := tx.TxHash()
		all, pool[id] = append(all, placed{tx, id, 0}), true
	}
	outputs, spent := map[wire.OutPoint]*wire.TxOut{}, map[wire.OutPoint]bool{}
	for _, tx := range all {
		for i, o := range tx.TxOut {
			outputs[wire.OutPoint{Hash: tx.id, Index: uint32(i)}] = o
		}
		for _, in := range tx.TxIn {
			spent[in.PreviousOutPoint] = true
		}
	}
	for _, tx := range all {
		changes, fee, parents := map[string]int64{}, int64(0), 0
		for _, in := range tx.TxIn {
			if o := outputs[in.PreviousOutPoint]; o != nil {
				fee += o.Value
				changes[string(o.PkScript)] -= o.Value
			}
			if pool[in.PreviousOutPoint.Hash] {
				parents = 1
			}
		}
		for i, o := range tx.TxOut {
			fee -= o.Value
			changes[string(o.PkScript)] += o.Value
			if !spent[wire.OutPoint{Hash: tx.id, Index: uint32(i)}] && (len(o.PkScript) == 0 || o.PkScript[0] != 0x6a) {
				u := coin{tx.MsgTx, uint32(i), tx.height}
				a := of(string(o.PkScript))
				c.unspent, a.unspent = append(c.unspent, u), append(a.unspent, u)
			}
		}
		e := entry{Tx: tx.id.String(), Height: tx.height}
		if tx.height == 0 {
			e.Height, e.Fee = -parents, &fee
		}
		for script, change := range changes {
			a := of(script)
			if a.history = append(a.history, e); tx.height > 0 {
				a.confirmed += change
			} else {
				a.unconfirmed += change
			}
		}
	}
	for _, a := range c.by {
		first := slices.IndexFunc(a.history, func(e entry) bool { return e.Height <= 0 })
		if first >= 0 {
			slices.SortFunc(a.history[first:], func(a, b entry) int { return cmp.Or(b.Height-a.Height, strings.Compare(a.Tx, b.Tx)) })
		}
	}
	return c
}

// account returns the expected data of a script; the zero value if it does not occur.
func (c *truth) account(script []byte) *account {
	if a := c.by[string(script)]; a != nil {
		return a
	}
	return new(account)
}

// statusOf returns the status of a history by its definition, as JSON.
func statusOf(history []entry) string {
	if len(history) == 0 {
		return "null"
	}
	text := ""
	for _, e := range history {
		text += fmt.Sprintf("%s:%d:", e.Tx, e.Height)
	}
	return fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text)))
}

// scriptHash returns the key of a script as clients send it.
func scriptHash(script []byte) string {
	sum := sha256.Sum256(script)
	slices.Reverse(sum[:])
	return hex.EncodeToString(sum[:])
}

// client is a connection that sends lines.
type client struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

const patience = testrun.Patience // timeout of an answer that normally arrives at once

func connect(t testing.TB, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &client{t, c, bufio.NewReader(c)}
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// line returns the next line without its end.
func (c *client) line() string {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatalf("%v after %q", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

// ended fails unless the server closes the connection.
func (c *client) ended() {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if line, err := c.in.ReadString('\n'); err == nil || strings.Contains(err.Error(), "timeout") {
		c.t.Errorf("%v %q, expected the end of the connection", err, line)
	}
}

// call returns the result of a request into result, or its error.
func (c *client) call(result any, method string, params ...any) (code int) {
	c.t.Helper()
	text, err := json.Marshal(append([]any{}, params...))
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(`{"id":1,"method":%q,"params":%s}`, method, text)
	var answer struct {
		Result json.RawMessage
		Error  *struct{ Code int }
	}
	line := c.line()
	if err := json.Unmarshal([]byte(line), &answer); err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	if answer.Error != nil {
		return answer.Error.Code
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	return 0
}

// history returns the transactions of a script.
func (m *miner) history(script []byte) []entry { return m.truth().account(script).history }
