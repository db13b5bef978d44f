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
	patience  = 5 * time.Second // for whoever is connected to send its line, or to take ours
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

// Serve answers what is asked of the database in dir, which this process must hold the lock of, until Close. An error
// that handle returns becomes the reply's.
func Serve(dir string, handle func(context.Context, Request) (Reply, error)) (s *Server, err error) {
	s = &Server{handle: handle, path: filepath.Join(dir, name)}
	if s.listener, err = listen(dir, s.path); err != nil {
		return nil, fmt.Errorf("control socket %s: %w", s.path, err)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.done.Go(s.accept)
	return s, nil
}

// listen makes the socket in a folder that nobody else may enter, so that nobody else connects before its mode is set, and
// then puts it in its place, where one that was left behind may lie.
func listen(dir, path string) (l *net.UnixListener, err error) {
	left, err := filepath.Glob(filepath.Join(dir, temporary+"*")) // of a process that was killed at it
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
	l.SetUnlinkOnClose(false) // by then it lies elsewhere
	made := filepath.Join(private, name)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// short is an address of the socket in a folder. That of a socket has at most 108 bytes, so the folder is named by its
// descriptor where the system can.
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
		if err != nil { // such as too many open files: it may pass
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
	if s.ctx.Err() != nil { // who asked is told that nobody is there
		return
	}
	if err != nil {
		reply = Reply{Error: ErrorOf(err)}
	}
	reply.PID = os.Getpid()
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	_ = json.NewEncoder(c).Encode(reply) // nobody is left to tell where this fails
}

func readRequest(r io.Reader) (request Request, err error) {
	d := json.NewDecoder(io.LimitReader(r, mostBytes))
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, model.Errorf(model.Usage, "bad_request", "a request through the control socket: %w", err)
	}
	return request, request.check()
}

// Close stops answering, and waits for what is being answered.
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
