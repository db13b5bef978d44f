package coretest

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/btcsuite/btcd/chainhash/v2"
)

// publisher is a ZMQ socket of type PUB (ZMTP 3.0, RFC 23).
type publisher struct {
	listener net.Listener

	mu      sync.Mutex
	numbers map[string]uint32 // of the next message, by topic
	peers   map[*subscriber]bool
	running sync.WaitGroup
}

// subscriber is a connection.
type subscriber struct {
	conn   net.Conn
	out    chan []byte // never closed; full: the message is dropped
	ended  chan struct{}
	topics []string
}

// highWater is how many messages wait for a subscriber before others are dropped, as in Core.
const highWater = 1000

func newPublisher() (*publisher, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &publisher{listener: l, numbers: map[string]uint32{}, peers: map[*subscriber]bool{}}
	p.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(conn) })
		}
	})
	return p, nil
}

func (p *publisher) address() string { return "tcp://" + p.listener.Addr().String() }

func (p *publisher) close() {
	p.listener.Close()
	p.disconnect()
	p.running.Wait()
}

func (p *publisher) disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.peers {
		s.conn.Close()
	}
}

// Subscribers returns how many subscriptions the node has, each a topic of a connection.
func (n *Node) Subscribers() (count int) {
	p := n.publisher
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.peers {
		count += len(s.topics)
	}
	return count
}

func (p *publisher) serve(conn net.Conn) {
	s := &subscriber{conn: conn, out: make(chan []byte, highWater), ended: make(chan struct{})}
	p.mu.Lock()
	p.peers[s] = true
	p.mu.Unlock()
	p.running.Go(func() {
		for {
			select {
			case b := <-s.out:
				if _, err := conn.Write(b); err != nil {
					return
				}
			case <-s.ended:
				return
			}
		}
	})
	defer func() {
		p.mu.Lock()
		delete(p.peers, s)
		p.mu.Unlock()
		close(s.ended)
		conn.Close()
	}()
	in := bufio.NewReader(conn)
	hello := make([]byte, 64)
	hello[0], hello[9], hello[10] = 0xff, 0x7f, 3
	copy(hello[12:], "NULL")
	if _, err := conn.Write(hello); err != nil {
		return
	}
	if _, err := io.ReadFull(in, hello); err != nil || hello[10] != 3 || string(hello[12:16]) != "NULL" {
		return
	}
	ready := "\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB"
	if _, err := conn.Write(append([]byte{4, byte(len(ready))}, ready...)); err != nil {
		return
	}
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(in, head); err != nil || head[0]&2 != 0 {
			return // no message of a subscriber is long
		}
		body := make([]byte, head[1])
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		if head[0] == 0 && len(body) > 0 && body[0] == 1 {
			p.mu.Lock()
			s.topics = append(s.topics, string(body[1:]))
			p.mu.Unlock()
		}
	}
}

// publish sends a message to its subscribers.
func (p *publisher) publish(topic string, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	number := p.numbers[topic]
	p.numbers[topic]++
	var b []byte
	for s := range p.peers {
		if !slices.ContainsFunc(s.topics, func(prefix string) bool { return strings.HasPrefix(topic, prefix) }) {
			continue
		}
		if b == nil {
			b = appendFrame(b, 1, []byte(topic))
			b = appendFrame(b, 1, body)
			b = appendFrame(b, 0, binary.LittleEndian.AppendUint32(nil, number))
		}
		select {
		case s.out <- b:
		default:
		}
	}
}

// skip counts a message that is not sent.
func (p *publisher) skip(topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.numbers[topic]++
}

func appendFrame(to []byte, flags byte, body []byte) []byte {
	if len(body) < 256 {
		to = append(to, flags, byte(len(body)))
	} else {
		to = binary.BigEndian.AppendUint64(append(to, flags|2), uint64(len(body)))
	}
	return append(to, body...)
}

// publishSequence publishes a notification of topic sequence: of a transaction with the number of the change, or of a
// block. mu is held.
func (n *Node) publishSequence(label byte, hash chainhash.Hash, number *uint64) {
	if n.faults.Drop > 0 {
		n.faults.Drop--
		n.publisher.skip("sequence")
		return
	}
	slices.Reverse(hash[:])
	body := append(hash[:], label)
	if number != nil {
		body = binary.LittleEndian.AppendUint64(body, *number)
	}
	n.publisher.publish("sequence", body)
}
