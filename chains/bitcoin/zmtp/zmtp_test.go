package zmtp

import (
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testseed"
)

// publish serves one connection: it sends out, and received returns the first want bytes of the subscriber.
func publish(t testing.TB, want int, out ...[]byte) (address string, received func() []byte) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got := make(chan []byte, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			got <- nil
			return
		}
		defer conn.Close()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = conn.Write(slices.Concat(out...))
		}()
		b := make([]byte, want)
		n, _ := io.ReadFull(conn, b)
		<-sent
		got <- b[:n]
		// Closing the connection while bytes are unread would discard what the client has not received.
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	}()
	return l.Addr().String(), func() []byte { return <-got }
}

// hello is the greeting and READY of a publisher, as libzmq sends them: version 3.1, and a property after the type.
var hello = func() []byte {
	g := greeting()
	g[11] = 1
	ready := command("READY", "Socket-Type", "PUB")
	ready = append(ready, "\x08Identity\x00\x00\x00\x00"...)
	ready[1] += 13
	return append(g, ready...)
}()

func TestMessagesOfSubscribedTopicsAreReceived(t *testing.T) {
	long := bytes.Repeat([]byte("abc"), 300)
	address, received := publish(t, 64+27+1+1+9+1+1+6, hello,
		frame(flagMore, []byte("sequence")), frame(flagMore, []byte{1, 2}), frame(0, []byte{7, 0, 0, 0}),
		frame(flagCommand, []byte("\x04PING\x00\x00")),
		frame(flagMore, []byte("rawtx")), frame(flagMore, long), frame(0, nil))
	c, err := Subscribe(t.Context(), "tcp", address, 1000, "sequence", "rawtx")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i, want := range [][][]byte{{[]byte("sequence"), {1, 2}, {7, 0, 0, 0}}, {[]byte("rawtx"), long, {}}} {
		parts, err := c.Receive()
		if err != nil || !slices.EqualFunc(parts, want, bytes.Equal) {
			t.Errorf("message %d: %q, %v", i, parts, err)
		}
	}
	sent := received()
	wanted := slices.Concat(greeting(), []byte("\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB"), []byte("\x00\x09\x01sequence"), []byte("\x00\x06\x01rawtx"))
	if !bytes.Equal(sent, wanted) {
		t.Errorf("the subscriber sent %q, expected %q", sent, wanted)
	}
	if _, err := c.Receive(); err == nil {
		t.Error("the end of the connection causes no error")
	}
}

func TestOtherServersAreRefused(t *testing.T) {
	of := func(change func(g []byte)) []byte {
		g := greeting()
		change(g)
		return g
	}
	for name, c := range map[string]struct {
		sends []byte
		says  string
	}{
		"a web server":    {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "it does not use ZMTP"},
		"nothing":         {nil, "it sent no greeting"},
		"version 2":       {of(func(g []byte) { g[10] = 1 }), "version 1 of ZMTP, expected 3"},
		"a password":      {of(func(g []byte) { copy(g[12:], "PLAIN") }), `the security mechanism "PLAIN"`},
		"another socket":  {append(greeting(), command("READY", "Socket-Type", "REP")...), `a socket of type "REP", expected PUB`},
		"an error":        {append(greeting(), frame(flagCommand, []byte("\x05ERROR\x00"))...), `"ERROR" instead of READY`},
		"no command":      {append(greeting(), frame(0, []byte("\x05READY"))...), "instead of READY"},
		"a cut READY":     {append(greeting(), frame(flagCommand, []byte("\x05READY\x0bSocket-Type\x00\x00\x00\x09PUB"))...), "its READY is malformed"},
		"a huge READY":    {append(greeting(), 6, 0, 0, 0, 1, 0, 0, 0, 0), "expected at most 65536"},
		"a reserved flag": {append(greeting(), 0x80, 0), "the reserved flags 0x80"},
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := publish(t, 64, c.sends)
			conn, err := Subscribe(t.Context(), "tcp", address, 1000, "x")
			if err == nil {
				conn.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, expected %q", err, c.says)
			}
		})
	}
}

func TestMessagesAreBounded(t *testing.T) {
	for name, out := range map[string][]byte{
		"a part":     frame(0, make([]byte, 2*maxCommand)),
		"all parts":  slices.Concat(frame(flagMore, make([]byte, 900)), frame(0, make([]byte, 101))),
		"many parts": bytes.Repeat(frame(flagMore, nil), 2*maxParts),
	} {
		address, _ := publish(t, 64, hello, out)
		c, err := Subscribe(t.Context(), "tcp", address, 1000, "x")
		if err != nil {
			t.Fatal(err)
		}
		if parts, err := c.Receive(); err == nil {
			t.Errorf("%s: %d parts were accepted", name, len(parts))
		}
		c.Close()
	}
}

// Randomly changed conversations result in an error or in messages, never in a panic or in large allocations.
func TestDamagedConversations(t *testing.T) {
	rng := testseed.Rand(t)
	whole := slices.Concat(hello, frame(flagMore, []byte("sequence")), frame(flagMore, make([]byte, 41)), frame(0, make([]byte, 4)))
	for range 300 {
		damaged := slices.Clone(whole)
		for range 1 + rng.IntN(4) {
			damaged[rng.IntN(len(damaged))] = byte(rng.Uint32())
		}
		damaged = damaged[:rng.IntN(len(damaged)+1)]
		address, _ := publish(t, 64, damaged)
		c, err := Subscribe(t.Context(), "tcp", address, 1000, "x")
		if err != nil {
			continue
		}
		for err == nil {
			_, err = c.Receive()
		}
		c.Close()
	}
}
