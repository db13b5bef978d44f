package btcdtest

import (
	"io"
	"net"
	"sync"
)

// relay is an address that stays the same while the process behind it goes and comes back at another. What connects is
// handed on as it is; while nobody is behind it, connections are refused.
type relay struct {
	addr string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	running  sync.WaitGroup
}

func newRelay() (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &relay{addr: l.Addr().String(), conns: map[net.Conn]bool{}}, l.Close()
}

// open lets connections through to target.
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

// refuse accepts no more connections; those there are live on.
func (r *relay) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listener != nil {
		r.listener.Close()
		r.listener = nil
	}
}

// close ends every connection too.
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
		_ = to.(*net.TCPConn).CloseWrite() // the node may still have something to say
	})
	_, _ = io.Copy(from, to)
}
