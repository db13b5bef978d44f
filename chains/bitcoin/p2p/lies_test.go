package p2p

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// copyOf returns an independent copy of a block.
func copyOf(b *wire.MsgBlock) *wire.MsgBlock {
	var c wire.MsgBlock
	if err := c.Deserialize(bytes.NewReader(bitcointest.Bytes(b))); err != nil {
		panic(err) // it was just serialized
	}
	return &c
}

// sendsBlocks answers requests for blocks with modified blocks.
func sendsBlocks(change func(b *wire.MsgBlock)) func(*session, wire.Message) bool {
	return func(s *session, m wire.Message) bool {
		data, ok := m.(*wire.MsgGetData)
		if !ok {
			return false
		}
		for _, v := range data.InvList {
			s.mu.Lock()
			b := copyOf(s.blocks[v.Hash])
			s.mu.Unlock()
			change(b)
			s.send(b)
		}
		return true
	}
}

// sendsHeaders answers requests for headers with modified headers.
func sendsHeaders(change func(headers []*wire.MsgBlock) []*wire.MsgBlock) func(*session, wire.Message) bool {
	return func(s *session, m wire.Message) bool {
		ask, ok := m.(*wire.MsgGetHeaders)
		if !ok {
			return false
		}
		var all []*wire.MsgBlock
		for _, b := range s.locate(ask.BlockLocatorHashes) {
			all = append(all, copyOf(b))
		}
		s.sendHeaders(change(all))
		return true
	}
}

// checkContext calls a function for every connection after the handshake.
func after(do func(s *session)) func(*session, wire.Message) bool {
	return func(s *session, m wire.Message) bool {
		if _, ok := m.(*wire.MsgVerAck); ok {
			do(s)
		}
		return false
	}
}

func message(command string, payload []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(regtest.Net))
	out = append(out, make([]byte, 12)...)
	copy(out[4:], command)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(payload)))
	return append(append(out, chainhash.DoubleHashB(payload)[:4]...), payload...)
}

var foreigners atomic.Int64

// foreign returns a chain of n blocks after the first one, different each time.
func foreign(blocks int) []*wire.MsgBlock {
	c := bitcointest.NewChain()
	c.PayTo = fmt.Appendf(nil, "chain %d", foreigners.Add(1))
	c.MineEmpty(blocks)
	return c.Blocks()[1:]
}

