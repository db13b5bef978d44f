package ouroboros

import (
	"time"

	"birthmark/chains/cardano/cbor"
)

// Limits of chain-sync requests without an answer. Nodes request 200 to 300 headers from each other.
const (
	headersAhead = 300
	blocksAhead  = 100  // over a Unix socket
	maxHeaders   = 5000 // whose blocks are not requested yet
)

// chainSyncRoom returns how many chain-sync requests to send.
func (s *stream) chainSyncRoom() int {
	if s.waiting || s.outstanding > s.maxOutstanding*2/3 {
		return 0
	}
	n := s.maxOutstanding - s.outstanding
	if s.blocksLeft >= 0 {
		n = min(n, s.blocksLeft-s.outstanding)
	}
	if s.headers {
		n = min(n, maxHeaders-s.unrequested()-s.outstanding)
	}
	return n
}

func (s *stream) handleChainSync(raw []byte) error {
	m, err := readChain(raw, s.headers)
	if err != nil {
		return s.malformed(s.chain, err)
	}
	if s.outstanding == 0 {
		return s.unexpected(s.chain, m.kind)
	}
	s.lastAnswer = time.Now()
	if m.kind == msgAwaitReply {
		if s.waiting {
			return s.unexpected(s.chain, m.kind)
		}
		s.waiting = true
		s.addEvent(Event{Kind: Waiting, Tip: s.tip})
		return nil
	}
	s.outstanding--
	s.waiting, s.tip = false, m.tip
	switch m.kind {
	case msgRollForward:
		s.blocksLeft = max(s.blocksLeft-1, -1)
		if !s.headers {
			s.lastKnown = false
			s.emit(Event{Kind: Forward, Block: m.block, Tip: m.tip})
			return nil
		}
		h, err := s.o.Describe(m.era, m.header)
		if err != nil {
			return err
		}
		h.Size = max(h.Size, m.weight)
		s.addHeader(h, m.tip)
		return nil
	case msgRollBackward:
		s.addEvent(Event{Kind: Backward, Point: m.point, Tip: m.tip})
		return nil
	}
	return s.unexpected(s.chain, m.kind)
}

// Messages of chain-sync, [kind, …]: Ouroboros network specification, section 3.7, and its CDDL.
const (
	msgRequestNext = iota
	msgAwaitReply
	msgRollForward
	msgRollBackward
	msgFindIntersect
	msgIntersectFound
	msgIntersectNotFound
)

// chainMessage is a message of chain-sync from a node.
type chainMessage struct {
	kind   uint64
	block  []byte // node-to-client
	era    byte   // node-to-node: the tag that the block will have
	header []byte
	weight int // bytes of the block; 0: unknown
	point  Point
	tip    Tip
}

// readChain reads a message of chain-sync. headers: node-to-node, which has headers in place of blocks.
func readChain(b []byte, headers bool) (m chainMessage, err error) {
	w := cbor.Walker{Data: b}
	fields := w.Fields("message")
	m.kind = fields.Uint("kind of message")
	switch m.kind {
	case msgAwaitReply:
	case msgRollForward:
		if headers {
			readHeader(&w, &fields, &m)
		} else {
			m.block = fields.Encoded("block")
		}
		m.tip = readTip(&fields)
	case msgRollBackward, msgIntersectFound:
		m.point = readPoint(&fields, "point")
		m.tip = readTip(&fields)
	case msgIntersectNotFound:
		m.tip = readTip(&fields)
	default:
		w.Fail("unknown message of kind %d", m.kind)
	}
	return m, done(&w, &fields)
}

// readHeader reads [era, #6.24(bytes)], in Byron [0, [[tag of the block, bytes of the block], #6.24(bytes)]].
func readHeader(w *cbor.Walker, message *cbor.Fields, m *chainMessage) {
	const byron, latest = 0, 254
	fields := message.Fields("header")
	if era := fields.Uint("era"); era == byron {
		inner := fields.Fields("header of Byron")
		kind := inner.Fields("kind of header")
		tag := kind.Uint("kind of header")
		m.weight = int(min(kind.Uint("size of the block"), maxMessage))
		kind.End()
		m.header = inner.Encoded("header")
		inner.End()
		if tag > 1 {
			w.Fail("unknown tag %d of a Byron block", tag)
		}
		m.era = byte(tag)
	} else {
		m.header = fields.Encoded("header")
		m.era = byte(min(era, latest)) + 1
	}
	fields.End()
}

// readPoint reads [] or [slot, hash].
func readPoint(in *cbor.Fields, what string) (p Point) {
	fields := in.Fields(what)
	if !fields.IsEmpty() {
		p.Slot = fields.Uint("slot")
		p.Hash = fields.Hash("hash")
	}
	fields.End()
	return p
}

// readTip reads the next item of a message, [point, number of the block].
func readTip(message *cbor.Fields) (t Tip) {
	fields := message.Fields("tip")
	t.Point = readPoint(&fields, "point of the tip")
	t.Number = fields.Uint("block number of the tip")
	fields.End()
	return t
}

// done closes the array of a message, after which nothing may follow.
func done(w *cbor.Walker, fields *cbor.Fields) error {
	fields.End()
	if w.Err == nil && w.Offset < len(w.Data) {
		w.Fail("%d bytes follow", len(w.Data)-w.Offset)
	}
	return w.Err
}

// requestNext returns n requests.
func requestNext(n int) []byte {
	b := make([]byte, 0, 2*n)
	for range n {
		b = append(b, cbor.Array<<5|1, msgRequestNext)
	}
	return b
}

func findIntersect(points []Point) []byte {
	b := append(cbor.AppendHead(nil, cbor.Array, 2), msgFindIntersect)
	b = cbor.AppendHead(b, cbor.Array, uint64(len(points)))
	for _, p := range points {
		b = appendPoint(b, p)
	}
	return b
}

func appendPoint(b []byte, p Point) []byte {
	if p.IsOrigin() {
		return cbor.AppendHead(b, cbor.Array, 0)
	}
	b = cbor.AppendUint(cbor.AppendHead(b, cbor.Array, 2), p.Slot)
	return cbor.AppendBytes(b, p.Hash[:])
}
