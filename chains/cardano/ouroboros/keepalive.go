package ouroboros

import "birthmark/chains/cardano/cbor"

func (s *stream) handleKeepAlive(raw []byte) error {
	cookie, err := readKeepAlive(raw)
	if err != nil {
		return s.malformed(s.alive, err)
	}
	if !s.keepAlivePending || cookie != s.cookie {
		return s.unexpected(s.alive, msgKeepAliveResponse)
	}
	s.keepAlivePending = false
	return nil
}

// Messages of keep-alive: section 3.10.
const (
	msgKeepAlive = iota
	msgKeepAliveResponse
)

func keepAlive(cookie uint16) []byte {
	b := append(cbor.AppendHead(nil, cbor.Array, 2), msgKeepAlive)
	return cbor.AppendUint(b, uint64(cookie))
}

// readKeepAlive returns the cookie of an answer.
func readKeepAlive(b []byte) (uint16, error) {
	w := cbor.Walker{Data: b}
	fields := w.Fields("message")
	if kind := fields.Uint("kind of message"); kind != msgKeepAliveResponse {
		w.Fail("unknown message of kind %d", kind)
	}
	cookie := fields.Uint("cookie")
	return uint16(cookie), done(&w, &fields)
}
