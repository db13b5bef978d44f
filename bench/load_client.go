package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// client is one connection over which one request after the other is asked, by HTTP/1.1 (RFC 9112). It reads no more of
// an answer than where it ends: what measures a server must not take what the server could have of the processors.
// net/http's client takes as much as the server does.
type client struct {
	addr string
	conn net.Conn // nil: to be opened by the next request
	buf  []byte
	r, w int // what is read and not looked at yet is buf[r:w]
	read int64
}

const (
	clientBuffer   = 64 << 10 // at least a head
	clientPatience = 30 * time.Second
)

// answered is how a request went.
type answered struct {
	status int
	body   []byte // where it was wanted
}

var (
	headEnd   = []byte("\r\n\r\n")
	lineEnd   = []byte("\r\n")
	hasLength = []byte("content-length")
	hasCoding = []byte("transfer-encoding")
	hasEnd    = []byte("connection")
)

func newClient(addr string) *client {
	return &client{addr: addr, buf: make([]byte, clientBuffer)}
}

// ask sends a request and reads its answer. After an error the next request opens another connection.
func (c *client) ask(request []byte, wantBody bool) (a answered, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.conn == nil {
		if c.conn, err = net.Dial("tcp", c.addr); err != nil {
			c.conn = nil
			return a, err
		}
		c.r, c.w = 0, 0
	}
	if err := c.conn.SetDeadline(time.Now().Add(clientPatience)); err != nil {
		return a, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return a, err
	}
	h, err := c.head()
	if err != nil {
		return a, err
	}
	a.status = h.status
	var body *[]byte
	if wantBody {
		body = &a.body
	}
	switch {
	case h.status == 204 || h.status == 304:
	case h.chunked:
		err = c.chunks(body)
	case h.length >= 0:
		err = c.take(h.length, body)
	default:
		err = errors.New("the answer does not say how long it is")
	}
	if err == nil && h.last {
		err = c.close()
	}
	return a, err
}

func (c *client) close() error {
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}

// head is what of an answer's head says where its body ends.
type head struct {
	status  int
	length  int // -1: not said
	chunked bool
	last    bool // the server closes the connection
}

func (c *client) head() (h head, err error) {
	end := -1
	for searched := 0; ; {
		if end = bytes.Index(c.buf[c.r+searched:c.w], headEnd); end >= 0 {
			end += c.r + searched
			break
		}
		searched = max(c.w-c.r-len(headEnd)+1, 0)
		if err := c.fill(); err != nil {
			return h, err
		}
	}
	text := c.buf[c.r : end+len(lineEnd)]
	c.r = end + len(headEnd)
	line, text, _ := bytes.Cut(text, lineEnd)
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return h, fmt.Errorf("the answer begins with %.40q: expected HTTP/1.1 and a status", line)
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return h, fmt.Errorf("the answer begins with %.40q: %w", line, err)
	}
	h.length = -1
	for len(text) > 0 {
		line, text, _ = bytes.Cut(text, lineEnd)
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, hasLength):
			if h.length, err = strconv.Atoi(string(value)); err != nil || h.length < 0 {
				return h, fmt.Errorf("the answer has a length of %q", value)
			}
		case bytes.EqualFold(name, hasCoding):
			h.chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, hasEnd):
			h.last = bytes.EqualFold(value, []byte("close"))
		}
	}
	return h, nil
}

// chunks reads a body in chunks.
func (c *client) chunks(body *[]byte) error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(size), 16, 31)
		if err != nil {
			return fmt.Errorf("a chunk has a length of %.20q", line)
		}
		if n == 0 {
			break
		}
		if err := c.take(int(n), body); err != nil {
			return err
		}
		if rest, err := c.line(); err != nil || len(rest) > 0 {
			return errors.Join(fmt.Errorf("a chunk is longer than %d bytes", n), err)
		}
	}
	for { // trailers
		if line, err := c.line(); err != nil || len(line) == 0 {
			return err
		}
	}
}

// line is the next line, up to the next read.
func (c *client) line() ([]byte, error) {
	for {
		if i := bytes.Index(c.buf[c.r:c.w], lineEnd); i >= 0 {
			line := c.buf[c.r : c.r+i]
			c.r += i + len(lineEnd)
			return line, nil
		}
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
}

// take reads n bytes, into body where that is wanted.
func (c *client) take(n int, body *[]byte) error {
	for {
		part := min(n, c.w-c.r)
		if body != nil {
			*body = append(*body, c.buf[c.r:c.r+part]...)
		}
		c.r += part
		if n -= part; n == 0 {
			return nil
		}
		if err := c.fill(); err != nil {
			return err
		}
	}
}

// fill reads more behind what is there, which stays.
func (c *client) fill() error {
	if c.r > 0 {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	if c.w == len(c.buf) {
		return fmt.Errorf("a head or a line of more than %d bytes", len(c.buf))
	}
	n, err := c.conn.Read(c.buf[c.w:])
	c.w += n
	c.read += int64(n)
	if n > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the server closed the connection before the answer's end")
	}
	return err
}
