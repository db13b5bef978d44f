package ouroboros

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/blinklabs-io/gouroboros/protocol/handshake"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// scripted is a connection of a node whose messages are defined by a test.
type scripted struct {
	t       *testing.T
	network string
	net.Conn
}

// somewhere is the address of the nodes of scripts.
const somewhere = "192.0.2.1:3001"

// script connects to a node that handles the connection with f, and completes the handshake. The connection is a pipe, so
// that the test can run in a bubble of synctest: its timeouts do not depend on the speed of the machine.
func script(t *testing.T, network string, o Options, f func(s scripted)) (*Conn, error) {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(scripted{t, network, there})
		there.Close()
	}()
	t.Cleanup(func() { here.Close(); <-done })
	c := newConn(network, somewhere, o)
	return c, c.handshake(t.Context(), pipe{here})
}

// pipe is a pipe with the errors of a socket.
type pipe struct{ net.Conn }

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	if errors.Is(err, io.ErrClosedPipe) {
		err = syscall.EPIPE
	}
	return n, err
}

// say sends a message of a protocol.
func (s scripted) say(protocol uint16, message ...byte) {
	frame := binary.BigEndian.AppendUint16(make([]byte, 4), protocol|0x8000)
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(message)))
	_, _ = s.Write(append(frame, message...)) // the client may have disconnected
}

// hears waits for the next message of the client.
func (s scripted) hears() (protocol uint16, message []byte) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(s, head); err != nil {
		return 0xffff, nil
	}
	message = make([]byte, binary.BigEndian.Uint16(head[6:]))
	if _, err := io.ReadFull(s, message); err != nil {
		return 0xffff, nil
	}
	return binary.BigEndian.Uint16(head[4:]), message
}

// accept completes the handshake with version 13 of node-to-node or version 16 of node-to-client.
func (s scripted) accept(magic byte) {
	if s.network == "unix" {
		s.say(0, 0x83, 0x01, 0x19, 0x80, 0x10, 0x82, magic, 0xf4)
		return
	}
	s.say(0, 0x83, 0x01, 0x0d, 0x84, magic, 0xf5, 0x00, 0xf4)
}

func wantError(t *testing.T, err error, code string, temporary bool, says ...string) {
	t.Helper()
	kind, got := model.KindOf(err)
	if err == nil || kind != model.BadSource || got != code || blocksource.IsTemporary(err) != temporary {
		t.Errorf("%v (%s, temporary %v), expected %s, %v", err, got, blocksource.IsTemporary(err), code, temporary)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%q does not contain %q", err, s)
		}
	}
}

func TestFailedHandshakesAreReported(t *testing.T) {
	refuse := func(reason ...any) func(s scripted) {
		return func(s scripted) { s.hears(); s.say(0, encoded(s.t, handshake.NewMsgRefuse(reason))...); s.hears() }
	}
	for name, c := range map[string]struct {
		node      func(s scripted)
		code      string
		temporary bool
		says      string
	}{
		"refused":            {refuse(handshake.RefuseReasonRefused, 13, "wrong\nmagic"), "wrong_network", false, "magic 2: it answered \"wrong magic\""},
		"another magic":      {func(s scripted) { s.hears(); s.accept(3); s.hears() }, "wrong_network", false, "it is on the network with the magic 3"},
		"other versions":     {refuse(handshake.RefuseReasonVersionMismatch, []uint16{99, 0x8000 + 98}), "no_common_version", false, "99, 98"},
		"not understood":     {refuse(handshake.RefuseReasonDecodeError, 13, "what?"), "no_common_version", false, "what?"},
		"refused for naught": {refuse(), "not_a_node", false, ""},
		"an unknown version": {func(s scripted) { s.hears(); s.say(0, 0x83, 0x01, 0x18, 99, 0x80); s.hears() }, "not_a_node", false, "version"},
		"a web server":       {func(s scripted) { s.hears(); io.WriteString(s, "HTTP/1.1 400 Bad Request\r\n\r\n"); s.hears() }, "not_a_node", false, "HTTP/1.1 400"},
		"something short":    {func(s scripted) { s.hears(); io.WriteString(s, "no") }, "disconnected", true, "handshake"},
		"nothing":            {func(s scripted) { s.hears(); s.hears() }, "silent", true, "the handshake within 100ms"},
		"closed":             {func(s scripted) { s.hears() }, "disconnected", true, "closed the connection in the handshake"},
		"closed at once":     {func(s scripted) {}, "disconnected", true, ""},
		"no message":         {func(s scripted) { s.hears(); s.say(0, 0xff); s.hears() }, "not_a_node", false, ""},
		"another message":    {func(s scripted) { s.hears(); s.say(0, 0x81, 0x07); s.hears() }, "not_a_node", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, network := range []string{"tcp", "unix"} {
				synctest.Test(t, func(t *testing.T) {
					_, err := script(t, network, Options{Magic: 2, Timeout: 100 * time.Millisecond}, c.node)
					wantError(t, err, c.code, c.temporary, c.says, somewhere)
				})
			}
		})
	}
}

