// Package zmtp subscribes to a publisher by the ZeroMQ message transport protocol 3.0 (ZMTP, RFC 23) without
// authentication, as Bitcoin Core publishes notifications. It has the part of the protocol that a SUB socket needs.
package zmtp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	handshakeTimeout = 10 * time.Second
	greetingSize     = 64
	// maxCommand is the maximum size in bytes of a command of the peer, such as READY.
	maxCommand = 64 << 10
	// maxParts is the maximum number of parts of a message.
	maxParts = 16
)

// Flags of a frame.
const (
	flagMore    = 1 << 0
	flagLong    = 1 << 1 // the size has 8 bytes instead of 1
	flagCommand = 1 << 2
)

// Conn is a subscription. Receive must not be called concurrently.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	most int
}

// Subscribe connects to a publisher at a network ("tcp", "unix") and address, and subscribes to messages whose first
// part begins with one of topics. Messages of more than most bytes are an error. The publisher does not confirm
// subscriptions: it may skip messages of the first milliseconds.
func Subscribe(ctx context.Context, network, address string, most int, topics ...string) (*Conn, error) {
	d := net.Dialer{Timeout: handshakeTimeout}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), most: most}
	if err := c.open(topics); err != nil {
		conn.Close()
		return nil, fmt.Errorf("ZMQ publisher at %s: %w", address, err)
	}
	return c, nil
}

// Close ends the subscription. It can be called at any time, and ends a call of Receive.
func (c *Conn) Close() error { return c.conn.Close() }

func (c *Conn) open(topics []string) error {
	if err := c.conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return err
	}
	if _, err := c.conn.Write(append(greeting(), command("READY", "Socket-Type", "SUB")...)); err != nil {
		return err
	}
	if err := c.readGreeting(); err != nil {
		return err
	}
	if err := c.readReady(); err != nil {
		return err
	}
	var subscriptions []byte
	for _, topic := range topics {
		subscriptions = append(subscriptions, frame(0, append([]byte{1}, topic...))...)
	}
	if _, err := c.conn.Write(subscriptions); err != nil {
		return err
	}
	return c.conn.SetDeadline(time.Time{})
}

// greeting returns the greeting of version 3.0 with the mechanism NULL.
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[9] = 0xff, 0x7f
	g[10] = 3
	copy(g[12:32], "NULL")
	return g
}

func (c *Conn) readGreeting() error {
	g := make([]byte, greetingSize)
	if _, err := io.ReadFull(c.in, g[:11]); err != nil {
		return fmt.Errorf("it sent no greeting: %w", err)
	}
	if g[0] != 0xff || g[9]&1 == 0 {
		return errors.New("it does not use ZMTP")
	}
	if g[10] < 3 {
		return fmt.Errorf("it uses version %d of ZMTP, expected 3", g[10])
	}
	if _, err := io.ReadFull(c.in, g[11:]); err != nil {
		return err
	}
	if name := string(bytes.TrimRight(g[12:32], "\x00")); name != "NULL" {
		return fmt.Errorf("it requires the security mechanism %.20q, expected NULL", name)
	}
	return nil
}

func (c *Conn) readReady() error {
	flags, body, err := c.frame(maxCommand)
	if err != nil {
		return err
	}
	name, rest := shortText(body)
	if flags&flagCommand == 0 || name != "READY" {
		return fmt.Errorf("it answered %.20q instead of READY", name)
	}
	for len(rest) > 0 {
		property, value := shortText(rest)
		if len(value) < 4 || uint64(binary.BigEndian.Uint32(value)) > uint64(len(value)-4) {
			return errors.New("its READY is malformed")
		}
		size := 4 + int(binary.BigEndian.Uint32(value))
		kind := string(value[4:size])
		if property == "Socket-Type" && kind != "PUB" && kind != "XPUB" {
			return fmt.Errorf("it is a socket of type %.20q, expected PUB", kind)
		}
		rest = value[size:]
	}
	return nil
}

// shortText splits off a text after its length of one byte. It returns no rest if the text is truncated.
func shortText(b []byte) (text string, rest []byte) {
	if len(b) == 0 || int(b[0]) > len(b)-1 {
		return "", nil
	}
	size := 1 + int(b[0])
	return string(b[1:size]), b[size:]
}

// Receive returns the parts of the next message. They are valid without limit.
func (c *Conn) Receive() (parts [][]byte, err error) {
	left := c.most
	for {
		flags, body, err := c.frame(max(left, maxCommand))
		switch {
		case err != nil:
			return nil, err
		case flags&flagCommand != 0:
			continue // such as a heartbeat of a later version
		case len(body) > left || len(parts) == maxParts:
			return nil, fmt.Errorf("a ZMQ message has more than %d bytes or %d parts", c.most, maxParts)
		}
		left -= len(body)
		parts = append(parts, body)
		if flags&flagMore == 0 {
			return parts, nil
		}
	}
}

// frame reads a frame of at most the given size.
func (c *Conn) frame(most int) (flags byte, body []byte, err error) {
	if flags, err = c.in.ReadByte(); err != nil {
		return 0, nil, err
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 {
		return 0, nil, fmt.Errorf("a ZMQ frame has the reserved flags %#x", flags)
	}
	var size [8]byte
	at := size[7:]
	if flags&flagLong != 0 {
		at = size[:]
	}
	if _, err = io.ReadFull(c.in, at); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint64(size[:])
	if n > uint64(most) {
		return 0, nil, fmt.Errorf("a ZMQ frame has %d bytes, expected at most %d", n, most)
	}
	body = make([]byte, n)
	_, err = io.ReadFull(c.in, body)
	return flags, body, err
}

// frame returns a frame with its header.
func frame(flags byte, body []byte) []byte {
	if len(body) > 255 {
		return append(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, uint64(len(body))), body...)
	}
	return append([]byte{flags, byte(len(body))}, body...)
}

// command returns a command with one property.
func command(name, property, value string) []byte {
	body := append([]byte{byte(len(name))}, name...)
	body = append(append(body, byte(len(property))), property...)
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(value))), value...)
	return frame(flagCommand, body)
}
