package nodehttp

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// serve returns a server on loopback, with TLS if secure.
func serve(t *testing.T, secure bool, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, kind *Kind, uri string) *Client {
	t.Helper()
	c, err := New(kind, uri, "9000", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// ask sends a request and reads the whole response.
func ask(ctx context.Context, c *Client, r Request) (text string, err error) {
	err = c.Do(ctx, r, func(a *http.Response) error {
		b, err := io.ReadAll(a.Body)
		text = string(b)
		return err
	})
	return text, err
}

func TestRequestsAreSentAsTheyAre(t *testing.T) {
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, strings.Join([]string{
			r.Method, r.URL.String(), r.Header.Get("Content-Type"), r.Header.Get("Api_key"), r.Header.Get("Authorization"),
			r.Header.Get("Accept-Encoding"), r.Header.Get("Idempotency-Key"), string(body)}, "|"))
	})
	uri := strings.Replace(s.URL, "://", "://:"+secret+"@", 1) + "/below"
	header := http.Header{"Api_key": {"open sesame"}}
	for _, q := range []struct {
		kind    *Kind
		request Request
		want    string
	}{
		{withUsers, Request{}, "GET|/below||||||"},
		{withUsers, Request{Path: []string{"blocks", "a/b"}}, "GET|/below/blocks/a/b||||||"},
		{withKeys, Request{Path: []string{"blocks"}, Query: url.Values{"a": {"1 2"}}, Header: header}, "GET|/below/blocks?a=1+2||open sesame||gzip||"},
		{withUsers, Request{Header: header, Body: []byte(`[]`)}, "POST|/below|application/json|open sesame||||[]"},
		{withUsers, Request{Body: []byte{}}, "POST|/below|application/json|||||"},
	} {
		if got, err := ask(t.Context(), client(t, q.kind, uri), q.request); err != nil || got != q.want {
			t.Errorf("%+v is sent as %q, %v", q.request, got, err)
		}
	}
	if len(header) != 1 {
		t.Errorf("a request modified its headers: %v", header)
	}
}

// The caller handles every status. Redirections are not followed.
func TestResponsesOfEveryStatusAreReturned(t *testing.T) {
	var status int
	s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Error("a redirection was followed")
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	})
	c := client(t, withUsers, s.URL+"/")
	wrong := errors.New("wrong")
	for _, status = range []int{200, 302, 401, 404, 503} {
		if err := c.Do(t.Context(), Request{}, func(a *http.Response) error {
			if a.StatusCode != status {
				t.Errorf("%d came as %d", status, a.StatusCode)
			}
			return wrong
		}); err != wrong {
			t.Errorf("%d: the error of a response is %v", status, err)
		}
	}
}

// Concurrent callers send no more requests than a node accepts, and all get their responses.
func TestConcurrentRequestsAreBounded(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	full := make(chan struct{})
	s := serve(t, false, func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		now++
		if most = max(most, now); now == Places {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		<-full
		mu.Lock()
		now--
		mu.Unlock()
	})
	c := client(t, withUsers, s.URL)
	var all sync.WaitGroup
	for range 5 * Places {
		all.Go(func() {
			if _, err := ask(t.Context(), c, Request{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most != Places {
		t.Errorf("%d concurrent requests", most)
	}
}

// When the context ends, every wait ends with its error.
func TestTheEndOfTheContextEndsEverything(t *testing.T) {
	for _, begin := range []string{"", "["} {
		ctx, cancel := context.WithCancel(t.Context())
		s := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
			time.AfterFunc(20*time.Millisecond, cancel)
			silent(begin)(w, r)
		})
		c := client(t, withUsers, s.URL)
		for _, when := range []string{"under way", "before it"} {
			if _, err := ask(ctx, c, Request{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", when, err)
			}
		}
		for range Places {
			c.places <- struct{}{}
		}
		if _, err := ask(ctx, c, Request{}); !errors.Is(err, context.Canceled) {
			t.Errorf("without a free place: %v", err)
		}
	}
}

// A request is retried without a message if the node closed the idle connection.
func TestAnIdleConnectionMayBeClosed(t *testing.T) {
	s := serve(t, false, func(http.ResponseWriter, *http.Request) {})
	c := client(t, withUsers, s.URL)
	for i := range 40 {
		r := Request{}
		if i%2 == 0 {
			r.Body = []byte("{}")
		}
		if _, err := ask(t.Context(), c, r); err != nil {
			t.Fatal(err)
		}
		s.CloseClientConnections()
	}
}

// Connections are reused, and none is open after Close.
func TestCloseLeavesNoConnection(t *testing.T) {
	open, closed := make(chan net.Conn, 100), make(chan net.Conn, 100)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{} ") }))
	s.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open <- conn
		case http.StateClosed:
			closed <- conn
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t, withUsers, s.URL)
	for range 20 {
		// The body is not read to its end, as with JSON that ends before the body.
		if err := c.Do(t.Context(), Request{}, func(a *http.Response) error {
			_, err := io.ReadFull(a.Body, make([]byte, 2))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(open); n != 1 {
		t.Errorf("%d connections for one caller", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for n := len(open); n > 0; n-- {
		<-closed
	}
}
