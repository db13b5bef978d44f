package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
)

// socket is a connection from which btcd reads messages. It removes messages with blocks from the data that btcd reads,
// since btcd can only read blocks of Bitcoin. It records whether the connection broke, since the errors of btcd do not
// distinguish a broken connection from a truncated message.
//
// A failed write closes the connection and returns no error, so that the goroutine of a btcd peer that reads ends
// first. If another goroutine ends the peer, the reading one can wait forever to deliver its last message.
type socket struct {
	net.Conn
	broken atomic.Bool

	magic    wire.BitcoinNet
	maxBlock int                         // bytes
	arrived  atomic.Int64                // when the last MiB of a block arrived, in Unix nanoseconds
	onBlock  func(raw []byte, err error) // called by Read for each block; err reports an invalid message
	// permit is called by Read for a large block, before it is read: an error ends the connection. head is its header.
	permit func(head []byte, size int64) error
	held   *block.Held // the memory of large blocks

	header []byte // the part of the header of a message that btcd has not read yet
	rest   uint32 // number of bytes after the header that btcd has not read yet
	other  bool   // the peer uses another protocol, which btcd reports
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
	size, command := uint64(binary.LittleEndian.Uint32(h[16:])), commandOf(h[4:])
	extended := binary.LittleEndian.Uint32(h) == uint32(s.magic) && command == extendedMessage
	if extended {
		more := make([]byte, extendedHeader)
		if _, err := io.ReadFull(s.Conn, more); err != nil {
			return err
		}
		size, command = binary.LittleEndian.Uint64(more[wire.CommandSize:]), commandOf(more)
		if command != wire.CmdBlock {
			return fmt.Errorf("an extended message %q of %d bytes: only blocks are expected to be that large", command, size)
		}
	}
	switch {
	case binary.LittleEndian.Uint32(h) != uint32(s.magic):
		s.header, s.other = h, true
		return nil
	case command != wire.CmdBlock:
		s.header, s.rest = h, uint32(size)
		return nil
	case size > uint64(s.maxBlock):
		s.onBlock(nil, fmt.Errorf("a block of %d bytes: expected at most %d", size, s.maxBlock))
		return nil
	}
	raw, err := s.readBlock(int(size))
	if err != nil {
		return err
	}
	if sum := chainhash.DoubleHashB(raw); !extended && !bytes.Equal(sum[:4], h[20:]) {
		s.onBlock(nil, errors.New("a block with an invalid checksum"))
		return nil
	}
	s.onBlock(raw, nil)
	return nil
}

// A message of 4 GiB or more is announced as extendedMessage. A second header of extendedHeader bytes has its command and
// its length; there is no checksum (protocol.h of the node of BSV).
const (
	extendedMessage = "extmsg"
	extendedHeader  = wire.CommandSize + 8
)

// commandOf returns the command at the start of b.
func commandOf(b []byte) string { return string(bytes.TrimRight(b[:wire.CommandSize], "\x00")) }

// readBlock reads a block of size bytes. Of its size, it allocates at most 4 MiB, or 16 times the bytes that have arrived;
// a large one that is permitted is allocated at once, since only its written pages need memory.
func (s *socket) readBlock(size int) ([]byte, error) {
	var b block.Buffer
	err := s.readTo(&b, min(size, block.HeaderSize))
	if err == nil && size > block.Large {
		if err = s.permit(b.Bytes, int64(size)); err == nil {
			b.Grow(size - len(b.Bytes))
		}
	}
	for most := 4 << 20; err == nil && len(b.Bytes) < size; most *= 16 {
		err = s.readTo(&b, min(size, most))
	}
	if err != nil {
		b.Free()
		return nil, err
	}
	return s.held.Bytes(&b), nil
}

// readTo reads until b has size bytes.
func (s *socket) readTo(b *block.Buffer, size int) error {
	b.Grow(size - len(b.Bytes))
	for len(b.Bytes) < size {
		rest := b.Bytes[len(b.Bytes):size]
		n, err := io.ReadFull(s.Conn, rest[:min(len(rest), 1<<20)])
		if err != nil {
			return err
		}
		if b.Bytes = b.Bytes[:len(b.Bytes)+n]; n == 1<<20 {
			s.arrived.Store(time.Now().UnixNano())
		}
	}
	return nil
}

func (s *socket) Write(b []byte) (int, error) {
	if _, err := s.Conn.Write(b); err != nil {
		_ = s.Close()
	}
	return len(b), nil
}
