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

// client is a minimal HTTP/1.1 client (RFC 9112) with one connection. It only parses what it needs to find the end of a
// response: net/http's client uses as much CPU time as the server, which shares the processors with it.
type client struct {
	addr string
	conn net.Conn // nil: opened by the next request
	buf  []byte
	r, w int // buf[r:w] is read and not parsed yet
	read int64
}

const (
	clientBuffer  = 64 << 10 // at least the size of a header
	clientTimeout = 30 * time.Second
)

// response is the response to a request.
type response struct {
	status int
	body   []byte // if requested
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

// ask sends a request and reads the response. After an error the next request opens a new connection.
func (c *client) ask(request []byte, wantBody bool) (a response, err error) {
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
	if err := c.conn.SetDeadline(time.Now().Add(clientTimeout)); err != nil {
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
		err = errors.New("response without a length")
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

// head contains the headers that determine the end of a response.
type head struct {
	status  int
	length  int // -1: unknown
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
		return h, fmt.Errorf("invalid status line %.40q: expected HTTP/1.1 and a status", line)
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return h, fmt.Errorf("invalid status line %.40q: %w", line, err)
	}
	h.length = -1
	for len(text) > 0 {
		line, text, _ = bytes.Cut(text, lineEnd)
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, hasLength):
			if h.length, err = strconv.Atoi(string(value)); err != nil || h.length < 0 {
				return h, fmt.Errorf("invalid Content-Length %q", value)
			}
		case bytes.EqualFold(name, hasCoding):
			h.chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, hasEnd):
			h.last = bytes.EqualFold(value, []byte("close"))
		}
	}
	return h, nil
}

// chunks reads a chunked body.
func (c *client) chunks(body *[]byte) error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseUint(string(size), 16, 31)
		if err != nil {
			return fmt.Errorf("invalid chunk size %.20q", line)
		}
		if n == 0 {
			break
		}
		if err := c.take(int(n), body); err != nil {
			return err
		}
		if rest, err := c.line(); err != nil || len(rest) > 0 {
			return errors.Join(fmt.Errorf("chunk longer than its size of %d bytes", n), err)
		}
	}
	for { // trailers
		if line, err := c.line(); err != nil || len(line) == 0 {
			return err
		}
	}
}

// line returns the next line, valid until the next read.
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

// take reads n bytes and appends them to body if it is not nil.
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

// fill reads more bytes and keeps the unparsed ones.
func (c *client) fill() error {
	if c.r > 0 {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
	if c.w == len(c.buf) {
		return fmt.Errorf("header or line longer than %d bytes", len(c.buf))
	}
	n, err := c.conn.Read(c.buf[c.w:])
	c.w += n
	c.read += int64(n)
	if n > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the server closed the connection before the end of the response")
	}
	return err
}
