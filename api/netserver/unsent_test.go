package netserver_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"birthmark/api/netserver"
)

// A client that does not read costs a bounded number of bytes in the kernel.
func TestKernelBuffersFewUnsentBytes(t *testing.T) {
	l, err := netserver.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			if err := syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096); err != nil {
				t.Error(err)
			}
		})
	}}
	client, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	const most = 1 << 20
	buffered, part := 0, make([]byte, 16<<10)
	for buffered <= most {
		if err := server.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := server.Write(part)
		if buffered += n; err != nil {
			break
		}
	}
	if buffered == 0 || buffered > most {
		t.Errorf("%d bytes are buffered for a client that does not read, expected at most %d", buffered, most)
	}
}
