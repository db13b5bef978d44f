package p2p

import (
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

var regtest = &chaincfg.RegressionNetParams

// fake is a peer on loopback that serves a chain, and misbehaves on request.
type fake struct {
	t       *testing.T
	address string

	magic    wire.BitcoinNet
	services wire.ServiceFlag
	claims   int32 // 0: the height of its chain
	// on is called for every message before it is answered: true means that it was handled.
	on func(s *session, m wire.Message) bool

	mu       sync.Mutex
	chain    []*wire.MsgBlock
	blocks   map[chainhash.Hash]*wire.MsgBlock
	sessions map[*session]bool
	met      int // number of connections
	asked    map[string]int
}

type session struct {
	*fake
	conn net.Conn
	out  sync.Mutex
}

// newFake listens; change its fields before a client connects.
func newFake(t *testing.T, blocks []*wire.MsgBlock) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{
		t: t, address: l.Addr().String(), magic: regtest.Net, services: wire.SFNodeNetwork | wire.SFNodeWitness,
		blocks: map[chainhash.Hash]*wire.MsgBlock{}, sessions: map[*session]bool{}, asked: map[string]int{},
	}
	f.extend(blocks)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s := &session{fake: f, conn: conn}
			f.mu.Lock()
			f.sessions[s] = true
			f.met++
			f.mu.Unlock()
			running.Go(s.run)
		}
	})
	t.Cleanup(func() {
		l.Close()
		f.hangUp()
		running.Wait()
	})
	return f
}

// extend replaces the chain that it serves; blocks of the previous one remain available.
func (f *fake) extend(blocks []*wire.MsgBlock) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chain = slices.Clone(blocks)
	for _, b := range blocks {
		f.blocks[b.BlockHash()] = b
	}
}

func (f *fake) chainHeight() int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int32(len(f.chain) - 1)
}

// hangUp closes every connection.
func (f *fake) hangUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.sessions {
		s.conn.Close()
	}
}

// count returns the number of received messages of a kind.
func (f *fake) count(command string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[command]
}

func (f *fake) connections() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.met
}

// announce announces a block to all clients, by headers or by inv.
func (f *fake) announce(by string, blocks ...*wire.MsgBlock) {
	f.mu.Lock()
	all := make([]*session, 0, len(f.sessions))
	for s := range f.sessions {
		all = append(all, s)
	}
	f.mu.Unlock()
	for _, s := range all {
		if by == "headers" {
			s.sendHeaders(blocks)
			continue
		}
		m := wire.NewMsgInv()
		for _, b := range blocks {
			hash := b.BlockHash()
			m.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &hash))
		}
		s.send(m)
	}
}

func (s *session) send(m wire.Message) {
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = wire.WriteMessageWithEncodingN(s.conn, m, wire.ProtocolVersion, s.magic, wire.WitnessEncoding)
}

func (s *session) sendRaw(b []byte) error {
	s.out.Lock()
	defer s.out.Unlock()
	_, err := s.conn.Write(b)
	return err
}

func (s *session) sendHeaders(blocks []*wire.MsgBlock) {
	m := wire.NewMsgHeaders()
	for _, b := range blocks {
		m.Headers = append(m.Headers, &b.Header)
	}
	s.send(m)
}

func (s *session) run() {
	defer func() {
		s.conn.Close()
		s.mu.Lock()
		delete(s.sessions, s)
		s.mu.Unlock()
	}()
	for {
		_, m, _, err := wire.ReadMessageWithEncodingN(s.conn, wire.ProtocolVersion, regtest.Net, wire.WitnessEncoding)
		if err == wire.ErrUnknownMessage {
			continue
		}
		if err != nil {
			return
		}
		s.mu.Lock()
		s.asked[m.Command()]++
		s.mu.Unlock()
		if s.on == nil || !s.on(s, m) {
			s.answer(m)
		}
	}
}

func (s *session) answer(m wire.Message) {
	switch m := m.(type) {
	case *wire.MsgVersion:
		s.mu.Lock()
		claims := s.claims
		if claims == 0 {
			claims = int32(len(s.chain) - 1)
		}
		s.mu.Unlock()
		v := wire.NewMsgVersion(&m.AddrMe, &m.AddrYou, 1, claims)
		v.Services = s.services
		s.send(v)
		s.send(wire.NewMsgVerAck())
	case *wire.MsgPing:
		s.send(wire.NewMsgPong(m.Nonce))
	case *wire.MsgGetHeaders:
		s.sendHeaders(s.locate(m.BlockLocatorHashes))
	case *wire.MsgGetData:
		for _, v := range m.InvList {
			s.mu.Lock()
			b := s.blocks[v.Hash]
			s.mu.Unlock()
			if b != nil {
				s.send(b)
				continue
			}
			missing := wire.NewMsgNotFound()
			missing.AddInvVect(v)
			s.send(missing)
		}
	}
}

// locate returns the blocks after the newest block of a locator that is on its chain.
func (s *session) locate(locator []*chainhash.Hash) []*wire.MsgBlock {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := 0
	for _, hash := range locator {
		if i := slices.IndexFunc(s.chain, func(b *wire.MsgBlock) bool { return b.BlockHash() == *hash }); i >= 0 {
			from = i
			break
		}
	}
	return s.chain[from+1 : min(len(s.chain), from+1+wire.MaxBlockHeadersPerMsg)]
}
