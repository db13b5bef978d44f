package ouroboros

import "birthmark/chains/cardano/cbor"

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
	w := cbor.Walker{Data: b}
	items := w.Array("message")
	w.Field(&items, "kind of message")
	m.kind = w.Uint("kind of message")
	switch m.kind {
	case msgAwaitReply:
	case msgRollForward:
		if w.Field(&items, "block"); headers {
			readHeader(&w, &m)
		} else {
			m.block = w.Encoded("block")
		}
		m.tip = readTip(&w, &items)
	case msgRollBackward, msgIntersectFound:
		w.Field(&items, "point")
		m.point = readPoint(&w, "point")
		m.tip = readTip(&w, &items)
	case msgIntersectNotFound:
		m.tip = readTip(&w, &items)
	default:
		w.Fail("messages of kind %d are not understood", m.kind)
	}
	return m, done(&w, &items)
}

// readHeader takes [era, #6.24(bytes)], in Byron [0, [[tag of the block, bytes of the block], #6.24(bytes)]].
func readHeader(w *cbor.Walker, m *chainMessage) {
	const byron, latest = 0, 254
	items := w.Array("header")
	w.Field(&items, "era")
	era := w.Uint("era")
	w.Field(&items, "header")
	if era == byron {
		inner := w.Array("header of Byron")
		w.Field(&inner, "kind of header")
		kind := w.Array("kind of header")
		w.Field(&kind, "kind of header")
		tag := w.Uint("kind of header")
		w.Field(&kind, "size of the block")
		m.weight = int(min(w.Uint("size of the block"), maxMessage))
		w.End(&kind, "kind of header")
		w.Field(&inner, "header")
		m.header = w.Encoded("header")
		w.End(&inner, "header of Byron")
		if tag > 1 {
			w.Fail("blocks of Byron with the tag %d are not understood", tag)
		}
		m.era = byte(tag)
	} else {
		m.header = w.Encoded("header")
		m.era = byte(min(era, latest)) + 1
	}
	w.End(&items, "header")
}

// readPoint takes [] or [slot, hash].
func readPoint(w *cbor.Walker, what string) (p Point) {
	items := w.Array(what)
	if !w.More(&items) {
		return p
	}
	p.Slot = w.Uint("slot")
	w.Field(&items, "hash")
	p.Hash = w.Hash("hash")
	w.End(&items, what)
	return p
}

// readTip takes the next item of a message, [point, number of the block].
func readTip(w *cbor.Walker, items *int) (t Tip) {
	w.Field(items, "tip")
	pair := w.Array("tip")
	w.Field(&pair, "point of the tip")
	t.Point = readPoint(w, "point of the tip")
	w.Field(&pair, "block number of the tip")
	t.Number = w.Uint("block number of the tip")
	w.End(&pair, "tip")
	return t
}

// done closes the array of a message, after which nothing may follow.
func done(w *cbor.Walker, items *int) error {
	w.End(items, "message")
	if w.Err == nil && w.Offset < len(w.Data) {
		w.Fail("%d bytes follow", len(w.Data)-w.Offset)
	}
	return w.Err
}

// readFetch reads a message of block-fetch, and the block it carries.
func readFetch(b []byte) (kind uint64, block []byte, err error) {
	w := cbor.Walker{Data: b}
	items := w.Array("message")
	w.Field(&items, "kind of message")
	kind = w.Uint("kind of message")
	switch {
	case kind == msgBlock:
		w.Field(&items, "block")
		block = w.Encoded("block")
	case kind < msgStartBatch || kind > msgBatchDone:
		w.Fail("messages of kind %d are not understood", kind)
	}
	return kind, block, done(&w, &items)
}

// requestNext is n requests, one behind the other.
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

func requestRange(from, to Point) []byte {
	b := append(cbor.AppendHead(nil, cbor.Array, 3), msgRequestRange)
	return appendPoint(appendPoint(b, from), to)
}

func keepAlive(cookie uint16) []byte {
	b := append(cbor.AppendHead(nil, cbor.Array, 2), msgKeepAlive)
	return cbor.AppendUint(b, uint64(cookie))
}

// readKeepAlive is the cookie that came back.
func readKeepAlive(b []byte) (uint16, error) {
	w := cbor.Walker{Data: b}
	items := w.Array("message")
	w.Field(&items, "kind of message")
	if kind := w.Uint("kind of message"); kind != msgKeepAliveResponse {
		w.Fail("messages of kind %d are not understood", kind)
	}
	w.Field(&items, "cookie")
	cookie := w.Uint("cookie")
	return uint16(cookie), done(&w, &items)
}

func appendPoint(b []byte, p Point) []byte {
	if p.IsOrigin() {
		return cbor.AppendHead(b, cbor.Array, 0)
	}
	b = cbor.AppendUint(cbor.AppendHead(b, cbor.Array, 2), p.Slot)
	return cbor.AppendBytes(b, p.Hash[:])
}
