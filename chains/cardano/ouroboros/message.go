package ouroboros

import "fmt"

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

// Messages of block-fetch: section 3.8.
const (
	msgRequestRange = iota
	_               // client done
	msgStartBatch
	msgNoBlocks
	msgBlock
	msgBatchDone
)

// Messages of keep-alive: section 3.10.
const (
	msgKeepAlive = iota
	msgKeepAliveResponse
)

// chainMessage is a message of chain-sync from a node.
type chainMessage struct {
	kind   uint64
	block  []byte // node-to-client: what is on its way
	era    byte   // node-to-node: the tag that the block will have
	header []byte
	weight int // bytes of the block, where the message tells
	point  Point
	tip    Tip
}

// readChain reads a message of chain-sync. Headers are of node-to-node, blocks of node-to-client.
func readChain(b []byte, headers bool) (m chainMessage, err error) {
	r := reader{b: b}
	length := r.array("message")
	m.kind = r.uint("kind of message")
	if r.err != nil {
		return m, r.err
	}
	items := 0
	switch m.kind {
	case msgAwaitReply:
		items = 1
	case msgRollForward:
		items = 3
		if headers {
			r.header(&m)
		} else {
			m.block = r.encoded("block")
		}
		m.tip = r.tip()
	case msgRollBackward, msgIntersectFound:
		items = 3
		m.point = r.point("point")
		m.tip = r.tip()
	case msgIntersectNotFound:
		items = 2
		m.tip = r.tip()
	default:
		return m, fmt.Errorf("messages of kind %d are not understood", m.kind)
	}
	return m, r.done(length, items)
}

// header is [era, #6.24(bytes)], in Byron [0, [[tag of the block, bytes of the block], #6.24(bytes)]].
func (r *reader) header(m *chainMessage) {
	const byron, latest = 0, 254
	whole := r.array("header", 2)
	era := r.uint("era")
	if era == byron {
		inner := r.array("header of Byron", 2)
		kind := r.array("kind of header", 2)
		tag := r.uint("kind of header")
		m.weight = int(min(r.uint("bytes of the block"), maxMessage))
		r.end(kind, "kind of header")
		m.header = r.encoded("header")
		r.end(inner, "header of Byron")
		if tag > 1 && r.err == nil {
			r.err = fmt.Errorf("blocks of Byron with the tag %d are not understood", tag)
		}
		m.era = byte(tag)
	} else {
		m.header = r.encoded("header")
		m.era = byte(min(era, latest)) + 1
	}
	r.end(whole, "header")
}

// point is [] or [slot, hash].
func (r *reader) point(what string) (p Point) {
	n := r.array(what, 0, 2)
	if n == 0 || n == -1 && r.atBreak() {
		r.end(n, what)
		return p
	}
	p.Slot = r.uint("slot")
	hash := r.bytes("hash")
	if r.err == nil && len(hash) != len(p.Hash) {
		r.err = fmt.Errorf("a hash has %d bytes, expected %d", len(hash), len(p.Hash))
	}
	copy(p.Hash[:], hash)
	r.end(n, what)
	return p
}

// tip is [point, number of the block].
func (r *reader) tip() (t Tip) {
	n := r.array("tip", 2)
	t.Point = r.point("point of the tip")
	t.Number = r.uint("block number of the tip")
	r.end(n, "tip")
	return t
}

// done closes the array of a message.
func (r *reader) done(length, items int) error {
	r.end(length, "message")
	switch {
	case r.err != nil:
		return r.err
	case length != -1 && length != items:
		return fmt.Errorf("the message has %d items, expected %d", length, items)
	case len(r.b) > 0:
		return fmt.Errorf("%d bytes follow", len(r.b))
	}
	return nil
}

// readFetch reads a message of block-fetch, and the block it carries.
func readFetch(b []byte) (kind uint64, block []byte, err error) {
	r := reader{b: b}
	length := r.array("message")
	kind = r.uint("kind of message")
	items := 1
	switch {
	case r.err != nil:
	case kind == msgBlock:
		items = 2
		block = r.encoded("block")
	case kind < msgStartBatch || kind > msgBatchDone:
		return kind, nil, fmt.Errorf("messages of kind %d are not understood", kind)
	}
	return kind, block, r.done(length, items)
}

// requestNext is n requests, one behind the other.
func requestNext(n int) []byte {
	b := make([]byte, 0, 2*n)
	for range n {
		b = append(b, majorArray<<5|1, msgRequestNext)
	}
	return b
}

func findIntersect(points []Point) []byte {
	b := append(appendHead(nil, majorArray, 2), msgFindIntersect)
	b = appendHead(b, majorArray, uint64(len(points)))
	for _, p := range points {
		b = appendPoint(b, p)
	}
	return b
}

func requestRange(from, to Point) []byte {
	b := append(appendHead(nil, majorArray, 3), msgRequestRange)
	return appendPoint(appendPoint(b, from), to)
}

func keepAlive(cookie uint16) []byte {
	b := append(appendHead(nil, majorArray, 2), msgKeepAlive)
	return appendHead(b, majorUint, uint64(cookie))
}

// readKeepAlive is the cookie that came back.
func readKeepAlive(b []byte) (uint16, error) {
	r := reader{b: b}
	length := r.array("message")
	if kind := r.uint("kind of message"); r.err == nil && kind != msgKeepAliveResponse {
		return 0, fmt.Errorf("messages of kind %d are not understood", kind)
	}
	cookie := r.uint("cookie")
	return uint16(cookie), r.done(length, 2)
}

func appendPoint(b []byte, p Point) []byte {
	if p.IsOrigin() {
		return appendHead(b, majorArray, 0)
	}
	b = appendHead(appendHead(b, majorArray, 2), majorUint, p.Slot)
	return append(appendHead(b, majorBytes, uint64(len(p.Hash))), p.Hash[:]...)
}
