package ouroboros

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"unicode"

	"github.com/blinklabs-io/gouroboros/protocol/handshake"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Port is the default port of nodes, in cardano-node's documentation and topology files.
const Port = "3001"

// unreachable returns the error of a connection that could not be made.
func (c *Conn) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !c.headers {
		info, stat := os.Stat(c.address)
		switch {
		case errors.Is(stat, os.ErrNotExist):
			return noAnswer("there is no socket %s: expected the socket of a running node", c.name)
		case errors.Is(stat, os.ErrPermission), errors.Is(err, os.ErrPermission):
			return model.Errorf(model.BadSource, "unreachable", "cannot open %s: permission denied", c.name)
		case stat == nil && info.Mode()&os.ModeSocket == 0:
			return model.Errorf(model.BadSource, "not_a_node", "%s is not a socket: expected the socket of a running node", c.name)
		case errors.Is(err, syscall.ECONNREFUSED):
			return noAnswer("no node listens on the socket %s", c.name)
		}
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return model.Errorf(model.BadSource, "unreachable", "%s is unreachable: no such host", c.name)
		}
		return noAnswer("%s is unreachable: %s", c.name, e.Err)
	}
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return noAnswer("%s is unreachable: %s%s", c.name, e.Error(), adapter.NodeDown(c.name, "cardano", Port))
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return noAnswer("%s is unreachable: it does not answer%s", c.name, adapter.NodeDown(c.name, "cardano", Port))
	}
	return noAnswer("%s is unreachable: %s", c.name, excerpt(err.Error()))
}

// handshakeRefused returns the error of a handshake that the node rejected.
func (c *Conn) handshakeRefused(err error) error {
	if e, ok := errors.AsType[*handshake.RefusedError](err); ok {
		return c.wrongNetwork("it answered %q", excerpt(e.Message))
	}
	if e, ok := errors.AsType[*handshake.VersionMismatchError](err); ok {
		return model.Errorf(model.BadSource, "no_common_version", "%s supports only unknown versions of %s: %s",
			c.name, c.protocolName(), versions(e.SupportedVersions))
	}
	if e, ok := errors.AsType[*handshake.DecodeError](err); ok {
		return model.Errorf(model.BadSource, "no_common_version", "%s rejected the handshake: it answered %q", c.name, excerpt(e.Message))
	}
	return c.notANode(err)
}

// versions lists version numbers without the bit that marks node-to-client.
func versions(numbers []uint16) string {
	var texts []string
	for _, n := range numbers {
		texts = append(texts, fmt.Sprint(n&^0x8000))
	}
	return strings.Join(texts, ", ")
}

func (c *Conn) protocolName() string {
	if c.headers {
		return "node-to-node"
	}
	return "node-to-client"
}

func (c *Conn) wrongNetwork(format string, args ...any) error {
	return model.Errorf(model.BadSource, "wrong_network", "%s rejects network magic %d: %s", c.name, c.o.Magic, fmt.Sprintf(format, args...))
}

// handshakeEnded returns the error of a connection that ended during the handshake.
func (c *Conn) handshakeEnded(err error) error {
	if err == nil || isEnd(err) {
		// A starting node, a node at its connection limit, and other software all do this.
		return temporary("disconnected", "%s closed the connection in the handshake: expected a node that speaks %s", c.name, c.protocolName())
	}
	return c.notANode(err)
}

func (c *Conn) notANode(err error) error {
	return model.Errorf(model.BadSource, "not_a_node", "%s does not answer as a Cardano node that speaks %s: %s", c.name, c.protocolName(), excerpt(err.Error()))
}

// disconnected returns the error of a connection that ended. The multiplexer has stopped.
func (c *Conn) disconnected() error {
	c.mux.Stop()
	var first error
	for err := range c.mux.ErrorChan() {
		if first == nil {
			first = err
		}
	}
	if first == nil || isEnd(first) {
		return temporary("disconnected", "%s closed the connection", c.name)
	}
	if _, ok := errors.AsType[net.Error](first); ok {
		return temporary("disconnected", "the connection to %s broke: %s", c.name, excerpt(first.Error()))
	}
	return c.badAnswer(first)
}

func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (c *Conn) timedOut(what string) error {
	return temporary("silent", "%s did not answer %s within %s", c.name, what, c.o.Timeout)
}

// noBlocks returns the error of announced blocks that a node does not have.
func (c *Conn) noBlocks(from, to Point) error {
	return temporary("no_blocks", "%s announced the blocks from %s to %s, but does not have them", c.name, from, to)
}

func (c *Conn) badAnswer(err error) error {
	return model.Errorf(model.BadSource, "bad_answer", "%s sent a malformed message: %w", c.name, err)
}

func (c *Conn) malformed(m *inbox, err error) error {
	return c.badAnswer(fmt.Errorf("a message of %s: %w", m.name, err))
}

// unexpected returns the error of a message that is not allowed now.
func (c *Conn) unexpected(m *inbox, kind uint64) error {
	return c.badAnswer(fmt.Errorf("unexpected message of %s of kind %d", m.name, kind))
}

// noAnswer returns the error of a node to which there is no connection.
func noAnswer(format string, args ...any) error {
	return blocksource.NoAnswer(model.Errorf(model.BadSource, "unreachable", format, args...))
}

func temporary(code, format string, args ...any) error {
	return blocksource.Temporary(model.Errorf(model.BadSource, code, format, args...))
}

// excerpt returns the start of a foreign text on one line, without unprintable characters.
func excerpt(text string) string {
	const most = 200
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
