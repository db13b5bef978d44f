package ouroborostest

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	ouroboros "github.com/blinklabs-io/gouroboros"
	"github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/protocol/blockfetch"
	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
)

const magic = 42

// soon is the timeout of anything that normally takes milliseconds.
const soon = 10 * time.Minute

var sides = map[string]bool{"node to node": true, "node to client": false}

// made returns blocks with the parts that the protocols read: a header with number and slot, and a body. Two chains
// with different salts have no block in common.
func made(t testing.TB, kind uint, first, count int, salt string) []Block {
	t.Helper()
	raw := make([][]byte, count)
	for i := range raw {
		number := first + i
		parent, zeros := [32]byte{}, [32]byte{}
		copy(parent[:], salt)
		var header any
		switch kind {
		case ledger.BlockTypeByronEbb:
			header = []any{magic, parent, "proof", []any{number, []any{number}}, "extra"}
		case ledger.BlockTypeByronMain:
			extra := []any{[]any{1, 0, 0}, []any{"node", 1}, "attributes", zeros}
			header = []any{magic, parent, "proof", []any{[]any{2, number}, zeros[:], []any{number}, []any{}}, extra}
		default:
			vrf, certificate := []any{zeros[:], zeros[:]}, []any{zeros[:], 1, 2, zeros[:]}
			body := []any{number, 20 * number, parent, zeros, zeros[:], vrf, 1, zeros, certificate, []any{9, 0}}
			header = []any{body, zeros[:]}
		}
		var err error
		raw[i], err = cbor.Encode([]any{kind, []any{header, fmt.Sprint("body ", number, " ", salt)}})
		if err != nil {
			t.Fatal(err)
		}
	}
	blocks, err := Blocks(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// client is gouroboros' client with a log of the messages it receives.
type client struct {
	*ouroboros.Connection
	failed chan error
	told   chan string

	mu   sync.Mutex
	read bytes.Buffer // all bytes received
}

// recorder is the client's connection.
type recorder struct {
	net.Conn
	*client
}

func (r recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read.Write(p[:n])
	return n, err
}

// Close resolves the ambiguity of two embedded types.
func (r recorder) Close() error { return r.Conn.Close() }

func (c *client) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read.String()
}

// connect connects a client to one side of a node.
func connect(t testing.TB, n *Node, toNode bool) (*client, error) {
	t.Helper()
	c := &client{failed: make(chan error, 10), told: make(chan string, 1000)}
	tell := func(format string, args ...any) error {
		c.told <- fmt.Sprintf(format, args...)
		return nil
	}
	conn, err := dial(n, toNode)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { conn.Close() })
	c.Connection, err = ouroboros.NewConnection(
		ouroboros.WithConnection(recorder{conn, c}),
		ouroboros.WithNetworkMagic(magic),
		ouroboros.WithNodeToNode(toNode),
		ouroboros.WithErrorChan(c.failed),
		ouroboros.WithChainSyncConfig(chainsync.NewConfig(
			chainsync.WithRollBackwardFunc(func(_ chainsync.CallbackContext, p pcommon.Point, tip chainsync.Tip) error {
				return tell("back to %d of %d", p.Slot, tip.BlockNumber)
			}),
			chainsync.WithRollForwardRawFunc(func(_ chainsync.CallbackContext, kind uint, raw []byte, tip chainsync.Tip) error {
				return tell("type %d: %s", kind, text(raw))
			}))),
		ouroboros.WithBlockFetchConfig(blockfetch.Config{
			BlockRawFunc: func(_ blockfetch.CallbackContext, kind uint, raw []byte) error {
				return tell("type %d: %s", kind, text(raw))
			},
			BatchDoneFunc: func(blockfetch.CallbackContext) error { return tell("done") },
		}))
	return c, err
}

func dial(n *Node, toNode bool) (net.Conn, error) {
	if toNode {
		return net.Dial("tcp", strings.TrimPrefix(n.TCP(), "tcp://"))
	}
	return net.Dial("unix", strings.TrimPrefix(n.Unix(), "unix://"))
}

// connected is a connected client.
func connected(t testing.TB, n *Node, toNode bool) *client {
	t.Helper()
	c, err := connect(t, n, toNode)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// text returns number, slot and salt of a header made above, or the body of a block.
func text(raw []byte) string {
	var all []any
	if _, err := cbor.Decode(raw, &all); err != nil {
		return err.Error()
	}
	if body, ok := all[len(all)-1].(string); ok && strings.HasPrefix(body, "body") {
		return body
	}
	if fields, ok := all[0].([]any); ok {
		return fmt.Sprintf("[%v %v %s]", fields[0], fields[1], bytes.TrimRight(fields[2].([]byte), "\x00"))
	}
	return fmt.Sprint(all[3])
}

// hears checks that this is the client's next message.
func (c *client) hears(t testing.TB, expected ...string) {
	t.Helper()
	for _, e := range expected {
		select {
		case got := <-c.told:
			if got != e {
				t.Fatalf("received %q, expected %q", got, e)
			}
		case err := <-c.failed:
			t.Fatalf("the connection ended, expected %q: %v", e, err)
		case <-time.After(soon):
			t.Fatalf("received nothing, expected %q", e)
		}
	}
}

// isCutOff checks that the connection ends, and returns the messages before that.
func (c *client) isCutOff(t testing.TB) (told []string) {
	t.Helper()
	for late := time.After(soon); ; {
		select {
		case s := <-c.told:
			told = append(told, s)
		case _, open := <-c.failed:
			if open {
				continue
			}
			for len(c.told) > 0 {
				told = append(told, <-c.told)
			}
			return told
		case <-late:
			t.Fatal("the connection is still open")
		}
	}
}
