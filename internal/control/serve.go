package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"birthmark/model"
)

const (
	name      = "control.sock"
	temporary = ".control-"

	maxBytes = 1 << 20         // of a body
	patience = 5 * time.Second // for a client to send its request
)

// Server serves a database's control socket.
type Server struct {
	server *http.Server
	path   string
	handle func(context.Context, Request) (Reply, error)

	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // handlers, and the loop that accepts
}

// Serve answers requests for the database in dir until Close. This process must hold the lock of the database. An error
// of handle becomes the error of the reply.
func Serve(dir string, handle func(context.Context, Request) (Reply, error)) (*Server, error) {
	s := &Server{path: filepath.Join(dir, name), handle: handle}
	listener, err := listen(dir, s.path)
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", s.path, err)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.server = &http.Server{Handler: s, ReadTimeout: patience}
	s.running.Go(func() { _ = s.server.Serve(listener) })
	return s, nil
}

// ServeHTTP answers one request. It closes the connection without a response if the server is closed: the client then
// returns [ErrNobody].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()

	var reply Reply
	request, err := readRequest(http.MaxBytesReader(w, r.Body, maxBytes))
	if err == nil {
		reply, err = s.handle(s.ctx, request)
	}
	if s.ctx.Err() != nil {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		reply = Reply{Error: ErrorOf(err)}
	}
	reply.PID = os.Getpid()
	_ = json.NewEncoder(w).Encode(reply)
}

// listen creates the socket in a private folder, so that no other user can connect before its mode is set, and then moves
// it to its path, where it replaces one that was left behind.
func listen(dir, path string) (l *net.UnixListener, err error) {
	left, err := filepath.Glob(filepath.Join(dir, temporary+"*")) // of a killed process
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
	address, folder, err := shortAddress(private)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"}); err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the socket is moved
	made := filepath.Join(private, name)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// shortAddress returns an address of the socket in a folder. Socket addresses have at most 108 bytes, so the folder is
// named by its descriptor if the system supports that.
func shortAddress(dir string) (address string, folder *os.File, err error) {
	if folder, err = os.Open(dir); err != nil {
		return "", nil, err
	}
	address = fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	if _, err := os.Stat(address); err != nil {
		address = dir
	}
	return filepath.Join(address, name), folder, nil
}

func readRequest(r io.Reader) (request Request, err error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return request, model.Errorf(model.Usage, "bad_request", "control socket: %w", err)
	}
	return request, request.check()
}

// Close stops answering, cancels the running requests and waits for them.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	err := os.Remove(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, s.server.Close())
	s.running.Wait()
	return err
}
