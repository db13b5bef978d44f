package p2p

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// services are the services of the peers that are found.
const services = wire.SFNodeNetwork | wire.SFNodeWitness

// sendsAddresses answers getaddr messages with the addresses of other peers.
func sendsAddresses(others ...*fake) func(*session, wire.Message) bool {
	return func(s *session, m wire.Message) bool {
		if _, ok := m.(*wire.MsgGetAddr); !ok {
			return false
		}
		reported := wire.NewMsgAddr()
		for _, o := range others {
			host, port, _ := net.SplitHostPort(o.address)
			number, _ := strconv.Atoi(port)
			a := wire.NewNetAddressIPPort(net.ParseIP(host), uint16(number), services)
			a.Timestamp = time.Now()
			reported.AddrList = append(reported.AddrList, a)
		}
		s.send(reported)
		return true
	}
}

// fromSeed configures no peers. A DNS seed returns loopback, and the default port of the network is that of a fake.
func fromSeed(f *fake) func(*Options) {
	return func(o *Options) {
		p := *regtest
		_, p.DefaultPort, _ = net.SplitHostPort(f.address)
		p.DNSSeeds = []chaincfg.DNSSeed{{Host: "localhost"}}
		o.Params, o.Peers, o.Keep = &p, nil, 4
		o.Handshake, o.Stall = time.Second, time.Second
	}
}

// Peers are found by DNS, and more peers by addresses that peers send. Useless peers are not used.
func TestPeersAreFound(t *testing.T) {
	c := spending(100)
	good, liar, useless := newFake(t, c.Blocks()), newFake(t, c.Blocks()), newFake(t, c.Blocks())
	lies["wrong merkle root"].setup(liar)
	useless.services = wire.SFNodeNetwork
	first := newFake(t, c.Blocks())
	first.on = sendsAddresses(good, liar, useless)
	n, j := open(t, nil, fromSeed(first), first)
	tipOf(t, n)
	until(t, "every peer to be met", func() bool {
		return good.connections() > 0 && liar.connections() > 0 && useless.connections() > 0
	})
	until(t, "the liar to be dropped", func() bool {
		download(t, n, c.Blocks())
		return t.Failed() || j.line("level=WARN", liar.address) != ""
	})
	download(t, n, c.Blocks())
	first.hangUp()
	until(t, "the seed's peer to be met again", func() bool { return first.connections() > 1 })
	if liar.connections() != 1 || useless.connections() != 1 {
		t.Errorf("the liar was met %d times, the useless one %d times", liar.connections(), useless.connections())
	}
}

func TestMissingPeersAreReported(t *testing.T) {
	f := newFake(t, spending(10).Blocks())
	change := fromSeed(f)
	n, _ := open(t, nil, func(o *Options) {
		change(o)
		p := *o.Params
		p.DefaultPort = "38333"
		p.DNSSeeds = []chaincfg.DNSSeed{{Host: "no-such-host.invalid"}, {Host: "slow.invalid"}}
		o.Params = &p
		o.LookupHost = func(_ context.Context, host string) ([]string, error) {
			return nil, &net.DNSError{Err: "no answer", IsNotFound: host != "slow.invalid", IsTimeout: host == "slow.invalid"}
		}
	}, f)
	_, err := n.Tip(t.Context())
	const want = "the DNS seed no-such-host.invalid is an unknown host, slow.invalid does not answer; " +
		"allow DNS and outgoing connections to port 38333, or name a peer: p2p://host:38333"
	if kind, code := model.KindOf(err); kind != model.BadSource || code != "unreachable" || !blocksource.IsTemporary(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

// Before the tip is known, the progress is reported: first of the search for peers, then of the download of headers.
func TestPreparationIsReported(t *testing.T) {
	c := spending(10)
	peer := newFake(t, c.Blocks())
	change := fromSeed(peer)
	type step struct {
		what        string
		done, total uint64
	}
	var mu sync.Mutex
	var steps []step
	n, _ := open(t, nil, func(o *Options) {
		change(o)
		o.Preparing = func(what string, done, total uint64) {
			mu.Lock()
			defer mu.Unlock()
			steps = append(steps, step{what, done, total})
		}
	}, peer)
	tipOf(t, n)
	mu.Lock()
	defer mu.Unlock()
	height := uint64(peer.chainHeight())
	first, last := steps[0], steps[len(steps)-1]
	if first != (step{what: "connecting to peers"}) || last != (step{"loading headers from 1 peer", height, height}) {
		t.Errorf("%+v", steps)
	}
}

func TestSeedNamesContainRequiredServices(t *testing.T) {
	o := Options{Services: wire.SFNodeWitness}
	if name := o.seedName(chaincfg.DNSSeed{Host: "seed.example", HasFiltering: true}); name != "x9.seed.example" {
		t.Error(name)
	}
	if name := o.seedName(chaincfg.DNSSeed{Host: "seed.example"}); name != "seed.example" {
		t.Error(name)
	}
}

// Addresses from a peer are accepted only if they can lead to a useful peer.
func TestAddressesFromPeersAreFiltered(t *testing.T) {
	n, err := New(Options{Params: &chaincfg.MainNetParams})
	if err != nil {
		t.Fatal(err)
	}
	server, client := net.Pipe()
	defer server.Close()
	defer client.Close()
	for _, c := range []struct {
		from, to string
		port     uint16
		offers   wire.ServiceFlag
		taken    bool
	}{
		{"198.51.100.7:8333", "203.0.113.1", 8333, services, true},
		{"198.51.100.7:8333", "203.0.113.1", 8333, services, false}, // already known
		{"198.51.100.7:8333", "203.0.113.1", 18333, services | wire.SFNodeBloom, true},
		{"198.51.100.7:8333", "2001:db8::1", 8333, services, true},
		{"198.51.100.7:8333", "203.0.113.2", 8333, wire.SFNodeNetwork, false},
		{"198.51.100.7:8333", "203.0.113.3", 0, services, false},
		{"198.51.100.7:8333", "10.0.0.1", 8333, services, false},
		{"198.51.100.7:8333", "127.0.0.1", 8333, services, false},
		{"10.0.0.7:8333", "10.0.0.1", 8333, services, true},
		{"10.0.0.7:8333", "0.0.0.0", 8333, services, false},
		{"10.0.0.7:8333", "224.0.0.1", 8333, services, false},
	} {
		r := &remote{n: n, sock: &socket{Conn: addressed{client, c.from}}}
		before := len(n.pool)
		r.discovered(net.ParseIP(c.to), c.port, c.offers)
		if taken := len(n.pool) > before; taken != c.taken {
			t.Errorf("%s sent %s:%d with %v: accepted %v", c.from, c.to, c.port, c.offers, taken)
		}
	}
	for i := range 2 * maxDiscovered {
		n.addAddress("host:" + strconv.Itoa(i))
	}
	if len(n.pool) != maxDiscovered {
		t.Errorf("%d addresses are kept", len(n.pool))
	}
}

// addressed is a connection with a given remote address.
type addressed struct {
	net.Conn
	from string
}

func (a addressed) RemoteAddr() net.Addr { return text(a.from) }

type text string

func (text) Network() string  { return "tcp" }
func (t text) String() string { return string(t) }
