package p2p

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// silentTo makes a peer ignore messages of a kind.
func silentTo(command string) func(*session, wire.Message) bool {
	return func(_ *session, m wire.Message) bool { return m.Command() == command }
}

// troubles are failures of honest peers, which are not dropped permanently.
var troubles = map[string]struct {
	says  string // in the log
	setup func(f *fake)
}{
	"no blocks": {"sent no block for", func(f *fake) { f.on = silentTo(wire.CmdGetData) }},
	"half of the blocks": {"sent no block for", func(f *fake) {
		var asked atomic.Int64
		f.on = func(_ *session, m wire.Message) bool { return m.Command() == wire.CmdGetData && asked.Add(1) > 1 }
	}},
	"no version": {"did not send its version", func(f *fake) { f.on = silentTo(wire.CmdVersion) }},
	"hangs up at once": {"before its version was exchanged", func(f *fake) {
		f.on = func(s *session, _ wire.Message) bool { s.conn.Close(); return true }
	}},
	"hangs up among the blocks": {"connection", func(f *fake) {
		f.on = func(s *session, m wire.Message) bool {
			data, ok := m.(*wire.MsgGetData)
			if !ok {
				return false
			}
			data.InvList = data.InvList[:(len(data.InvList)+1)/2]
			s.answer(data)
			s.conn.Close()
			return true
		}
	}},
	"hangs up within a block": {"connection", func(f *fake) {
		f.on = func(s *session, m wire.Message) bool {
			_, ok := m.(*wire.MsgGetData)
			if ok {
				block := message("block", bitcointest.Bytes(s.chain[1]))
				_ = s.sendRaw(block[:len(block)-7])
				s.conn.Close()
			}
			return ok
		}
	}},
	"serves no blocks":    {"serves no blocks", func(f *fake) { f.services = wire.SFNodeWitness }},
	"serves no witnesses": {"serves no witnesses", func(f *fake) { f.services = wire.SFNodeNetwork }},
}

// quick sets timeouts that tests wait for, and that honest peers keep on a busy machine.
func quick(o *Options) { o.Stall, o.Handshake = time.Second, time.Second }

// A failure of a peer is logged. The chain is downloaded from the other peers, and the peer is retried.
func TestTheChainComesFromPeersThatWork(t *testing.T) {
	c := spending(2100)
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good, bad := newFake(t, c.Blocks()), newFake(t, c.Blocks())
			trouble.setup(bad)
			n, j := open(t, nil, func(o *Options) { quick(o); o.Penalty = time.Millisecond }, good, bad)
			until(t, "the peer in trouble to be named", func() bool {
				reaches(t, n, c.Blocks())
				download(t, n, c.Blocks())
				return t.Failed() || j.line("a peer was dropped", bad.address, trouble.says) != ""
			})
			until(t, "it to be tried again", func() bool { return bad.connections() > 1 })
		})
	}
}

// A header ahead of time, except on regtest, is a failure of its peer.
func TestThePeerOfAHeaderAheadOfTimeIsDropped(t *testing.T) {
	c := spending(50)
	good, bad := newFake(t, c.Blocks()), newFake(t, c.Blocks())
	bad.on = sendsHeaders(func(all []*wire.MsgBlock) []*wire.MsgBlock {
		last := all[len(all)-1]
		last.Header.Timestamp = time.Now().Add(3 * time.Hour).Truncate(time.Second)
		bitcointest.Work(last)
		return all
	})
	strict := *regtest
	strict.PoWNoRetargeting = false
	n, j := open(t, nil, func(o *Options) { quick(o); o.Params, o.Penalty = &strict, time.Millisecond }, good, bad)
	until(t, "the peer to be named", func() bool {
		reaches(t, n, c.Blocks())
		return t.Failed() || j.line("a peer was dropped", bad.address, "ahead of time") != ""
	})
	until(t, "it to be tried again", func() bool { return bad.connections() > 1 })
}