// lies are kinds of misbehaviour.
var lies = map[string]struct {
	says  string // in the log
	setup func(f *fake)
}{
	"wrong merkle root": {"merkle root", func(f *fake) {
		f.on = sendsBlocks(func(b *wire.MsgBlock) { b.Transactions[0].TxOut[0].Value++ })
	}},
	"transactions repeat": {"transactions repeat: ", func(f *fake) {
		f.on = sendsBlocks(func(b *wire.MsgBlock) {
			if n := len(b.Transactions); n%2 == 1 && n > 1 {
				b.Transactions = append(b.Transactions, b.Transactions[n-1])
			}
		})
	}},
	"another witness": {"witness", func(f *fake) {
		f.on = sendsBlocks(func(b *wire.MsgBlock) {
			if len(b.Transactions) > 1 {
				b.Transactions[1].TxIn[0].Witness[0] = []byte("another")
			}
		})
	}},
	"no witness": {"witness", func(f *fake) {
		f.on = sendsBlocks(func(b *wire.MsgBlock) {
			for _, tx := range b.Transactions {
				tx.TxIn[0].Witness = nil
			}
		})
	}},
	"a witness without a commitment": {"witness", func(f *fake) {
		f.on = sendsBlocks(func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].Witness = wire.TxWitness{{1}} })
	}},
	"bytes after a block": {"follow its transactions", func(f *fake) {
		f.on = func(s *session, m wire.Message) bool {
			data, ok := m.(*wire.MsgGetData)
			if ok {
				s.mu.Lock()
				b := s.blocks[data.InvList[0].Hash]
				s.mu.Unlock()
				_ = s.sendRaw(message("block", append(bitcointest.Bytes(b), 0)))
			}
			return ok
		}
	}},
	"other blocks": {"other blocks than requested", func(f *fake) {
		f.on = func(s *session, m wire.Message) bool {
			data, ok := m.(*wire.MsgGetData)
			if ok {
				for _, b := range foreign(len(data.InvList)) {
					s.send(b)
				}
			}
			return ok
		}
	}},
	"no transactions": {"does not begin with a coinbase", func(f *fake) {
		f.on = sendsBlocks(func(b *wire.MsgBlock) { b.Transactions = nil })
	}},
	"headers without work": {"block hash", func(f *fake) {
		f.on = sendsHeaders(func(all []*wire.MsgBlock) []*wire.MsgBlock {
			last := all[len(all)-1]
			for hash := last.BlockHash(); hash[31] < 0x80; hash = last.BlockHash() {
				last.Header.Nonce++
			}
			return all
		})
	}},
	"headers of another difficulty": {"difficulty", func(f *fake) {
		f.on = sendsHeaders(func(all []*wire.MsgBlock) []*wire.MsgBlock {
			last := all[len(all)-1]
			last.Header.Bits--
			bitcointest.Work(last)
			return all
		})
	}},
	"headers that do not form a chain": {"does not extend", func(f *fake) {
		f.on = sendsHeaders(func(all []*wire.MsgBlock) []*wire.MsgBlock { return append(all[:min(len(all), 1000)], foreign(3)...) })
	}},
	"headers that follow on none": {"without a known parent", func(f *fake) {
		f.on = sendsHeaders(func(all []*wire.MsgBlock) []*wire.MsgBlock { return foreign(9)[5:] })
	}},
	"headers of an old version": {"version", func(f *fake) {
		f.on = sendsHeaders(func(all []*wire.MsgBlock) []*wire.MsgBlock {
			last := all[len(all)-1]
			last.Header.Version = 1
			bitcointest.Work(last)
			return all
		})
	}},
	"too many headers in a message": {"invalid message of regtest", func(f *fake) {
		f.on = after(func(s *session) {
			payload := append([]byte{0xfd, 0xd1, 0x07}, make([]byte, 2001*81)...)
			_ = s.sendRaw(message("headers", payload))
		})
	}},
	"fewer headers than announced": {"invalid message of regtest", func(f *fake) {
		f.on = after(func(s *session) { _ = s.sendRaw(message("headers", []byte{100, 1, 2, 3})) })
	}},
	"headers without end": {"chains with less work", func(f *fake) {
		f.on = after(func(s *session) {
			for range 15 {
				s.sendHeaders(foreign(wire.MaxBlockHeadersPerMsg))
			}
		})
	}},
	"another network": {"other network", func(f *fake) { f.magic = wire.MainNet }},
	"another network's block": {"other network", func(f *fake) {
		f.on = after(func(s *session) {
			var out bytes.Buffer
			_, _ = wire.WriteMessageWithEncodingN(&out, bitcointest.NewChain().Tip(), wire.ProtocolVersion, wire.MainNet, wire.WitnessEncoding)
			_ = s.sendRaw(out.Bytes())
		})
	}},
	"a web server": {"invalid message of regtest", func(f *fake) {
		f.on = func(s *session, _ wire.Message) bool {
			_ = s.sendRaw([]byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n400 Bad Request"))
			return true
		}
	}},
	"endless garbage": {"invalid message of regtest", func(f *fake) {
		f.on = after(func(s *session) {
			garbage := bytes.Repeat([]byte{0xde, 0xad, 0xbe, 0xef, 0x17}, 1<<12)
			for s.sendRaw(garbage) == nil {
			}
		})
	}},
	"a message of another checksum": {"checksum", func(f *fake) {
		f.on = after(func(s *session) {
			m := message("ping", make([]byte, 8))
			m[20]++
			_ = s.sendRaw(m)
		})
	}},
	"a flood of unknown messages": {"flood of unrequested messages", func(f *fake) {
		f.on = after(func(s *session) {
			for s.sendRaw(message("nonsense", []byte("nonsense"))) == nil {
			}
		})
	}},
	"a flood of blocks": {"flood of unrequested blocks", func(f *fake) {
		f.on = after(func(s *session) {
			block := message("block", bitcointest.Bytes(bitcointest.NewChain().Tip()))
			for s.sendRaw(block) == nil {
			}
		})
	}},
	"a flood of headers": {"flood of headers", func(f *fake) {
		f.on = after(func(s *session) {
			headers := message("headers", []byte{0})
			for s.sendRaw(headers) == nil {
			}
		})
	}},
	"headers in a circle": {"flood of headers", func(f *fake) {
		circle := [2][]*wire.MsgBlock{foreign(wire.MaxBlockHeadersPerMsg), foreign(wire.MaxBlockHeadersPerMsg)}
		var turn atomic.Int64
		f.on = sendsHeaders(func([]*wire.MsgBlock) []*wire.MsgBlock { return circle[turn.Add(1)%2] })
	}},
}

