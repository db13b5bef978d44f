package coretest

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// Credentials of the node.
const (
	User     = "user"
	Password = "pass"
)

// Node is a node. Its methods may be called concurrently.
type Node struct {
	server    *httptest.Server
	publisher *publisher

	mu      sync.Mutex
	faults  Faults
	chain   *bitcointest.Chain
	heights map[chainhash.Hash]int        // of the best chain
	unspent map[wire.OutPoint]*wire.TxOut // of the chain
	pool    map[chainhash.Hash]*entry
	order   []*entry                          // by arrival; removed ones have gone set
	spends  map[wire.OutPoint]*entry          // outputs that the pool spends
	next    uint64                            // number of the next change of the mempool
	rates   map[int]float64                   // estimates by target, in BTC per 1,000 virtual bytes
	calls   map[string]int                    // by method
	orphans map[chainhash.Hash]*wire.MsgTx    // transactions of orphaned blocks, by id
	mined   map[chainhash.Hash]*wire.MsgBlock // all blocks by hash, orphaned ones included
}

// Faults change how a node behaves.
type Faults struct {
	// Starting is the message with which every call is refused (-28); empty: the node has started.
	Starting string
	// Lacks are methods that the node does not have (-32601).
	Lacks []string
	// Before is called before a batch or call is answered, with its first method, and Late after the answer was
	// determined and before it is sent. They may wait. nil: nothing.
	Before, Late func(method string)
	// Drop is how many notifications of topic sequence are counted but not sent.
	Drop int
	// NoZMQ: the node publishes nothing.
	NoZMQ bool
	// Dir is the folder for mempool.dat; empty: savemempool writes nothing and returns a path of another machine.
	Dir string
	// PlainDump: mempool.dat has version 1, which is not XORed.
	PlainDump bool
	// MinimumRate is the lowest fee rate in satoshis per 1,000 virtual bytes; 0: 1000.
	MinimumRate int64
}

// Start starts a node with the genesis block, which stops when the test ends.
func Start(t testing.TB) *Node {
	t.Helper()
	n := &Node{
		chain: bitcointest.NewChain(), heights: map[chainhash.Hash]int{}, unspent: map[wire.OutPoint]*wire.TxOut{},
		pool: map[chainhash.Hash]*entry{}, spends: map[wire.OutPoint]*entry{}, next: 1, rates: map[int]float64{},
		calls: map[string]int{}, orphans: map[chainhash.Hash]*wire.MsgTx{}, mined: map[chainhash.Hash]*wire.MsgBlock{},
	}
	n.chain.PayTo = AnyoneCanSpend
	n.heights[n.chain.Tip().BlockHash()] = 0
	n.mined[n.chain.Tip().BlockHash()] = n.chain.Tip()
	var err error
	if n.publisher, err = newPublisher(); err != nil {
		t.Fatal(err)
	}
	n.server = httptest.NewServer(n)
	t.Cleanup(func() {
		n.server.Close()
		n.publisher.close()
	})
	return n
}

// Host returns the host and port of JSON-RPC.
func (n *Node) Host() string { return strings.TrimPrefix(n.server.URL, "http://") }

// URL returns the URL of JSON-RPC with user and password.
func (n *Node) URL() string { return "http://" + User + ":" + Password + "@" + n.Host() }

// Set changes the faults of the node. change must not call methods of the node.
func (n *Node) Set(change func(*Faults)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.faults)
}

// SetEstimates sets the results of estimatesmartfee in BTC per 1,000 virtual bytes, by target.
func (n *Node) SetEstimates(rates map[int]float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rates = rates
}

// Calls returns how often a method was called.
func (n *Node) Calls(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[method]
}

// Disconnect closes all connections, as a restart does. The mempool is kept.
func (n *Node) Disconnect() {
	n.server.CloseClientConnections()
	n.publisher.disconnect()
}

// Tip returns the last block of the best chain.
func (n *Node) Tip() model.Point {
	n.mu.Lock()
	defer n.mu.Unlock()
	return model.Point{Height: model.HeightPk(n.chain.Height()), Hash: model.Hash(n.chain.Tip().BlockHash())}
}

// Blocks returns the best chain by height.
func (n *Node) Blocks() []*wire.MsgBlock {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.chain.Blocks()
}
