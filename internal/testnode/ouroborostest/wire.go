package ouroborostest

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync/atomic"

	"github.com/blinklabs-io/gouroboros/protocol"
	"github.com/blinklabs-io/gouroboros/protocol/localtxmonitor"
)

// frameHead is the size of a frame header of the multiplexer: time u32, protocol u16, length u16.
const frameHead = 8

// wire is a connection that can inject faults.
type wire struct {
	net.Conn
	node   *Node
	unread []byte      // bytes to read again
	cut    atomic.Bool // cut in the next frame
	due    atomic.Bool // cut in the next block message
	silent atomic.Bool

	in       []byte      // the frame that is being read, as far as it was
	released atomic.Bool // the client released its snapshot of the mempool; gouroboros does not report this
	ended    atomic.Bool // the client disconnected
}

// sendBlock sends a block message, and waits until it is written if wait is set.
func (w *wire) sendBlock(p *protocol.Protocol, msg protocol.Message, wait bool) error {
	w.cutIfDue()
	if w.node.lastBeforeCut() {
		w.due.Store(true)
	}
	if wait || w.due.Load() { // flushes everything before the cut, so that nothing else is lost with it
		return p.SendMessageAndWait(msg)
	}
	return p.SendMessage(msg)
}

func (w *wire) cutIfDue() {
	if w.due.Load() {
		w.cut.Store(true)
	}
}

func (w *wire) Read(p []byte) (n int, err error) {
	if len(w.unread) > 0 {
		n = copy(p, w.unread)
		w.unread = w.unread[n:]
	} else if n, err = w.Conn.Read(p); err != nil {
		w.ended.Store(true)
		w.node.wake()
	}
	w.observe(p[:n])
	return n, err
}

// observe looks for the message of local-tx-monitor that releases a snapshot.
func (w *wire) observe(p []byte) {
	for w.in = append(w.in, p...); len(w.in) >= frameHead; {
		size := frameHead + int(binary.BigEndian.Uint16(w.in[frameHead-2:]))
		if len(w.in) < size {
			return
		}
		if binary.BigEndian.Uint16(w.in[4:]) == localtxmonitor.ProtocolId && bytes.Contains(w.in[frameHead:size], []byte{0x81, localtxmonitor.MessageTypeRelease}) {
			w.released.Store(true)
		}
		w.in = w.in[size:]
	}
}

// Write receives whole frames, one at a time.
func (w *wire) Write(p []byte) (int, error) {
	f := w.node.fault()
	sent := p
	switch {
	case w.cut.Load():
		_, _ = w.Conn.Write(p[:len(p)/2])
		w.Conn.Close()
		return 0, net.ErrClosed
	case f.Silent || w.silent.Load():
		w.silent.Store(true) // dropped bytes cannot be sent later
		return len(p), nil
	case f.Garbage:
		defer w.Conn.Close()
		sent = []byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request")
	case f.Scrambled:
		sent = append(bytes.Clone(p[:frameHead]), bytes.Repeat([]byte{0xff}, len(p)-frameHead)...)
	}
	if _, err := w.Conn.Write(sent); err != nil {
		return 0, err
	}
	return len(p), nil
}
