package p2p

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/bitcointest"
	"birthmark/model"
)

var regtest = &chaincfg.RegressionNetParams

// fake is a peer on loopback that serves a chain, and misbehaves where it is told to.
type fake struct {
	t       *testing.T
	address string

	magic    wire.BitcoinNet
	services wire.ServiceFlag
	claims   int32 // 0: the height of its chain
	// on is asked about every message before it is answered: true says that it was dealt with.
	on func(s *session, m wire.Message) bool

	mu       sync.Mutex
	chain    []*wire.MsgBlock
	blocks   map[chainhash.Hash]*wire.MsgBlock
	sessions map[*session]bool
	met      int // connections there were
	asked    map[string]int
}

type session struct {
	*fake
	conn net.Conn
	out  sync.Mutex
}

// newFake listens; change it before anybody connects.
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

// extend makes another chain the one it serves; blocks of the one before are still to be had.
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

// hangUp ends every connection.
func (f *fake) hangUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.sessions {
		s.conn.Close()
	}
}

// count is how many messages of a kind it was sent.
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

// announce tells everybody of a block, by headers or by inv.
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

// locate is what follows on the newest block of a locator that is on its chain.
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

// journal is a log that is read by the test.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// line is the first line that has all of the parts, "" where there is none.
func (j *journal) line(parts ...string) string {
	for line := range strings.Lines(j.String()) {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
			return line
		}
	}
	return ""
}

// open is a started network of peers, with short times; it is closed at the end.
func open(t *testing.T, known []model.Point, change func(*Options), fakes ...*fake) (*Network, *journal) {
	t.Helper()
	j := &journal{}
	o := Options{
		Params: regtest, First: time.Millisecond, Most: 20 * time.Millisecond, Stall: 3 * time.Second,
		Log: slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range fakes {
		o.Peers = append(o.Peers, f.address)
	}
	if change != nil {
		change(&o)
	}
	n, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(j)
		}
	})
	n.Start(known)
	return n, j
}

// TestMain runs the tests and fails where goroutines of networks that were closed do not end.
func TestMain(m *testing.M) {
	code := m.Run()
	stacks := make([]byte, 1<<20)
	var left string
	for range 1000 {
		left = string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(left, "btcd/peer.") && !strings.Contains(left, "p2p.(*Network)") {
			os.Exit(code)
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("goroutines are left:\n%s\n", left)
	os.Exit(1)
}

// tipOf waits for the network's tip.
func tipOf(t *testing.T, n *Network) model.Point {
	t.Helper()
	tip, err := n.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tip
}

func pointOf(height int, b *wire.MsgBlock) model.Point {
	return model.Point{Height: model.HeightPk(height), Hash: model.Hash(b.BlockHash())}
}

func pointsOf(blocks []*wire.MsgBlock) []model.Point {
	all := make([]model.Point, len(blocks))
	for h, b := range blocks {
		all[h] = pointOf(h, b)
	}
	return all
}

// until waits for something that has to happen.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// download fetches every block of the network's best chain, in groups, several at once, and compares it with the chain it
// has to be.
func download(t *testing.T, n *Network, want []*wire.MsgBlock) {
	t.Helper()
	const group, limit = 40, 1 << 20
	if tip := tipOf(t, n); tip != pointOf(len(want)-1, want[len(want)-1]) {
		t.Fatalf("the tip is %d %s, expected %d", tip.Height, tip.Hash, len(want)-1)
	}
	hashes, err := n.Hashes(t.Context(), 0, len(want)+1)
	if err != nil || len(hashes) != len(want) {
		t.Fatalf("%d hashes of %d: %v", len(hashes), len(want), err)
	}
	points := make([]model.Point, len(hashes))
	for h := range hashes {
		points[h] = model.Point{Height: model.HeightPk(h), Hash: hashes[h]}
	}
	places := make(chan bool, 6)
	var running sync.WaitGroup
	for from := 0; from < len(points); from += group {
		places <- true
		running.Go(func() {
			defer func() { <-places }()
			to := min(from+group, len(points))
			for at := from; at < to; {
				raws, err := n.Raw(t.Context(), points[at:to], limit)
				if err != nil || len(raws) == 0 {
					t.Errorf("blocks from %d: %d of them, %v", at, len(raws), err)
					return
				}
				for _, raw := range raws {
					if !bytes.Equal(raw, bitcointest.Bytes(want[at])) {
						t.Errorf("block %d is another one", at)
					}
					at++
				}
			}
		})
	}
	running.Wait()
}

// spending is a chain with witnesses in its blocks.
func spending(height int) *bitcointest.Chain {
	c := bitcointest.NewChain()
	for c.Height() < height {
		paid := c.Mine().Transactions[0]
		spend := bitcointest.Spend(paid, 0, wire.NewTxOut(1, []byte{0x51}), wire.NewTxOut(2, []byte{0x51}))
		spend.TxIn[0].Witness = wire.TxWitness{[]byte(fmt.Sprint(c.Height()))}
		c.Mine(spend, bitcointest.Spend(spend, 0, wire.NewTxOut(1, []byte{0x52})))
	}
	return c
}
