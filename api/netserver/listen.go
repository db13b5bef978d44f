package netserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"birthmark/model"
)

// Listen listens on host:port, with any free port for 0, or on unix:/path/of.sock with mode 0660. Errors with code
// address_in_use are of kind [model.Refused], not_permitted of kind [model.Machine], bad_value of kind [model.Usage].
func Listen(addr string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return listenUnix(path)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, badAddress(addr, err)
	}
	config := net.ListenConfig{Control: limitUnsent}
	config.SetMultipathTCP(false) // its sockets do not inherit the limit
	l, err := config.Listen(context.Background(), "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, inUse(addr, "port")
	case errors.Is(err, fs.ErrPermission):
		return nil, model.Errorf(model.Machine, "not_permitted", "listen: no permission to listen on %s: choose a port above 1023", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, badAddress(addr, errors.New("the machine has no such address"))
	case err != nil:
		return nil, badAddress(addr, err)
	}
	return l, nil
}

// maxUnsent is the maximum number of unsent bytes per connection in the kernel. Without it, the kernel buffers megabytes
// for each client that does not read: memory that nothing counts, and work for answers that nobody reads. Bytes in flight
// do not count, so the limit does not make a distant client slower.
const maxUnsent = 128 << 10

// limitUnsent sets the limit for the connections of a listener, which inherit it.
func limitUnsent(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent) // an optimization
	})
}

func inUse(addr, choose string) error {
	return model.Errorf(model.Refused, "address_in_use", "listen: %s is in use by another program: stop it, or choose another %s", addr, choose)
}

func badAddress(addr string, err error) error {
	return model.Errorf(model.Usage, "bad_value", "listen: %s: %w; expected host:port as in 127.0.0.1:8080, or unix:/path/of.sock", addr, err)
}

// listenUnix listens on a Unix socket. It removes the socket of a server that was killed, and no other file.
func listenUnix(path string) (net.Listener, error) {
	if path == "" || path[0] == '@' {
		return nil, badAddress("unix:"+path, errors.New("missing path"))
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, model.Errorf(model.Refused, "address_in_use", "listen: %s is a file, not a socket: choose another path", path)
		}
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			return nil, inUse(path, "path")
		} else if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, badAddress("unix:"+path, err)
		}
		if err := os.Remove(path); err != nil {
			return nil, model.Errorf(model.Machine, "not_permitted", "listen: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, badAddress("unix:"+path, err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), l.Close())
	}
	return l, nil
}