// A misbehaving peer is logged with the reason and dropped permanently. The chain is read from the other peers.
func TestMisbehavingPeerIsLoggedAndDropped(t *testing.T) {
	testrun.Slow(t)
	c := spending(2100) // more work than any chain of a misbehaving peer
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good, bad := newFake(t, c.Blocks()), newFake(t, c.Blocks())
			bad.claims = good.chainHeight() + 100 // so that it is used first
			lie.setup(bad)
			n, j := open(t, nil, nil, good, bad)
			download(t, n, c.Blocks())
			until(t, "the liar to be dropped", func() bool { return j.line("level=WARN", bad.address, lie.says) != "" })
			download(t, n, c.Blocks())
			if line := j.line("level=WARN", good.address); line != "" {
				t.Errorf("the honest peer was dropped: %s", line)
			}
			if n := bad.connections(); n != 1 {
				t.Errorf("the liar was connected to %d times", n)
			}
		})
	}
}

// If all configured peers misbehave, the error is permanent.
func TestOnlyMisbehavingPeersAreAPermanentError(t *testing.T) {
	c := spending(60)
	for name, lie := range lies {
		if name == "headers without end" {
			continue // alone, its chains are the best available
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := newFake(t, c.Blocks())
			lie.setup(bad)
			n, _ := open(t, nil, nil, bad)
			var err error
			for err == nil { // it misbehaves with blocks, or later
				if _, err = n.Tip(t.Context()); err != nil {
					break
				}
				var hashes []model.Hash
				if hashes, err = n.Hashes(t.Context(), 0, 5); err != nil {
					break
				}
				points := make([]model.Point, len(hashes))
				for i := range hashes {
					points[i] = model.Point{Height: model.HeightPk(i), Hash: hashes[i]}
				}
				if len(points) > 1 {
					_, err = n.Raw(t.Context(), points[1:], 1<<20)
				}
			}
			kind, code := model.KindOf(err)
			if kind != model.BadSource || code != "bad_peer" || blocksource.IsTemporary(err) || !strings.Contains(err.Error(), bad.address) || !strings.Contains(err.Error(), lie.says) {
				t.Errorf("%v %s, temporary %v: %v", kind, code, blocksource.IsTemporary(err), err)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("the error is too long: %v", err)
			}
			for _, call := range []func() error{
				func() error { _, err := n.Tip(t.Context()); return err },
				func() error { return n.Changed(t.Context(), pointOf(0, c.Blocks()[0])) },
			} {
				if err := call(); err != nil && blocksource.IsTemporary(err) {
					t.Errorf("afterwards: %v", err)
				}
			}
		})
	}
}
