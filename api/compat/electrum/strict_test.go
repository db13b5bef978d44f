package electrum_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"

	"birthmark/internal/testseed"
)

// strict is a client with the checks of Electrum, which also checks the order of notifications.
type strict struct {
	*client
	scripts [][]byte
	rng     *rand.Rand

	mu  sync.Mutex
	tip struct {
		Hex    string
		Height int
	}
	status  map[string]string // by script hash, as JSON
	waiting map[int]*question
	next    int
	faults  []string
	told    int // notifications
}

// question is a request without an answer.
type question struct {
	method string
	params []any
	answer chan json.RawMessage
}

func newStrict(t testing.TB, addr string, scripts [][]byte, rng *rand.Rand) *strict {
	s := &strict{client: connect(t, addr), scripts: scripts, rng: rng, status: map[string]string{}, waiting: map[int]*question{}}
	go s.read()
	s.ask("server.version", "strict", []string{"1.4", "1.6"})
	s.ask("blockchain.headers.subscribe")
	for _, script := range scripts {
		s.ask("blockchain.scripthash.subscribe", scriptHash(script))
	}
	return s
}

func (s *strict) fault(format string, args ...any) {
	if len(s.faults) < 20 {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

// read handles the messages of the server in order. The state changes when a message arrives, as in a client with one
// thread.
func (s *strict) read() {
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return
		}
		s.mu.Lock()
		s.take(line)
		s.mu.Unlock()
	}
}

func (s *strict) take(line string) {
	var m struct {
		ID     *int
		Method string
		Params []json.RawMessage
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		s.fault("%s: %v", line, err)
		return
	}
	switch m.Method {
	case "":
		if m.ID == nil || s.waiting[*m.ID] == nil {
			s.fault("an answer to nothing: %s", line)
			return
		}
		q := s.waiting[*m.ID]
		delete(s.waiting, *m.ID)
		s.check(q, m.Result)
		q.answer <- m.Result
	case "blockchain.headers.subscribe":
		before := s.tip
		if err := json.Unmarshal(m.Params[0], &s.tip); err != nil || len(s.tip.Hex) != 160 {
			s.fault("tip %s", line)
		}
		if s.told++; s.tip == before {
			s.fault("the tip %d is repeated", s.tip.Height)
		}
	case "blockchain.scripthash.subscribe":
		var script string
		_ = json.Unmarshal(m.Params[0], &script)
		before, subscribed := s.status[script]
		if !subscribed {
			s.fault("a status without subscription: %s", line)
		}
		if s.told++; before == string(m.Params[1]) {
			s.fault("the status of %s is repeated", script)
		}
		s.status[script] = string(m.Params[1])
	default:
		s.fault("unknown notification %s", line)
	}
}

// ask sends a request and returns its result, nil if it is an error.
func (s *strict) ask(method string, params ...any) json.RawMessage {
	text, err := json.Marshal(append([]any{}, params...))
	if err != nil {
		panic(err)
	}
	q := &question{method, params, make(chan json.RawMessage, 1)}
	s.mu.Lock()
	id := s.next
	s.next++
	s.waiting[id] = q
	s.mu.Unlock()
	if _, err := fmt.Fprintf(s, `{"id":%d,"method":%q,"params":%s}`+"\n", id, method, text); err != nil {
		return nil
	}
	select {
	case result := <-q.answer:
		return result
	case <-time.After(patience):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fault("no answer to %s %s", method, text)
		return nil
	}
}

// mayFail are methods whose question can be outdated when it arrives, because of a reorganization.
var mayFail = map[string]bool{"blockchain.block.header": true, "blockchain.transaction.get_merkle": true}

// check handles an answer when it arrives. A subscription begins with its answer.
func (s *strict) check(q *question, result json.RawMessage) {
	if result == nil && !mayFail[q.method] {
		s.fault("%s %v: error", q.method, q.params)
	}
	switch q.method {
	case "blockchain.headers.subscribe":
		_ = json.Unmarshal(result, &s.tip)
	case "blockchain.scripthash.subscribe":
		s.status[q.params[0].(string)] = string(result)
	case "blockchain.scripthash.get_history":
		s.checkHistory(result)
	}
}

