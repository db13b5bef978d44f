package p2p

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/peer"
	"github.com/btcsuite/btcd/wire/v2"
)

// headersAfter returns n headers after parent with proof of work; branch makes them differ from other ones.
func headersAfter(parent wire.BlockHeader, n int, branch byte) (headers []*wire.BlockHeader) {
	for i := range n {
		h := &wire.BlockHeader{
			Version: 0x20000000, PrevBlock: parent.BlockHash(), Bits: parent.Bits, Timestamp: parent.Timestamp.Add(time.Second),
		}
		binary.LittleEndian.PutUint32(h.MerkleRoot[:], uint32(i))
		h.MerkleRoot[31] = branch
		for hash := h.BlockHash(); hash[chainhash.HashSize-1] >= 0x80; hash = h.BlockHash() {
			h.Nonce++
		}
		headers, parent = append(headers, h), *h
	}
	return headers
}

// Branches of honest peers can be larger than the tree keeps. The peers stay connected, also the one whose message makes
// the tree forget its branch, and a branch that has the most work in the end becomes the best chain.
func TestPeersWhoseBranchesAreForgottenAreKept(t *testing.T) {
	n, err := New(Options{Params: regtest, Peers: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rebuildTree(0)
	connected := func() *remote {
		p, err := peer.NewOutboundPeer(&peer.Config{ChainParams: regtest}, "127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		here, there := net.Pipe()
		t.Cleanup(func() { here.Close(); there.Close() })
		r := &remote{n: n, at: &endpoint{}, peer: p, sock: &socket{Conn: here}, ready: true}
		n.remotes[r] = true
		r.getHeaders()
		return r
	}
	// send delivers headers in full messages and then the rest, as answers to the requests for them, until the tree
	// forgets branches.
	send := func(r *remote, headers []*wire.BlockHeader) (forgotten bool) {
		t.Helper()
		for _, m := range messages(headers) {
			r.asked = time.Now()
			before := n.tree.count
			r.onHeaders(&wire.MsgHeaders{Headers: m}, nil)
			if r.over || r.at.banned || r.useless > 0 {
				t.Fatalf("a peer was penalized: %+v, %f", r.at, r.useless)
			}
			if n.tree.count < before {
				return true
			}
		}
		return false
	}
	const length = 21_000
	genesis := regtest.GenesisBlock.Header
	main := headersAfter(genesis, length, 0)
	first, second := connected(), connected()
	send(first, main)
	send(second, main) // known headers, since both had a request
	forgotten := false
	var last *remote
	var branch []*wire.BlockHeader
	for i := byte(1); !forgotten; i++ {
		last, branch = connected(), headersAfter(genesis, length-1, i)
		if forgotten = send(last, branch); i > 10 {
			t.Fatal("the tree forgets nothing")
		}
	}
	if tip := main[length-1].BlockHash(); n.tip.hash != tip || n.tree.find(&tip) != n.tip {
		t.Fatalf("the tip is %d %s, expected %s", n.tip.height, n.tip.hash, tip)
	}
	// The peer sends its branch again, which has grown.
	branch = append(branch, headersAfter(*branch[length-2], 10, 200)...)
	send(last, branch)
	if tip := branch[len(branch)-1].BlockHash(); n.tip.hash != tip {
		t.Errorf("the tip is %d %s, expected the end of the longest branch, %s", n.tip.height, n.tip.hash, tip)
	}
}
