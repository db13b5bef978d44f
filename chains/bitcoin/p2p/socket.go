package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// socket is a connection that takes the blocks out of what btcd reads, since btcd reads only those of Bitcoin. It records
// whether it broke: btcd's errors do not distinguish this from a truncated message.
//
// A failed write closes it and returns no error, so that the reading goroutine notices first. If another goroutine of a
// btcd peer ends it, the reader can wait forever to deliver its last message.
type socket struct {
	net.Conn
	broken atomic.Bool

	magic    wire.BitcoinNet
	maxBlock int                         // bytes
	onBlock  func(raw []byte, err error) // called by Read; the error is the peer's fault

	header []byte // of a message, not yet read by btcd
	rest   uint32 // bytes of that message after it
	other  bool   // messages of another protocol, which btcd reports
}

// messageHeader is the size in bytes of the magic, command, length and checksum before a message.
const messageHeader = 4 + wire.CommandSize + 4 + 4

func (s *socket) Read(b []byte) (n int, err error) {
	for len(s.header) == 0 && s.rest == 0 && !s.other && err == nil {
		err = s.next()
	}
	switch {
	case err != nil:
	case len(s.header) > 0:
		n = copy(b, s.header)
		s.header = s.header[n:]
	case s.other:
		n, err = s.Conn.Read(b)
	default:
		n, err = s.Conn.Read(b[:min(len(b), int(s.rest))])
		s.rest -= uint32(n)
	}
	if err != nil {
		s.broken.Store(true)
	}
	return n, err
}

// next reads the header of a message, and the message if it is a block.
func (s *socket) next() error {
	h := make([]byte, messageHeader)
	if _, err := io.ReadFull(s.Conn, h); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(h[16:])
	switch {
	case binary.LittleEndian.Uint32(h) != uint32(s.magic):
		s.header, s.other = h, true
		return nil
	case string(bytes.TrimRight(h[4:4+wire.CommandSize], "\x00")) != wire.CmdBlock:
		s.header, s.rest = h, size
		return nil
	case int64(size) > int64(s.maxBlock):
		s.onBlock(nil, fmt.Errorf("a block of %d bytes: expected at most %d", size, s.maxBlock))
		return nil
	}
	var raw bytes.Buffer
	const most = 4 << 20 // before they arrive
	raw.Grow(min(int(size), most) + bytes.MinRead)
	if _, err := io.CopyN(&raw, s.Conn, int64(size)); err != nil {
		return err
	}
	if sum := chainhash.DoubleHashB(raw.Bytes()); !bytes.Equal(sum[:4], h[20:]) {
		s.onBlock(nil, errors.New("a block whose checksum is wrong"))
		return nil
	}
	s.onBlock(raw.Bytes(), nil)
	return nil
}

func (s *socket) Write(b []byte) (int, error) {
	if _, err := s.Conn.Write(b); err != nil {
		_ = s.Close()
	}
	return len(b), nil
}
