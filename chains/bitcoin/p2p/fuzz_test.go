package p2p

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/rules"
	"birthmark/internal/testnode/bitcointest"
)

// After the handshake, no message of a peer causes a failure, and the chain comes from another peer.
func FuzzMessages(f *testing.F) {
	block := bitcointest.Bytes(bitcointest.NewChain().Tip())
	f.Add("headers", []byte{0})
	f.Add("headers", append(append([]byte{1}, block[:80]...), 0))
	f.Add("inv", append([]byte{1, 2, 0, 0, 0}, block[4:36]...))
	f.Add("block", block)
	f.Add("notfound", append([]byte{1, 2, 0, 0, 0}, block[4:36]...))
	f.Add("addrv2", []byte{1, 0, 0, 0, 0, 9, 1, 4, 127, 0, 0, 1, 0, 1})
	f.Add("version", []byte{})
	f.Add("getheaders", make([]byte, 37))
	c := spending(10)
	f.Fuzz(func(t *testing.T, command string, payload []byte) {
		if len(command) > 12 {
			return
		}
		odd := newFake(t, c.Blocks())
		odd.on = after(func(s *session) { _ = s.sendRaw(message(command, payload)) })
		n, _ := open(t, nil, nil, newFake(t, c.Blocks()), odd)
		download(t, n, c.Blocks())
	})
}

// Headers of any content, in pieces of any size, keep the tree consistent.
func FuzzHeaders(f *testing.F) {
	c := bitcointest.NewChain()
	c.MineEmpty(4)
	var seed []byte
	for _, b := range c.Blocks()[1:] {
		seed = append(seed, bitcointest.Bytes(b)[:80]...)
	}
	f.Add(seed, uint8(2))
	f.Add(seed, uint8(9))
	f.Fuzz(func(t *testing.T, raw []byte, size uint8) {
		tr := newTree(rules.New(regtest, nil), nil, 0)
		for len(raw) >= 80 {
			var m []*wire.BlockHeader
			for range int(size) + 1 {
				if len(raw) < 80 {
					break
				}
				h := &wire.BlockHeader{}
				if err := h.Deserialize(bytes.NewReader(raw[:80])); err != nil {
					t.Fatal(err)
				}
				m, raw = append(m, h), raw[80:]
			}
			last, fresh, err := tr.extend(m)
			if _, bad := errors.AsType[badHeader](err); err != nil && !bad && !errors.Is(err, errOrphan) && !errors.Is(err, errFuture) {
				t.Fatalf("%v", err)
			}
			if fresh > len(m) || last == nil && fresh > 0 {
				t.Fatalf("%d of %d are new, the last is %v", fresh, len(m), last)
			}
			if last != nil {
				tr.setChain(last)
			}
		}
		for i := range tr.count {
			n := tr.at(uint32(i))
			if tr.find(&n.hash) != n || i > 0 && (n.height != n.parent.height+1 || !n.work.More(n.parent.work)) {
				t.Fatalf("node %d: %+v", i, n)
			}
		}
	})
}