// If there are no other peers, the error is temporary and contains the reason.
func TestFailuresOfTheOnlyPeerAreTemporary(t *testing.T) {
	c := spending(50)
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.Blocks())
			trouble.setup(f)
			var well atomic.Bool
			on := f.on
			services := f.services
			f.services = wire.SFNodeNetwork | wire.SFNodeWitness
			f.on = func(s *session, m wire.Message) bool {
				if v, ok := m.(*wire.MsgVersion); ok && services != f.services && !well.Load() {
					answer := wire.NewMsgVersion(&v.AddrMe, &v.AddrYou, 1, 50)
					answer.Services = services
					s.send(answer)
					return true
				}
				return !well.Load() && on != nil && on(s, m)
			}
			n, j := open(t, nil, quick, f)
			for j.line("a peer was dropped", f.address, trouble.says) == "" {
				_, err := n.Tip(t.Context())
				if err == nil {
					_, err = n.Raw(t.Context(), pointsOf(c.Blocks())[1:], 1<<20)
				}
				if err == nil {
					continue // half of it arrived
				}
				if kind, _ := model.KindOf(err); kind != model.BadSource || !blocksource.IsTemporary(err) || !strings.Contains(err.Error(), f.address) {
					t.Fatalf("%v", err)
				}
			}
			well.Store(true)
			reaches(t, n, c.Blocks())
			download(t, n, c.Blocks())
		})
	}
}

func TestUnreachablePeersAreReportedAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	n, _ := open(t, nil, func(o *Options) { quick(o); o.Peers = []string{l.Addr().String(), "127.0.0.1:1"} })
	_, err = n.Tip(t.Context())
	kind, code := model.KindOf(err)
	if kind != model.BadSource || code != "unreachable" || !blocksource.IsTemporary(err) {
		t.Fatalf("%v %s: %v", kind, code, err)
	}
	for _, want := range []string{l.Addr().String(), "127.0.0.1:1", "connection refused"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
	for name, call := range map[string]func() error{
		"Changed": func() error { return n.Changed(t.Context(), pointOf(0, regtest.GenesisBlock)) },
		"Raw": func() error {
			_, err := n.Raw(t.Context(), pointsOf([]*wire.MsgBlock{regtest.GenesisBlock}), 1)
			return err
		},
	} {
		if err := call(); !blocksource.IsTemporary(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A peer of another network closes the connection before its version is known. The first sync does not wait for it.
func TestPeersThatRefuseTheHandshakeAreReportedAtOnce(t *testing.T) {
	for name, refuse := range map[string]func(s *session){
		"closes":            func(s *session) { s.conn.Close() },
		"serves no blocks":  func(s *session) { s.services = 0 },
		"serves no witness": func(s *session) { s.services = wire.SFNodeNetwork },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, spending(3).Blocks())
			f.on = func(s *session, m wire.Message) bool {
				if m.Command() == wire.CmdVersion {
					refuse(s)
				}
				return false
			}
			n, _ := open(t, nil, quick, f)
			if _, err := n.Tip(t.Context()); !blocksource.IsNoAnswer(err) || !strings.Contains(err.Error(), f.address) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A peer that does not send its headers may be loading its chain. It does not delay other peers for long.
func TestSilentPeerDoesNotDelayOthers(t *testing.T) {
	testrun.Slow(t)
	c := spending(60)
	good, silent := newFake(t, c.Blocks()), newFake(t, c.Blocks())
	silent.claims = 1000
	silent.on = silentTo(wire.CmdGetHeaders)
	n, _ := open(t, nil, quick, good, silent)
	reaches(t, n, c.Blocks())
	download(t, n, c.Blocks())

	var well atomic.Bool
	alone := newFake(t, c.Blocks())
	alone.on = func(_ *session, m wire.Message) bool { return !well.Load() && m.Command() == wire.CmdGetHeaders }
	n, _ = open(t, nil, quick, alone)
	_, err := n.Tip(t.Context())
	if _, code := model.KindOf(err); code != "not_synced" || !blocksource.IsTemporary(err) || !strings.Contains(err.Error(), "60 blocks") {
		t.Errorf("%v", err)
	}
	well.Store(true)
	reaches(t, n, c.Blocks())
	download(t, n, c.Blocks())

	empty := newFake(t, c.Blocks()[:1])
	empty.on = silentTo(wire.CmdGetHeaders)
	n, _ = open(t, nil, quick, empty)
	if tip := tipOf(t, n); tip != pointOf(0, c.Blocks()[0]) {
		t.Errorf("%v", tip)
	}
}

// A block that no peer sends is requested from all peers. Then the error is temporary.
func TestBlockThatNoPeerSendsIsATemporaryError(t *testing.T) {
	c := spending(60)
	hole := c.Blocks()[30].BlockHash()
	a, b := newFake(t, c.Blocks()), newFake(t, c.Blocks())
	delete(a.blocks, hole)
	delete(b.blocks, hole)
	n, _ := open(t, nil, quick, a, b)
	reaches(t, n, c.Blocks())
	raws, err := n.Raw(t.Context(), pointsOf(c.Blocks())[25:40], 1<<20)
	if _, code := model.KindOf(err); code != "block_missing" || !blocksource.IsTemporary(err) || !strings.Contains(err.Error(), hole.String()) {
		t.Fatalf("%d blocks, %v", len(raws), err)
	}
	b.extend(c.Blocks())
	b.hangUp() // it is requested again after a reconnect
	until(t, "the block", func() bool {
		raws, err = n.Raw(t.Context(), pointsOf(c.Blocks())[25:40], 1<<20)
		return err == nil && len(raws) > 0
	})
	download(t, n, c.Blocks())
}

func TestClosingEndsEveryCall(t *testing.T) {
	c := spending(50)
	f := newFake(t, c.Blocks())
	f.on = silentTo(wire.CmdGetData)
	n, _ := open(t, nil, nil, f)
	tip := tipOf(t, n)
	ends := make(chan error, 3)
	go func() { ends <- n.Changed(t.Context(), tip) }()
	go func() { _, err := n.Raw(t.Context(), []model.Point{tip}, 1); ends <- err }()
	until(t, "a request for a block", func() bool { return f.count(wire.CmdGetData) > 0 })
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := n.Tip(t.Context())
	ends <- err
	for range 3 {
		if err := <-ends; !errors.Is(err, errClosed) {
			t.Errorf("%v", err)
		}
	}
	never, err := New(Options{Params: regtest, Peers: []string{"127.0.0.1"}})
	if err != nil || never.Close() != nil {
		t.Error("a network that was not started is not closed")
	}
}

// A peer that sends an unrequested block instead of a requested one misbehaves when the request has timed out.
func TestPeerThatSendsAnotherBlockAndStallsMisbehaves(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(20)
	f := newFake(t, c.Blocks())
	f.on = func(s *session, m wire.Message) bool {
		_, ok := m.(*wire.MsgGetData)
		if ok {
			s.send(foreign(1)[0])
		}
		return ok
	}
	n, _ := open(t, nil, func(o *Options) { o.Stall = 200 * time.Millisecond }, f)
	tipOf(t, n)
	_, err := n.Raw(t.Context(), pointsOf(c.Blocks())[1:5], 1<<20)
	if kind, code := model.KindOf(err); kind != model.BadSource || code != "bad_peer" || blocksource.IsTemporary(err) ||
		!strings.Contains(err.Error(), "other blocks than requested") {
		t.Errorf("%s, temporary %t: %v", code, blocksource.IsTemporary(err), err)
	}
	if met := f.connections(); met != 1 {
		t.Errorf("it was connected to %d times", met)
	}
}
