package netserver

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"birthmark/model"
)

// Listen listens at host:port, where port 0 is any free one, or at unix:/path/of.sock, which the program's group may use too.
// Its errors say what to do: address_in_use and not_permitted are of kind [model.Refused], bad_value is of kind
// [model.Usage].
func Listen(addr string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return listenUnix(path)
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, badAddress(addr, err)
	}
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, model.Errorf(model.Refused, "address_in_use", "listen: another program listens at %s: end that one, or choose another port", addr)
	case errors.Is(err, fs.ErrPermission):
		return nil, model.Errorf(model.Refused, "not_permitted", "listen: %s is not permitted to this user: choose a port above 1023", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, badAddress(addr, errors.New("this machine does not have that address"))
	case err != nil:
		return nil, badAddress(addr, err)
	}
	return l, nil
}

func badAddress(addr string, err error) error {
	return model.Errorf(model.Usage, "bad_value", "listen: %s: %w; expected host:port as in 127.0.0.1:8080, or unix:/path/of.sock", addr, err)
}

// listenUnix takes away the socket of a server that was killed, and nothing else.
func listenUnix(path string) (net.Listener, error) {
	if path == "" || path[0] == '@' {
		return nil, badAddress("unix:"+path, errors.New("no path"))
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, model.Errorf(model.Refused, "address_in_use", "listen: %s is a file and no socket: choose another path", path)
		}
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			return nil, model.Errorf(model.Refused, "address_in_use", "listen: another program listens at %s: end that one, or choose another path", path)
		} else if !errors.Is(err, syscall.ECONNREFUSED) {
			return nil, badAddress("unix:"+path, err)
		}
		if err := os.Remove(path); err != nil {
			return nil, model.Errorf(model.Refused, "not_permitted", "listen: %w", err)
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
