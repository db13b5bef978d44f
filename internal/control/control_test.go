package control

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/internal/testrun"
	"birthmark/model"
)

// echo answers every request with an error that repeats it.
func echo(_ context.Context, r Request) (Reply, error) {
	if r.Do == State {
		return Reply{Failed: "nothing"}, nil
	}
	return Reply{}, model.Errorf(model.BadSource, "odd", "%s %s %v %v", r.Do, r.Index, r.Keep.Balance, r.Definition)
}

func serve(t *testing.T, dir string, handle func(context.Context, Request) (Reply, error)) *Server {
	t.Helper()
	s, err := Serve(dir, handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Requests and replies arrive, errors with their kind.
func TestRequestsAndRepliesTravel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 200)) // the address of a socket has at most 108 bytes
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, echo)
	if reply, err := Ask(t.Context(), dir, Request{Do: State}); err != nil || reply.Failed != "nothing" || reply.PID != os.Getpid() {
		t.Errorf("%+v, %v", reply, err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			d := &model.Definition{Name: "memo", Kind: model.ManyValued, When: "a\n", Value: `"b" > 'c'`}
			_, err := Ask(t.Context(), dir, Request{Do: Add, Index: "memo", Keep: model.IndexOptions{Balance: true}, Definition: d})
			kind, code := model.KindOf(err)
			if kind != model.BadSource || code != "odd" || err.Error() != "add memo true &{memo many-valued a\n \"b\" > 'c'}" {
				t.Errorf("%v, %s: %v", kind, code, err)
			}
		})
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Ask(t.Context(), dir, Request{Do: State}); !errors.Is(err, ErrNobody) {
		t.Errorf("request after the server ended: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

// A socket file that a dead process left does not answer and is replaced.
func TestLeftoverSocketIsReplaced(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(l.Close(), os.Mkdir(filepath.Join(dir, temporary+"1"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := Ask(t.Context(), dir, Request{Do: State}); !errors.Is(err, ErrNobody) {
		t.Errorf("request to a socket without a server: %v", err)
	}
	s := serve(t, dir, echo)
	if _, err := Ask(t.Context(), dir, Request{Do: State}); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("%v, %v", info, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A process that ends does not wait for requests that never arrive, and its clients get ErrNobody.
func TestCloseDoesNotWaitForClients(t *testing.T) {
	dir := t.TempDir()
	began := make(chan bool, 1)
	s := serve(t, dir, func(ctx context.Context, _ Request) (Reply, error) {
		began <- true
		<-ctx.Done()
		return Reply{}, ctx.Err()
	})
	silent, err := net.Dial("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	told := make(chan error, 1)
	go func() {
		_, err := Ask(context.Background(), dir, Request{Do: State})
		told <- err
	}()
	<-began
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	for range 2 {
		select {
		case err := <-told:
			if !errors.Is(err, ErrNobody) {
				t.Errorf("the client got %v", err)
			}
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(testrun.Patience):
			t.Fatal("Close does not return")
		}
	}
}

// A request ends with its context.
func TestAskEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	serve(t, dir, func(ctx context.Context, _ Request) (Reply, error) {
		cancel()
		<-ctx.Done()
		return Reply{}, nil
	})
	if _, err := Ask(ctx, dir, Request{Do: State}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func FuzzRequest(f *testing.F) {
	for _, seed := range []string{`{"do":"state"}`, `{"do":"add","index":"memo","definition":{"Name":"memo","Kind":2,"Value":"x"}}`, `{"do":"drop","index":""}`, "[", "null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, err := readRequest(strings.NewReader(line))
		if kind, code := model.KindOf(err); err != nil && (kind != model.Usage || code != "bad_request") {
			t.Errorf("%q: %v", line, err)
		}
		if err == nil && (r.Do != State && r.Index == "" || r.Definition != nil && !r.Definition.Kind.Valid()) {
			t.Errorf("%q is taken for %+v", line, r)
		}
	})
}