// checkHistory checks a history by itself: order, no transaction twice, nothing above the tip that the client has.
func (s *strict) checkHistory(result json.RawMessage) {
	var history []entry
	if err := json.Unmarshal(result, &history); err != nil {
		s.fault("%s: %v", result, err)
	}
	seen := map[string]bool{}
	for i, e := range history {
		if seen[e.Tx] || len(e.Tx) != 64 {
			s.fault("%s appears twice", e.Tx)
		}
		seen[e.Tx] = true
		if e.Height > s.tip.Height {
			s.fault("height %d, the tip is %d", e.Height, s.tip.Height)
		}
		if e.Height <= 0 && (e.Fee == nil || *e.Fee < 0) {
			s.fault("unconfirmed %+v", e)
		}
		if i == 0 {
			continue
		}
		before := history[i-1]
		switch {
		case before.Height > 0 && e.Height > 0 && before.Height > e.Height, before.Height <= 0 && e.Height > 0,
			before.Height == -1 && e.Height == 0, before.Height <= 0 && before.Height == e.Height && before.Tx >= e.Tx:
			s.fault("%+v after %+v", e, before)
		}
	}
}

// wander sends random requests until end is closed.
func (s *strict) wander(end <-chan struct{}) {
	for {
		select {
		case <-end:
			return
		default:
		}
		script := scriptHash(s.scripts[s.rng.IntN(len(s.scripts))])
		switch s.rng.IntN(4) {
		case 0:
			s.ask("blockchain.scripthash.get_history", script)
		case 1:
			s.ask("blockchain.scripthash.listunspent", script)
		case 2:
			s.ask("blockchain.scripthash.get_balance", script)
		case 3:
			s.prove(script)
		}
	}
}

// prove checks the Merkle branches of a history, as a client that verifies transactions. A reorganization between the
// requests makes their answers disagree; prove reports that only if the tip has not changed.
func (s *strict) prove(script string) {
	s.mu.Lock()
	before := s.tip
	s.mu.Unlock()
	var history []entry
	_ = json.Unmarshal(s.ask("blockchain.scripthash.get_history", script), &history)
	if len(history) == 0 {
		return
	}
	e := history[s.rng.IntN(len(history))]
	if e.Height <= 0 {
		return
	}
	header := s.ask("blockchain.block.header", e.Height)
	proof := s.ask("blockchain.transaction.get_merkle", e.Tx, e.Height)
	s.mu.Lock()
	defer s.mu.Unlock()
	if before != s.tip {
		return
	}
	var m struct {
		Merkle []string
		Pos    int
	}
	var text string
	if json.Unmarshal(proof, &m) != nil || json.Unmarshal(header, &text) != nil {
		s.fault("no proof of %+v", e)
		return
	}
	at, root := m.Pos, e.Tx
	for _, sibling := range m.Merkle {
		if at%2 == 1 {
			root = pairOf(sibling, root)
		} else {
			root = pairOf(root, sibling)
		}
		at /= 2
	}
	raw, _ := hex.DecodeString(text[72:136])
	if want, _ := chainhash.NewHash(raw); want.String() != root {
		s.fault("the proof of %+v leads to %s, expected %s", e, root, want)
	}
}

