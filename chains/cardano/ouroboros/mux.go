package ouroboros

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/blinklabs-io/gouroboros/muxer"

	"birthmark/chains/cardano/cbor"
)

// Numbers of the protocols on a connection.
const (
	chainSyncToNode   = 2
	blockFetchToNode  = 3
	chainSyncToClient = 5
	keepAliveToNode   = 8
)

// link is a connection after its handshake, with a channel of segments each way per protocol.
type link struct {
	mux           *muxer.Muxer
	closed        chan bool // when the multiplexer stops
	handshakeDone <-chan struct{}
}

// segment is a piece of the data of a protocol: any number of messages, or a part of one.
type segment = *muxer.Segment

// inbox is one protocol of a link.
type inbox struct {
	c        *Conn
	id       uint16
	name     string
	sendChan chan<- segment
	recvChan <-chan segment
	buffer   []byte // the beginning of a message
	need     int    // bytes it has at least
	skip     cbor.Skipper
	most     int // bytes of a message
}

func (c *Conn) register(id uint16, name string) *inbox {
	m := &inbox{c: c, id: id, name: name, most: maxMessage}
	m.sendChan, m.recvChan, c.closed = c.mux.RegisterProtocol(id, muxer.ProtocolRoleInitiator)
	return m
}

// send sends messages.
func (m *inbox) send(ctx context.Context, messages []byte) error {
	if m.sendChan == nil {
		return m.c.disconnected()
	}
	for piece := range slices.Chunk(messages, muxer.SegmentMaxPayloadLength) {
		select {
		case m.sendChan <- muxer.NewSegment(m.id, piece, false):
		case <-m.c.closed:
			return m.c.disconnected()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// answer waits for the only message that is outstanding; to is the request in errors. timeout 0: without a limit.
func (m *inbox) answer(ctx context.Context, to string, timeout time.Duration) (message []byte, err error) {
	var late <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		late = t.C
	}
	for message == nil {
		select {
		case s, ok := <-m.recvChan:
			if !ok {
				return nil, m.c.disconnected()
			}
			err = m.receive(s.Payload, func(raw []byte) error {
				if message != nil {
					return m.c.malformed(m, errors.New("another message before the next request"))
				}
				message = raw
				return nil
			})
			if err != nil {
				return nil, err
			}
		case <-late:
			return nil, m.c.timedOut(to)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return message, nil
}

// receive calls f with each message that a segment completes. The bytes of a message do not change afterwards.
func (m *inbox) receive(segment []byte, f func(message []byte) error) error {
	b := segment
	if len(m.buffer) > 0 {
		if cap(m.buffer)-len(m.buffer) < len(segment) {
			grown := make([]byte, len(m.buffer), max(2*len(m.buffer), m.need)+len(segment))
			copy(grown, m.buffer)
			m.buffer = grown
		}
		m.buffer = append(m.buffer, segment...)
		b = m.buffer
		if len(b) < m.need {
			return nil
		}
	}
	for len(b) > 0 {
		size, err := messageSize(&m.skip, b, m.most)
		if err == cbor.ErrShort {
			m.need = size
			break
		}
		if err != nil {
			return m.c.malformed(m, err)
		}
		if err := f(b[:size:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	m.buffer = b // data is appended to it, and never overwrites messages
	return nil
}

// maxMessage bounds the bytes of a message. A block has at most 2 MB, in Byron.
const maxMessage = 4 << 20

// maxState bounds the bytes of a result of local-state-query. All DReps of mainnet with their delegators have about 20 MB.
const maxState = 128 << 20

var errTooLarge = errors.New("it is too large")

// messageSize is [cbor.Skipper.Skip] for messages. It returns errTooLarge if the message has more than most bytes.
func messageSize(s *cbor.Skipper, b []byte, most int) (size int, err error) {
	if size, err = s.Skip(b); size > most {
		err = fmt.Errorf("%w: more than %d bytes", errTooLarge, most)
	}
	return size, err
}
