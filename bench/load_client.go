package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// client is a minimal HTTP/1.1 client (RFC 9112) with one connection. It only parses what it needs to find the end of a
// response: net/http's client uses as much CPU time as the server, which shares the processors with it.
type client struct {
	addr string
	conn net.Conn // nil: opened by the next request
	in   *bufio.Reader
	read int64 // bytes
}

const (
	clientBuffer  = 64 << 10 // at least the size of a line
	clientTimeout = 30 * time.Second
)

type response struct {
	status int
	body   []byte // if requested
}

var (
	hasLength = []byte("content-length")
	hasCoding = []byte("transfer-encoding")
	hasEnd    = []byte("connection")
)

func newClient(addr string) *client {
	return &client{addr: addr, in: bufio.NewReaderSize(nil, clientBuffer)}
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
		c.in.Reset(counter{c})
	}
	if err := c.conn.SetDeadline(time.Now().Add(clientTimeout)); err != nil {
		return a, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return a, err
	}
	h, err := c.head()
	if err == nil {
		a.status = h.status
		a.body, err = c.body(&h, wantBody)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the server closed the connection before the end of the response")
	}
	if err == nil && h.last {
		err = c.close()
	}
	return a, err
}

// counter counts the bytes that are received.
type counter struct{ *client }

func (c counter) Read(p []byte) (int, error) {
	n, err := c.conn.Read(p)
	c.read += int64(n)
	return n, err
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
	length  int64 // -1: unknown
	chunked bool
	last    bool // the server closes the connection
}

func (c *client) head() (h head, err error) {
	line, err := c.line()
	if err != nil {
		return h, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return h, fmt.Errorf("invalid status line %.40q: expected HTTP/1.1 and a status", line)
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return h, fmt.Errorf("invalid status line %.40q: %w", line, err)
	}
	h.length = -1
	for {
		if line, err = c.line(); err != nil || len(line) == 0 {
			return h, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, hasLength):
			if h.length, err = strconv.ParseInt(string(value), 10, 64); err != nil || h.length < 0 {
				return h, fmt.Errorf("invalid Content-Length %q", value)
			}
		case bytes.EqualFold(name, hasCoding):
			h.chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, hasEnd):
			h.last = bytes.EqualFold(value, []byte("close"))
		}
	}
}

// line returns the next line without its end, valid until the next read.
func (c *client) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("header or line longer than %d bytes", clientBuffer)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// body reads the body of a response, and returns it if wanted is set.
func (c *client) body(h *head, wanted bool) (body []byte, err error) {
	switch {
	case h.status == 204 || h.status == 304:
	case h.chunked:
		chunks := httputil.NewChunkedReader(c.in)
		if wanted {
			body, err = io.ReadAll(chunks)
		} else {
			_, err = io.Copy(io.Discard, chunks)
		}
		for err == nil { // trailers
			if line, lineErr := c.line(); lineErr != nil || len(line) == 0 {
				return body, lineErr
			}
		}
	case h.length < 0:
		err = errors.New("response without a length")
	case wanted:
		if body, err = io.ReadAll(io.LimitReader(c.in, h.length)); err == nil && int64(len(body)) < h.length {
			err = io.ErrUnexpectedEOF
		}
	default:
		_, err = c.in.Discard(int(h.length))
	}
	return body, err
}
