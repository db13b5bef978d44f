package cointest

import (
	"encoding/binary"
	"net"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
)

// Peer is a peer of a network of a coin, which serves blocks.
type Peer struct {
	Network *params.Network
	Blocks  func() [][]byte // called at each request
	// Lie, if not nil, changes the payload of a message before it is sent. No payload: the message is not sent.
	Lie func(command string, payload []byte) []byte

	magic wire.BitcoinNet

	mu     sync.Mutex
	hashes map[*byte]chainhash.Hash // of blocks, by their first byte
}

// Start listens on loopback until the end of the test, and returns the URI of the peer.
func (p *Peer) Start(t testing.TB) (uri string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.magic = p.Network.Params.Net
	var running sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			running.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return "p2p://" + l.Addr().String()
}

func (p *Peer) serve(conn net.Conn) {
	defer conn.Close()
	for {
		_, m, _, err := wire.ReadMessageWithEncodingN(conn, wire.ProtocolVersion, p.magic, wire.WitnessEncoding)
		if err == wire.ErrUnknownMessage {
			continue
		}
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *wire.MsgVersion:
			v := wire.NewMsgVersion(&m.AddrMe, &m.AddrYou, 1, int32(len(p.Blocks())-1))
			v.Services = wire.SFNodeNetwork | p.Network.Coin.Services
			for _, m := range []wire.Message{v, wire.NewMsgVerAck()} {
				_, _ = wire.WriteMessageWithEncodingN(conn, m, wire.ProtocolVersion, p.magic, wire.WitnessEncoding)
			}
		case *wire.MsgPing:
			p.send(conn, wire.CmdPong, binary.LittleEndian.AppendUint64(nil, m.Nonce))
		case *wire.MsgGetHeaders:
			p.send(conn, wire.CmdHeaders, p.headers(m.BlockLocatorHashes))
		case *wire.MsgGetData:
			p.sendBlocks(conn, m.InvList)
		}
	}
}

// send sends a message, unless it is suppressed.
func (p *Peer) send(conn net.Conn, command string, payload []byte) {
	if p.Lie != nil {
		payload = p.Lie(command, payload)
	}
	if payload == nil {
		return
	}
	m := binary.LittleEndian.AppendUint32(nil, uint32(p.magic))
	m = append(m, make([]byte, wire.CommandSize)...)
	copy(m[4:], command)
	m = binary.LittleEndian.AppendUint32(m, uint32(len(payload)))
	m = append(m, chainhash.DoubleHashB(payload)[:4]...)
	_, _ = conn.Write(append(m, payload...))
}

// heights returns the blocks, and their heights by hash. It hashes new blocks.
func (p *Peer) heights() (blocks [][]byte, heights map[chainhash.Hash]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hashes == nil {
		p.hashes = map[*byte]chainhash.Hash{}
	}
	blocks, heights = p.Blocks(), map[chainhash.Hash]int{}
	for h, raw := range blocks {
		hash, ok := p.hashes[&raw[0]]
		if !ok {
			hash = chainhash.Hash(block.Header(raw).Hash())
			p.hashes[&raw[0]] = hash
		}
		heights[hash] = h
	}
	return blocks, heights
}

// headers returns the payload of a message with the headers after the newest block of a locator that the peer has.
func (p *Peer) headers(locator []*chainhash.Hash) []byte {
	blocks, heights := p.heights()
	from := 0
	for _, hash := range locator {
		if h, ok := heights[*hash]; ok {
			from = h
			break
		}
	}
	blocks = blocks[from+1 : min(len(blocks), from+1+wire.MaxBlockHeadersPerMsg)]
	payload := block.AppendCompactSize(nil, uint64(len(blocks)))
	for _, raw := range blocks {
		payload = append(append(payload, raw[:block.HeaderSize]...), 0)
	}
	return payload
}

// sendBlocks sends requested blocks, if the request has the type of the coin.
func (p *Peer) sendBlocks(conn net.Conn, list []*wire.InvVect) {
	blocks, heights := p.heights()
	for _, v := range list {
		if h, ok := heights[v.Hash]; ok && v.Type == p.Network.Coin.BlockType {
			p.send(conn, wire.CmdBlock, blocks[h])
			continue
		}
		missing := binary.LittleEndian.AppendUint32([]byte{1}, uint32(v.Type))
		p.send(conn, wire.CmdNotFound, append(missing, v.Hash[:]...))
	}
}
