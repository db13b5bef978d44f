package btcdtest

import (
	"fmt"
	"io"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// relay is a fixed address for a process that restarts at others. Connections are forwarded unchanged; while the
// process is down they are refused.
type relay struct {
	addr string
	hold int // a bound socket that does not listen, so that no other process gets the port

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	running  sync.WaitGroup
}

func newRelay() (r *relay, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	defer func() {
		if err != nil {
			_ = unix.Close(fd)
		}
	}()
	// The listening socket has this option too, so both can bind the address.
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return nil, err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return nil, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", at.(*unix.SockaddrInet4).Port)
	return &relay{addr: addr, hold: fd, conns: map[net.Conn]bool{}}, nil
}

// free releases the address.
func (r *relay) free() { _ = unix.Close(r.hold) }

// open forwards connections to target.
func (r *relay) open(target string) error {
	l, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener = l
	r.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.running.Go(func() { r.pass(conn, target) })
		}
	})
	return nil
}

// refuse accepts no more connections; existing ones continue.
func (r *relay) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != nil {
		r.listener.Close()
		r.listener = nil
	}
}

// close also closes every connection.
func (r *relay) close() {
	r.refuse()
	r.mu.Lock()
	for conn := range r.conns {
		conn.Close()
	}
	r.mu.Unlock()
	r.running.Wait()
}

func (r *relay) pass(from net.Conn, target string) {
	defer from.Close()
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	r.mu.Lock()
	if r.listener == nil {
		r.mu.Unlock()
		return
	}
	r.conns[from], r.conns[to] = true, true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.conns, from)
		delete(r.conns, to)
	}()
	r.running.Go(func() {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite() // the node may still send
	})
	_, _ = io.Copy(from, to)
}
