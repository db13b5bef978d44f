// Package loadclient has clients that cost a load generator little processor time.
package loadclient

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

// Client is a minimal client with one connection, of HTTP/1.1 (RFC 9112) or of the Electrum protocol. It only parses
// what it needs to find the end of a response: net/http's client uses as much CPU time as the server, which shares the
// processors with it.
type Client struct {
	Received int64 // bytes

	addr string
	conn net.Conn // nil: opened by the next request
	in   *bufio.Reader

	lines bool // requests and answers are lines of the Electrum protocol
}

const (
	clientBuffer  = 64 << 10 // at least the size of a line
	clientTimeout = 30 * time.Second
)

// Response is a response. Status is that of HTTP; of the Electrum protocol 200 for a result and 400 for an error.
type Response struct {
	Status int
	Body   []byte // if requested
}

var (
	hasLength = []byte("content-length")
	hasCoding = []byte("transfer-encoding")
	hasEnd    = []byte("connection")
)

// New returns a client of HTTP.
func New(addr string) *Client {
	return &Client{addr: addr, in: bufio.NewReaderSize(nil, clientBuffer)}
}

// NewElectrum returns a client of the Electrum protocol. Its requests are lines with the id 0.
func NewElectrum(addr string) *Client {
	c := New(addr)
	c.lines = true
	return c
}

// Ask sends a request and reads the response. After an error the next request opens a new connection.
func (c *Client) Ask(request []byte, wantBody bool) (a Response, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
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
	var h head
	if c.lines {
		a, err = c.answerLine(wantBody)
	} else if h, err = c.head(); err == nil {
		a.Status = h.status
		a.Body, err = c.body(&h, wantBody)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the server closed the connection before the end of the response")
	}
	if err == nil && h.last {
		err = c.Close()
	}
	return a, err
}

// counter counts the bytes that are received.
type counter struct{ *Client }

func (c counter) Read(p []byte) (int, error) {
	n, err := c.conn.Read(p)
	c.Received += int64(n)
	return n, err
}

// Close closes the connection.
func (c *Client) Close() error {
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

func (c *Client) head() (h head, err error) {
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
func (c *Client) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, fmt.Errorf("header or line longer than %d bytes", clientBuffer)
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// body reads the body of a response, and returns it if wanted is set.
func (c *Client) body(h *head, wanted bool) (body []byte, err error) {
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

// electrumResult and electrumError are the beginnings of answers to the requests of a load.
var (
	electrumResult = []byte(`{"jsonrpc":"2.0","id":0,"result":`)
	electrumError  = []byte(`{"jsonrpc":"2.0","id":0,"error":`)
)

// answerLine reads an answer of the Electrum protocol. Its status is 200 for a result and 400 for an error.
func (c *Client) answerLine(wantBody bool) (a Response, err error) {
	for part := 0; ; part++ {
		text, err := c.in.ReadSlice('\n')
		if part == 0 && bytes.HasPrefix(text, electrumResult) {
			a.Status = 200
		} else if part == 0 && bytes.HasPrefix(text, electrumError) {
			a.Status = 400
		} else if part == 0 {
			return a, fmt.Errorf("invalid answer %.100q: %w", text, err)
		}
		if wantBody {
			a.Body = append(a.Body, text...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return a, err
		}
	}
}
