package p2p

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"birthmark/internal/testseed"
)

// pieces is a connection whose reads return pieces of random size.
type pieces struct {
	net.Conn
	r   *rand.Rand
	all *bytes.Reader
}

func (p *pieces) Read(b []byte) (int, error) {
	return p.all.Read(b[:min(len(b), 1+p.r.IntN(1<<p.r.IntN(18)))])
}

// btcd reads the stream without the blocks. They are delivered in their order, for any size of reads.
func TestSocketRemovesBlocks(t *testing.T) {
	r := testseed.Rand(t)
	for range 30 {
		var stream, rest []byte
		var blocks [][]byte
		for range r.IntN(30) {
			command := []string{"block", "headers", "blocktxn", "b", ""}[r.IntN(5)]
			payload := make([]byte, r.IntN(1<<r.IntN(13)))
			if r.IntN(20) == 0 {
				payload = make([]byte, 5<<20)
			}
			for i := range payload {
				payload[i] = byte(i) ^ byte(len(blocks))
			}
			m := message(command, payload)
			if stream = append(stream, m...); command == "block" {
				blocks = append(blocks, payload)
			} else {
				rest = append(rest, m...)
			}
		}
		if r.IntN(2) == 0 { // and what follows messages of another protocol
			other := append([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), message("block", []byte("x"))...)
			stream, rest = append(stream, other...), append(rest, other...)
		}
		s := &socket{Conn: &pieces{r: r, all: bytes.NewReader(stream)}, magic: regtest.Net, maxBlock: 5 << 20}
		var got [][]byte
		s.onBlock = func(raw []byte, err error) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, raw)
		}
		read, err := io.ReadAll(s)
		if err != nil || !bytes.Equal(read, rest) || !bytes.Equal(bytes.Join(got, nil), bytes.Join(blocks, nil)) || len(got) != len(blocks) {
			t.Fatalf("%d of %d bytes, %d of %d blocks, %v", len(read), len(rest), len(got), len(blocks), err)
		}
		if !s.broken.Load() {
			t.Error("the end of the stream was not recorded")
		}
	}
}

// A peer misbehaves if a block is too large or has a wrong checksum. A truncated block is a lost connection.
func TestASocketRejectsBlocks(t *testing.T) {
	valid := message("block", make([]byte, 100))
	damaged := bytes.Clone(valid)
	damaged[50]++
	for says, stream := range map[string][]byte{
		"a block of 101 bytes: expected at most 100": message("block", make([]byte, 101)), "checksum": damaged, "": valid[:60],
	} {
		s := &socket{Conn: &pieces{r: testseed.Rand(t), all: bytes.NewReader(stream)}, magic: regtest.Net, maxBlock: 100}
		var fault error
		s.onBlock = func(raw []byte, err error) {
			if fault = err; err == nil {
				t.Errorf("%q: a block of %d bytes", says, len(raw))
			}
		}
		_, err := io.ReadAll(s)
		if says == "" && (fault != nil || err != nil && err != io.ErrUnexpectedEOF) ||
			says != "" && (fault == nil || !strings.Contains(fault.Error(), says)) {
			t.Errorf("%q: %v, %v", says, fault, err)
		}
	}
}
