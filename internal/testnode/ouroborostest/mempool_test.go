package ouroborostest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/blinklabs-io/gouroboros/cbor"

	"birthmark/bench/generate/cardanogen"
)

// generated returns blocks with transactions.
func generated(t testing.TB, count int) []Block {
	t.Helper()
	chain := cardanogen.New(cardanogen.Options{Seed: 7})
	var raw [][]byte
	for range count {
		raw = append(raw, chain.NextOf(3).Raw)
	}
	blocks, err := Blocks(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// mempool reads the mempool as gouroboros' client does.
func (c *client) mempool(t testing.TB) (raws [][]byte) {
	t.Helper()
	for {
		raw, err := c.LocalTxMonitor().Client.NextTx()
		if err != nil {
			t.Fatal(err)
		}
		if raw == nil {
			return raws
		}
		raws = append(raws, raw)
	}
}

func same(txs []Tx, raws [][]byte) bool {
	if len(txs) != len(raws) {
		return false
	}
	for i := range txs {
		if !bytes.Equal(txs[i].Raw, raws[i]) {
			return false
		}
	}
	return true
}

// A client reads a snapshot of the mempool. The next snapshot waits for a change, unless the client released the first.
func TestMempoolIsReadAndFollowed(t *testing.T) {
	blocks := generated(t, 4)
	n := Start(t, magic, blocks[:3])
	txs, err := blocks[3].Txs()
	if err != nil || len(txs) < 2 {
		t.Fatalf("%d transactions, %v", len(txs), err)
	}
	n.SetMempool(txs...)
	c := connected(t, n, false)
	monitor := c.LocalTxMonitor().Client
	for range 2 { // NextTx acquires by itself, and a released snapshot does not wait
		if raws := c.mempool(t); !same(txs, raws) {
			t.Fatalf("%d transactions, expected %d", len(raws), len(txs))
		}
		if err := monitor.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if _, size, count, err := monitor.GetSizes(); err != nil || int(count) != len(txs) || size == 0 {
		t.Fatalf("%d transactions of %d bytes, %v", count, size, err)
	}
	acquired := make(chan error, 1)
	asked := n.Asked()["acquire"]
	go func() { acquired <- monitor.Acquire() }()
	for n.Asked()["acquire"] == asked {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-acquired:
		t.Fatalf("a snapshot before the mempool changed (%v)", err)
	default:
	}
	n.Extend(blocks[3])
	select {
	case err := <-acquired:
		if err != nil || len(n.Mempool()) != 0 || len(c.mempool(t)) != 0 {
			t.Fatalf("%v, %d transactions after the block", err, len(n.Mempool()))
		}
	case <-time.After(soon):
		t.Fatal("no snapshot after the mempool changed")
	}
}

// Submitted transactions enter the mempool, unless they are of another era or the test rejects them.
func TestTransactionsAreSubmittedOrRefused(t *testing.T) {
	blocks := generated(t, 2)
	n := Start(t, magic, blocks[:1])
	txs, err := blocks[1].Txs()
	if err != nil {
		t.Fatal(err)
	}
	c := connected(t, n, false)
	submit := c.LocalTxSubmission().Client.SubmitTx
	if err := submit(uint16(txs[0].Era), txs[0].Raw); err != nil || !same(n.Mempool(), [][]byte{txs[0].Raw}) {
		t.Fatalf("%v, %d transactions", err, len(n.Mempool()))
	}
	if err := submit(uint16(txs[0].Era-1), txs[0].Raw); err == nil || !strings.Contains(err.Error(), "do not match") {
		t.Fatalf("another era: %v", err)
	}
	reason, err := cbor.Encode("too many")
	if err != nil {
		t.Fatal(err)
	}
	n.Refuse(reason)
	if err := submit(uint16(txs[0].Era), txs[0].Raw); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Fatalf("refused: %v", err)
	}
}

func TestLedgerStateIsQueried(t *testing.T) {
	blocks := generated(t, 1)
	n := Start(t, magic, blocks)
	epoch, err := cbor.Encode(7)
	if err != nil {
		t.Fatal(err)
	}
	n.Answers(map[int][]byte{1: epoch})
	c := connected(t, n, false)
	if got, err := c.LocalStateQuery().Client.GetEpochNo(); err != nil || got != 7 {
		t.Fatalf("epoch %d, %v", got, err)
	}
	if era, err := c.LocalStateQuery().Client.GetCurrentEra(); err != nil || uint(era) != blocks[0].Type-1 {
		t.Fatalf("era %d, %v", era, err)
	}
	if _, err := c.LocalStateQuery().Client.GetStakePools(); err == nil {
		t.Fatal("a query without a result was answered")
	}
}