// settled waits until the client has the tip and all statuses of the chain, and compares its answers with the chain.
func (s *strict) settled(c *truth) error {
	tip := len(c.blocks) - 1
	want := headerHex(c.blocks[tip])
	statuses := map[string]string{}
	for _, script := range s.scripts {
		statuses[scriptHash(script)] = statusOf(c.account(script).history)
	}
	wrong := ""
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		wrong = ""
		if s.tip.Height != tip || s.tip.Hex != want {
			wrong = fmt.Sprintf("the tip is %d, expected %d", s.tip.Height, tip)
		}
		for script, status := range statuses {
			if got := s.status[script]; got != status {
				wrong = fmt.Sprintf("the status of %s is %s, expected %s", script, got, status)
			}
		}
		s.mu.Unlock()
		if wrong == "" {
			break
		}
		if time.Now().After(end) {
			for _, script := range s.scripts { // is it the notification or the answer that is wrong?
				if history := c.account(script).history; s.status[scriptHash(script)] != statusOf(history) {
					text, _ := json.Marshal(history)
					wrong += fmt.Sprintf("\nhistory %s\nexpected %s", s.ask("blockchain.scripthash.get_history", scriptHash(script)), text)
				}
			}
			return errors.New(wrong)
		}
	}
	// A transaction that the node dropped at once may arrive late and leave again: its statuses were equal before.
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if err := s.compare(c); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// compare compares the answers about all scripts with the chain.
func (s *strict) compare(c *truth) error {
	for _, script := range s.scripts {
		a := c.account(script)
		want := a.history
		var history []entry
		_ = json.Unmarshal(s.ask("blockchain.scripthash.get_history", scriptHash(script)), &history)
		if !reflect.DeepEqual(history, want) && len(history)+len(want) > 0 {
			return fmt.Errorf("the history is %+v, expected %+v", history, want)
		}
		var unspent []struct {
			Tx     string `json:"tx_hash"`
			Pos    uint32 `json:"tx_pos"`
			Height int
			Value  int64
		}
		_ = json.Unmarshal(s.ask("blockchain.scripthash.listunspent", scriptHash(script)), &unspent)
		wanted := map[string]bool{}
		for n, u := range a.unspent {
			o := u.tx.TxOut[u.index]
			wanted[fmt.Sprintf("%v:%d at %d: %d", u.tx.TxHash(), u.index, u.height, o.Value)] = true
			// The order of confirmed ones is that of the chain, that of the others is free.
			if u.height > 0 && (n >= len(unspent) || unspent[n].Tx != u.tx.TxHash().String() || unspent[n].Pos != u.index) {
				return fmt.Errorf("unspent output %d of %+v, expected %v:%d", n, unspent, u.tx.TxHash(), u.index)
			}
		}
		for _, u := range unspent {
			delete(wanted, fmt.Sprintf("%v:%d at %d: %d", u.Tx, u.Pos, u.Height, u.Value))
		}
		balance := string(s.ask("blockchain.scripthash.get_balance", scriptHash(script)))
		expected := fmt.Sprintf(`{"confirmed":%d,"unconfirmed":%d}`, a.confirmed, a.unconfirmed)
		if len(wanted) > 0 || len(a.unspent) != len(unspent) || balance != expected {
			return fmt.Errorf("%d unspent outputs, balance %s, expected %d and %s; missing %v", len(unspent), balance,
				len(a.unspent), expected, wanted)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) > 0 {
		return errors.New(strings.Join(s.faults, "\n"))
	}
	return nil
}

// Clients that check every answer follow a chain with reorganizations and send requests at the same time.
func TestStrictClientsFollowAChainWithForks(t *testing.T) {
	rng := testseed.Rand(t)
	w := newWorld(t, rng, limits())
	w.miner.mine(8, 4)
	w.sync()
	var clients []*strict
	for range 4 {
		clients = append(clients, newStrict(t, w.addr, w.miner.scripts, rand.New(rand.NewPCG(rng.Uint64(), 0))))
	}
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		end := make(chan struct{})
		var all sync.WaitGroup
		for _, s := range clients {
			all.Go(func() { s.wander(end) })
		}
		if h := w.miner.chain.Height(); h > 5 && rng.IntN(3) == 0 {
			w.miner.fork(1 + rng.IntN(4))
		} else {
			w.miner.mine(1+rng.IntN(3), 6)
		}
		w.sync()
		close(end)
		all.Wait()
		for i, s := range clients {
			if err := s.settled(w.miner.truth()); err != nil {
				t.Fatalf("client %d at height %d: %v", i, w.miner.chain.Height(), err)
			}
		}
	}
	for _, s := range clients {
		if s.notified() == 0 {
			t.Error("no notification was sent")
		}
	}
}

// A client that subscribes on a branch of the chain is notified when the branch leaves the chain, even if the branch
// came and went between two events.
func TestSubscriptionsOnABranchWithoutEvents(t *testing.T) {
	rng := testseed.Rand(t)
	w := newWorld(t, rng, limits())
	w.miner.mine(8, 2)
	w.sync()
	for range 10 {
		w.miner.mine(2, 4)
		w.sync()
		s := newStrict(t, w.addr, w.miner.scripts, rng)
		w.miner.fork(3)
		w.sync()
		if err := s.settled(w.miner.truth()); err != nil {
			t.Fatalf("at height %d: %v", w.miner.chain.Height(), err)
		}
		s.Close()
	}
}

// notified returns the number of notifications.
func (s *strict) notified() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}
