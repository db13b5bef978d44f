package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"birthmark/model"
)

const (
	name      = "control.sock"
	temporary = ".control-"

	mostBytes = 1 << 20         // of a line
	patience  = 5 * time.Second // for the client to send its line, or to read ours
)

// Server serves a database's control socket.
type Server struct {
	listener *net.UnixListener
	path     string
	handle   func(context.Context, Request) (Reply, error)

	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// Serve answers requests for the database in dir, whose lock this process must hold, until Close. The reply contains
// errors of handle.
func Serve(dir string, handle func(context.Context, Request) (Reply, error)) (s *Server, err error) {
	s = &Server{handle: handle, path: filepath.Join(dir, name)}
	if s.listener, err = listen(dir, s.path); err != nil {
		return nil, fmt.Errorf("control socket %s: %w", s.path, err)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.done.Go(s.accept)
	return s, nil
}

// listen creates the socket in a private folder, so that nobody can connect before its mode is set, and then moves it
// into place, where an old socket file may exist.
func listen(dir, path string) (l *net.UnixListener, err error) {
	left, err := filepath.Glob(filepath.Join(dir, temporary+"*")) // of a process that was killed in this function
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(dir, temporary)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	address, folder, err := short(private)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"}); err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it is moved before
	made := filepath.Join(private, name)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// short returns an address of the socket in a folder. Addresses have at most 108 bytes, so the folder is named by its
// descriptor if the system supports that.
func short(dir string) (address string, folder *os.File, err error) {
	if folder, err = os.Open(dir); err != nil {
		return "", nil, err
	}
	address = fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	if _, err := os.Stat(address); err != nil {
		address = dir
	}
	return filepath.Join(address, name), folder, nil
}

func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files, a temporary error
			select {
			case <-time.After(100 * time.Millisecond):
			case <-s.ctx.Done():
			}
			continue
		}
		s.done.Go(func() {
			stop := context.AfterFunc(s.ctx, func() { _ = c.SetDeadline(time.Now()) })
			defer stop()
			defer c.Close()
			s.serve(c)
		})
	}
}

// serve reads one request and answers it.
func (s *Server) serve(c *net.UnixConn) {
	var reply Reply
	_ = c.SetReadDeadline(time.Now().Add(patience))
	request, err := readRequest(c)
	if err == nil {
		reply, err = s.handle(s.ctx, request)
	}
	if s.ctx.Err() != nil { // the client gets ErrNobody
		return
	}
	if err != nil {
		reply = Reply{Error: ErrorOf(err)}
	}
	reply.PID = os.Getpid()
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	_ = json.NewEncoder(c).Encode(reply) // the client has gone if this fails
}

func readRequest(r io.Reader) (request Request, err error) {
	d := json.NewDecoder(io.LimitReader(r, mostBytes))
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, model.Errorf(model.Usage, "bad_request", "a request through the control socket: %w", err)
	}
	return request, request.check()
}

// Close stops accepting requests and waits for active ones.
func (s *Server) Close() error {
	s.cancel()
	err := os.Remove(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, s.listener.Close())
	s.done.Wait()
	return err
}