// The end of the context ends the handshake of a silent node.
func TestTheContextEndsTheHandshake(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the connection waits to be accepted
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, "tcp", l.Addr().String(), Options{Magic: 2}); err != context.DeadlineExceeded {
		t.Errorf("%v", err)
	}
}

// met connects to a node that completes the handshake, has only the origin in common, and then runs a script.
func met(t *testing.T, network string, o Options, f func(s scripted)) *Conn {
	t.Helper()
	o.Magic = 2
	o.Describe = func(tag byte, header []byte) (Header, error) {
		return Header{Point: Point{Slot: uint64(tag), Hash: [32]byte{header[0]}}, Size: 10}, nil
	}
	c, err := script(t, network, o, func(s scripted) {
		s.hears()
		s.accept(2)
		protocol, _ := s.hears()
		s.say(protocol, 0x83, 0x05, 0x80, 0x82, 0x80, 0x00)
		f(s)
		for protocol, _ := s.hears(); protocol != 0xffff; protocol, _ = s.hears() {
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if at, _, err := c.Intersect(t.Context(), nil); err != nil || !at.IsOrigin() {
		t.Fatal(at, err)
	}
	return c
}

// followed returns the events of a connection until it fails.
func followed(t *testing.T, c *Conn) (events []Event, err error) {
	t.Helper()
	for e, err := range c.Follow(t.Context()) {
		if events = append(events, e...); err != nil {
			return events, err
		}
	}
	return events, nil
}

func TestProtocolViolationsAreReported(t *testing.T) {
	const chain, fetch, alive = chainSyncToNode, blockFetchToNode, keepAliveToNode
	header := func(n byte) []byte {
		return []byte{0x83, 0x02, 0x82, 0x05, 0xd8, 0x18, 0x41, n, 0x82, 0x80, 0x00}
	}
	said := func(what ...any) func(s scripted) {
		return func(s scripted) {
			s.hears()
			for i := 0; i < len(what); i += 2 {
				if i == 2 && what[0] != what[i] { // the client requests a range first
					for protocol, _ := s.hears(); protocol != fetch && protocol != 0xffff; protocol, _ = s.hears() {
					}
				}
				s.say(uint16(what[i].(int)), what[i+1].([]byte)...)
			}
		}
	}
	await, back := []byte{0x81, 0x01}, []byte{0x83, 0x03, 0x80, 0x82, 0x80, 0x00}
	begin, done, none, block := []byte{0x81, 2}, []byte{0x81, 5}, []byte{0x81, 3}, []byte{0x82, 4, 0xd8, 0x18, 0x41, 7}
	for name, c := range map[string]struct {
		node      func(s scripted)
		code      string
		temporary bool
		says      string
		events    int
	}{
		"waits twice":               {said(chain, await, chain, await), "bad_answer", false, "chain-sync of kind 1", 1},
		"finds what was not sought": {said(chain, []byte{0x82, 0x06, 0x82, 0x80, 0x00}), "bad_answer", false, "chain-sync of kind 6", 0},
		"noise":                     {said(chain, []byte{0x1c}), "bad_answer", false, "1c does not begin an item", 0},
		"another message":           {said(chain, []byte{0x81, 0x09}), "bad_answer", false, "kind 9", 0},
		"an unrequested batch":      {said(fetch, begin), "bad_answer", false, "block-fetch of kind 2", 0},
		"an unrequested block":      {said(fetch, block), "bad_answer", false, "block-fetch of kind 4", 0},
		"one block too many":        {said(chain, header(1), fetch, begin, fetch, block, fetch, block), "bad_answer", false, "kind 4", 1},
		"one block too few":         {said(chain, header(1), fetch, begin, fetch, done), "bad_answer", false, "kind 5", 0},
		"two beginnings":            {said(chain, header(1), fetch, begin, fetch, begin), "bad_answer", false, "kind 2", 0},
		"blocks and then none":      {said(chain, header(1), fetch, begin, fetch, none), "bad_answer", false, "kind 3", 0},
		"no blocks":                 {said(chain, header(1), fetch, none), "no_blocks", true, "slot 6 (01", 0},
		"an unrequested response":   {said(alive, []byte{0x82, 0x01, 0x00}), "bad_answer", false, "keep-alive", 0},
		"another protocol":          {said(77, await), "bad_answer", false, "77", 0},
		"silence":                   {said(chain, back), "silent", true, "a request for blocks within 200ms", 0},
		"silence in a batch":        {said(chain, header(1), fetch, begin), "silent", true, "a request for blocks", 0},
		"the end":                   {func(s scripted) { s.hears(); s.Close() }, "disconnected", true, "closed the connection", 0},
	} {
		t.Run(name, func(t *testing.T) {
			node := func(s scripted) {
				if c.node(s); c.code == "bad_answer" {
					return
				}
				for c.code == "silent" { // until the client disconnects
					if protocol, _ := s.hears(); protocol == 0xffff {
						return
					}
				}
			}
			synctest.Test(t, func(t *testing.T) {
				events, err := followed(t, met(t, "tcp", Options{Timeout: 200 * time.Millisecond}, node))
				wantError(t, err, c.code, c.temporary, c.says)
				if len(events) != c.events {
					t.Errorf("%v, expected %d", events, c.events)
				}
			})
		})
	}
}

func TestMalformedHeadersEndTheConnection(t *testing.T) {
	c := met(t, "tcp", Options{}, func(s scripted) {
		s.hears()
		s.say(chainSyncToNode, 0x83, 0x02, 0x82, 0x05, 0xd8, 0x18, 0x41, 1, 0x82, 0x80, 0x00)
	})
	c.o.Describe = func(byte, []byte) (Header, error) {
		return Header{}, model.Errorf(model.BadSource, "unknown_era", "later")
	}
	_, err := followed(t, c)
	wantError(t, err, "unknown_era", false)
}

// The client sends keep-alives to an idle relay.
func TestKeepAlive(t *testing.T) { synctest.Test(t, testKeepAlive) }

func testKeepAlive(t *testing.T) {
	asked := make(chan uint16, 100)
	answers := 0
	c := met(t, "tcp", Options{keepAlive: time.Millisecond, Timeout: 100 * time.Millisecond}, func(s scripted) {
		s.say(chainSyncToNode, 0x81, 0x01)
		for protocol, m := s.hears(); protocol != 0xffff; protocol, m = s.hears() {
			if protocol != keepAliveToNode {
				continue
			}
			asked <- uint16(m[len(m)-1])
			if answers++; answers <= 3 {
				s.say(protocol, append([]byte{0x82, 0x01}, m[2:]...)...)
			}
		}
	})
	events, err := followed(t, c)
	wantError(t, err, "silent", true, "a keep-alive")
	if len(events) != 1 || events[0].Kind != Waiting {
		t.Errorf("%v", events)
	}
	for want := uint16(1); want <= 4; want++ {
		if got := <-asked; got != want {
			t.Errorf("cookie %d, expected %d", got, want)
		}
	}
}

// The client waits for an idle local node.
func TestIdleLocalNode(t *testing.T) { synctest.Test(t, testIdleLocalNode) }

func testIdleLocalNode(t *testing.T) {
	const pause = 150 * time.Millisecond // longer than the timeout of responses
	c := met(t, "unix", Options{Timeout: 50 * time.Millisecond}, func(s scripted) {
		s.hears()
		s.say(chainSyncToClient, 0x81, 0x01)
		time.Sleep(pause)
		s.say(chainSyncToClient, 0x83, 0x02, 0xd8, 0x18, 0x42, 0x82, 0x07, 0x82, 0x80, 0x00)
	})
	events, err := followed(t, c)
	wantError(t, err, "silent", true)
	if len(events) != 2 || events[0].Kind != Waiting || string(events[1].Block) != "\x82\x07" {
		t.Errorf("%v", events)
	}
}
