package mempool

import (
	"context"
	"encoding/binary"
	"iter"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"time"

	"birthmark/chains/bitcoin/zmtp"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Topics of Core's notifications, and the names of their publishers in getzmqnotifications.
const (
	topicSequence     = "sequence"
	topicRawTx        = "rawtx"
	publisherSequence = "pubsequence"
	publisherRawTx    = "pubrawtx"
)

// rawTxs is how many of the newest transactions are kept until their event comes, which is published right after them.
const rawTxs = 64

// fromZMQ subscribes to the node's publisher.
func (p *Pool) fromZMQ(ctx context.Context, addresses map[string][]string) (iter.Seq2[model.MempoolEvent, error], error) {
	if len(addresses[publisherSequence]) == 0 {
		p.node.LogOnce(slog.LevelWarn, "the node does not publish changes of its mempool, which is listed instead: start it with "+
			"-zmqpubsequence=tcp://127.0.0.1:28332 for faster updates")
		return nil, nil
	}
	topics, at := []string{topicSequence}, addresses[publisherSequence][0]
	if slices.Contains(addresses[publisherRawTx], at) {
		topics = append(topics, topicRawTx)
	}
	network, address, ok := p.dialable(at)
	if !ok {
		p.node.LogOnce(slog.LevelWarn, "the node publishes changes of its mempool at an unsupported address: it is listed instead", "address", at)
		return nil, nil
	}
	most := p.format.MaxSize + 1<<10 // bytes of a notification: a transaction
	conn, err := zmtp.Subscribe(ctx, network, address, most, topics...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		p.node.LogOnce(slog.LevelWarn, "cannot subscribe to changes of the node's mempool: it is listed instead", "error", err)
		return nil, nil
	}
	s := &subscription{pool: p, conn: conn}
	return stream(ctx, func() { _ = conn.Close() }, s.next), nil
}

// dialable returns the network and address of a publisher. A publisher on all interfaces, or on the loopback interface
// of the node's machine, is reached at the host of the RPC.
func (p *Pool) dialable(at string) (network, address string, ok bool) {
	u, err := url.Parse(at)
	if err != nil {
		return "", "", false
	}
	switch u.Scheme {
	case "ipc":
		return "unix", u.Host + u.Path, true
	case "tcp":
	default:
		return "", "", false
	}
	host, port := u.Hostname(), u.Port()
	if ip := net.ParseIP(host); host == "*" || isLoopback(host) || ip != nil && ip.IsUnspecified() {
		host, _, err = net.SplitHostPort(p.node.Host())
	}
	return "tcp", net.JoinHostPort(host, port), err == nil && port != ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// subscription reads the notifications of Core (doc/zmq.md there).
type subscription struct {
	pool *Pool
	conn *zmtp.Conn

	known bool
	last  uint32 // number of the last message of topic sequence
	raws  [rawTxs]rawTx
	count int
}

type rawTx struct {
	id  model.Hash
	raw []byte
}

// next returns the next event.
func (s *subscription) next() (e model.MempoolEvent, err error) {
	for {
		parts, err := s.conn.Receive()
		if err != nil {
			return e, blocksource.Temporary(model.Errorf(model.BadSource, "unreachable", "the ZMQ publisher of %s: %w", s.pool.node.Host(), err))
		}
		if len(parts) != 3 || len(parts[2]) != 4 {
			return e, s.bad("a message of %d parts", len(parts))
		}
		switch string(parts[0]) {
		case topicRawTx:
			if id, err := s.pool.format.TxID(parts[1]); err == nil {
				s.raws[s.count%rawTxs] = rawTx{id, parts[1]}
				s.count++
			}
		case topicSequence:
			number := binary.LittleEndian.Uint32(parts[2])
			if s.known && number != s.last+1 {
				return e, blocksource.Temporary(model.Errorf(model.BadSource, "missed_events",
					"%s has dropped notifications: %d after %d", s.pool.node.Host(), number, s.last))
			}
			s.known, s.last = true, number
			return s.event(parts[1])
		}
	}
}

// event reads a message of topic sequence: a hash in display order, a label, and for transactions a number.
func (s *subscription) event(body []byte) (e model.MempoolEvent, err error) {
	const hashSize = len(e.ID)
	if len(body) < hashSize+1 {
		return e, s.bad("a notification of %d bytes", len(body))
	}
	copy(e.ID[:], body)
	slices.Reverse(e.ID[:])
	label, number := body[hashSize], body[hashSize+1:]
	switch {
	case label == 'C' && len(number) == 0:
		e.Kind = model.BlockConnected
		return e, nil
	case label == 'D' && len(number) == 0:
		e.Kind = model.BlockDisconnected
		return e, nil
	case label == 'A' && len(number) == 8:
		e.Kind = model.TxAdded
	case label == 'R' && len(number) == 8:
		e.Kind = model.TxRemoved
	default:
		return e, s.bad("a notification with label %q and %d more bytes", label, len(number))
	}
	e.Sequence = binary.LittleEndian.Uint64(number)
	if e.Kind == model.TxAdded {
		i := slices.IndexFunc(s.raws[:], func(r rawTx) bool { return r.raw != nil && r.id == e.ID })
		if i >= 0 {
			e.Tx, err = s.pool.unconfirmed(s.raws[i].raw, time.Now())
		}
	}
	return e, err
}

func (s *subscription) bad(format string, args ...any) error {
	return model.Errorf(model.BadSource, "bad_answer", "the ZMQ publisher of "+s.pool.node.Host()+" sent "+format, args...)
}
