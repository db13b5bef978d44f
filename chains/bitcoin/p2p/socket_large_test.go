package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// stream is a connection of which only the data are read.
type stream struct {
	net.Conn
	bytes.Reader
}

func (s *stream) Read(b []byte) (int, error) { return s.Reader.Read(b) }

// extendedOf returns a message with the extended header of BSV: its checksum is zero.
func extendedOf(command string, size uint64, payload []byte) []byte {
	field := func(text string) []byte { return append([]byte(text), make([]byte, wire.CommandSize-len(text))...) }
	b := binary.LittleEndian.AppendUint32(nil, uint32(wire.MainNet))
	b = append(b, field(extendedMessage)...)
	b = binary.LittleEndian.AppendUint32(b, 0xffffffff)
	b = append(append(b, 0, 0, 0, 0), field(command)...)
	return append(binary.LittleEndian.AppendUint64(b, size), payload...)
}

// A block with an extended header is read like any other. One that is too large is an invalid block, and another command
// ends the connection.
func TestExtendedMessages(t *testing.T) {
	payload := bytes.Repeat([]byte("block"), 1000)
	for name, c := range map[string]struct {
		message []byte
		block   []byte
		fault   string // of the block
		err     string
	}{
		"a block":         {extendedOf(wire.CmdBlock, uint64(len(payload)), payload), payload, "", "EOF"},
		"a large block":   {extendedOf(wire.CmdBlock, 1<<33, nil), nil, "8589934592 bytes", "EOF"},
		"a truncated one": {extendedOf(wire.CmdBlock, uint64(len(payload))+1, payload), nil, "", "EOF"},
		"another command": {extendedOf(wire.CmdTx, 1<<33, nil), nil, "", "an extended message \"tx\""},
	} {
		t.Run(name, func(t *testing.T) {
			conn := &stream{}
			conn.Reset(c.message)
			var got []byte
			var fault error
			s := &socket{Conn: conn, magic: wire.MainNet, maxBlock: 1 << 32, onBlock: func(raw []byte, err error) { got, fault = raw, err }}
			_, err := s.Read(make([]byte, 100))
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, expected %s", err, c.err)
			}
			if !bytes.Equal(got, c.block) {
				t.Errorf("a block of %d bytes, expected %d", len(got), len(c.block))
			}
			if (fault == nil) != (c.fault == "") || fault != nil && !strings.Contains(fault.Error(), c.fault) {
				t.Errorf("the block is refused with %v, expected %s", fault, c.fault)
			}
		})
	}
}

// A large block that was not requested is not read: its peer is dropped after the header of the block.
func TestUnrequestedLargeBlocksAreNotRead(t *testing.T) {
	c := spending(30)
	good, bad := newFake(t, c.Blocks()), newFake(t, c.Blocks())
	bad.claims = good.chainHeight() + 100 // so that it is used first
	const size = block.Large + 1
	bad.on = after(func(s *session) {
		m := message("block", bitcointest.Bytes(bitcointest.NewChain().Tip())[:block.HeaderSize])
		binary.LittleEndian.PutUint32(m[16:], size)
		_ = s.sendRaw(m) // nothing follows
	})
	format := block.Bitcoin
	format.MaxSize = 2 * size
	n, j := open(t, nil, func(o *Options) { o.Format = &format }, good, bad)
	until(t, "the peer to be dropped", func() bool {
		return j.line("level=WARN", bad.address, fmt.Sprintf("unrequested block of %d bytes", size)) != ""
	})
	download(t, n, c.Blocks())
}

// The only peer is connected again at once after it sent a large block that was not read, whatever the pause before
// retries. Until then other calls wait for it, and the refusal is not a failure of the peer.
func TestPeersOfLargeBlocksAreConnectedAgain(t *testing.T) {
	c := spending(30)
	f := newFake(t, c.Blocks())
	const size, large, times = block.Large + 1, 7, failures + 2
	hash := c.Blocks()[large].BlockHash()
	sent := 0
	f.on = func(s *session, m wire.Message) bool {
		get, ok := m.(*wire.MsgGetData)
		if !ok || !slices.ContainsFunc(get.InvList, func(v *wire.InvVect) bool { return v.Hash == hash }) || sent >= times {
			return false
		}
		sent++
		m2 := message("block", bitcointest.Bytes(c.Blocks()[large])[:block.HeaderSize])
		binary.LittleEndian.PutUint32(m2[16:], size)
		_ = s.sendRaw(m2) // nothing follows
		return true
	}
	format := block.Bitcoin
	format.MaxSize = 2 * size
	n, _ := open(t, nil, func(o *Options) { o.Format, o.First, o.Most = &format, time.Hour, time.Hour }, f)
	tipOf(t, n)
	points := []model.Point{pointOf(large, c.Blocks()[large])}
	for range times {
		_, err := n.Raw(t.Context(), points, 1<<20)
		if large, ok := errors.AsType[*blocksource.LargeBlock](err); !ok || large.Size != size {
			t.Fatalf("%v", err)
		}
		if _, err := n.Hashes(t.Context(), 0, 10); err != nil {
			t.Fatal(err)
		}
	}
	download(t, n, c.Blocks())
}
