package attack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"birthmark/chains/bitcoin"
)

// Held has the resources of a server: descriptors, goroutines and memory.
type Held struct {
	Descriptors int   `json:"descriptors"`
	Goroutines  int   `json:"goroutines"`
	Heap        int64 `json:"heap"` // bytes after a collection
}

// Visit has the resources of a server before and after clients of a protocol connected, sent requests and disconnected.
type Visit struct {
	Protocol string `json:"protocol"`
	Clients  int    `json:"clients"`
	Refused  int    `json:"refused"` // clients whose request exceeded a limit of the server
	Before   Held   `json:"before"`
	After    Held   `json:"after"`
}

// Withstood reports whether the clients left nothing behind, within the tolerance.
func (v *Visit) Withstood() bool { return v.Refused < v.Clients && v.After.within(v.Before) }

// atOnce is the number of clients of a visit that are connected at the same time.
const atOnce = 500

// visitor is a client of a protocol: it sends the request, reads an answer, and waits until the others have theirs.
type visitor struct {
	protocol string
	over     func(ctx context.Context, s *Server, i int, q request, answered func()) error
	request  request
}

func (s *Server) visitors() []visitor {
	events := "/v1/" + s.names[bitcoin.Name] + "/events"
	return []visitor{
		{"electrum", visitElectrum, request{body: strings.Join([]string{
			call(1, "server.version", "visitor", "1.4"), call(2, "blockchain.headers.subscribe"),
			call(3, "blockchain.scripthash.subscribe", s.quietHash),
			call(4, "blockchain.scripthash.get_balance", s.quietHash), "",
		}, "\n")}},
		{"blockbook", visitSocket, socket("/blockbook/websocket", `{"id":"1","method":"subscribeNewBlock","params":{}}`+"\n"+
			fmt.Sprintf(`{"id":"2","method":"subscribeAddresses","params":{"addresses":[%q]}}`, s.quiet)+"\n"+
			fmt.Sprintf(`{"id":"3","method":"getAccountInfo","params":{"descriptor":%q}}`, s.quiet))},
		{"events", visitStream, get("%s", events)},
		{"esplora", visitHTTP, get("/api/address/%s", s.quiet)},
		{"v1", visitHTTP, get("/v1/%s/balance/address/%s", s.names[bitcoin.Name], s.quiet)},
		{"explorer", visitHTTP, get("/%s/address/%s", s.names[bitcoin.Name], s.quiet)},
		{"kupo", visitHTTP, get("/kupo/checkpoints/10")},
		{"blockfrost", visitHTTP, get("/api/v0/blocks/10")},
		{"ergonode", visitHTTP, get("/node/blocks/at/10")},
		{"ergoexplorer", visitHTTP, get("/explorer/api/v1/blocks?limit=1")},
		{"graphql", visitHTTP, post("/graphql", `{"query":"{state{height}}"}`)},
		{"ogmios", visitSocket, socket("/ogmios", messages(1, "queryNetwork/tip"))},
		{"submit_api", visitHTTP, post("/submit/api/submit/tx", "x")},
	}
}

// Visit lets n clients of each protocol connect, ask, subscribe where they can, and leave, at most 500 at once.
func (s *Server) Visit(ctx context.Context, n int) (visits []*Visit, err error) {
	for _, v := range s.visitors() {
		if _, err := s.wave(ctx, v, min(n, 10)); err != nil { // caches and pools of the first clients stay
			return nil, err
		}
		visit := &Visit{Protocol: v.protocol}
		if visit.Before, err = s.held(ctx, nil); err != nil {
			return nil, err
		}
		for left := n; left > 0; left -= atOnce {
			refused, err := s.wave(ctx, v, min(left, atOnce))
			if err != nil {
				return nil, err
			}
			visit.Clients, visit.Refused = visit.Clients+min(left, atOnce), visit.Refused+refused
		}
		if visit.After, err = s.held(ctx, &visit.Before); err != nil {
			return nil, err
		}
		visits = append(visits, visit)
	}
	return visits, nil
}

// errRefused is the error of a request that exceeds a limit of the server.
var errRefused = errors.New("refused")

// wave lets n clients come, which leave when all have their answers. It returns how many were refused.
func (s *Server) wave(ctx context.Context, v visitor, n int) (refused int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var clients, answers sync.WaitGroup
	answers.Add(n)
	everyone := make(chan struct{})
	go func() { answers.Wait(); close(everyone) }()
	errs := make([]error, n)
	for i := range n {
		clients.Go(func() {
			done := sync.OnceFunc(answers.Done)
			defer done()
			errs[i] = v.over(ctx, s, i, v.request, func() {
				done()
				select {
				case <-everyone:
				case <-ctx.Done():
				}
			})
		})
	}
	clients.Wait()
	for _, err := range errs {
		if errors.Is(err, errRefused) {
			refused++
		} else if err != nil {
			return refused, fmt.Errorf("a client of %s: %w", v.protocol, err)
		}
	}
	return refused, nil
}

func (s *Server) at(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// dial connects as the i-th client.
func dial(ctx context.Context, i int, at string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: clientAt(i)}
	conn, err := d.DialContext(ctx, "tcp", at)
	if err == nil {
		_ = conn.SetDeadline(time.Now().Add(patience))
	}
	return conn, err
}

func visitElectrum(ctx context.Context, s *Server, i int, q request, answered func()) error {
	conn, err := dial(ctx, i, s.at(s.electrum))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, q.body); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for range strings.Count(q.body, "\n") {
		text, err := in.ReadString('\n')
		if err != nil || !strings.Contains(text, `"result"`) {
			return fmt.Errorf("%.200s: %w", text, err)
		}
	}
	answered()
	return nil
}

func visitSocket(ctx context.Context, s *Server, i int, q request, answered func()) error {
	return converse(ctx, &net.Dialer{LocalAddr: clientAt(i)}, "ws://"+s.at(s.http)+q.path, q.body, answered)
}

// visitStream reads the beginning of an answer that does not end.
func visitStream(ctx context.Context, s *Server, i int, q request, answered func()) error {
	return s.visit(ctx, i, q, answered, func(in *bufio.Reader) error {
		_, err := in.ReadString('\n')
		return err
	})
}

// visitHTTP reads an answer and leaves the connection open.
func visitHTTP(ctx context.Context, s *Server, i int, q request, answered func()) error {
	return s.visit(ctx, i, q, answered, func(in *bufio.Reader) error {
		line, err := in.ReadString('\n')
		switch {
		case err != nil || strings.Contains(line, " 200 ") || q.body == "x": // no transaction
			return err
		case strings.Contains(line, " 503 ") || strings.Contains(line, " 429 "):
			return errRefused
		}
		return errors.New(line)
	})
}

func (s *Server) visit(ctx context.Context, i int, q request, answered func(), read func(*bufio.Reader) error) error {
	conn, err := dial(ctx, i, s.at(s.http))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = io.WriteString(conn, q.overHTTP(s.at(s.http), "")); err == nil {
		err = read(bufio.NewReader(conn))
	}
	if err == nil || errors.Is(err, errRefused) {
		answered()
	}
	return err
}

var (
	goroutines = regexp.MustCompile(`total (\d+)`)
	heapAlloc  = regexp.MustCompile(`# HeapAlloc = (\d+)`)
)

// Tolerance of the resources after a visit.
const tolerance = 0.1

// held returns the resources of the server. With those before a visit, it waits at most a minute until they are equal
// within the tolerance.
func (s *Server) held(ctx context.Context, before *Held) (h Held, err error) {
	for range 120 {
		if h, err = s.heldNow(); err != nil || before != nil && h.within(*before) {
			return h, err
		}
		select {
		case <-ctx.Done():
			return h, context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
		if before == nil {
			s.settle(ctx, idle)
			return s.heldNow()
		}
	}
	return h, nil
}

// within reports whether nothing exceeds what was held before by more than the tolerance.
func (h Held) within(before Held) bool {
	near := func(now, before float64) bool { return now <= before*(1+tolerance) }
	return near(float64(h.Descriptors), float64(before.Descriptors)) &&
		near(float64(h.Goroutines), float64(before.Goroutines)) && near(float64(h.Heap), float64(before.Heap))
}

func (s *Server) heldNow() (h Held, err error) {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		return h, err
	}
	h.Descriptors = len(open)
	for _, p := range []struct {
		path string
		form *regexp.Regexp
		to   func(int64)
	}{
		{"goroutine?debug=1", goroutines, func(n int64) { h.Goroutines = int(n) }},
		{"heap?gc=1&debug=1", heapAlloc, func(n int64) { h.Heap = n }},
	} {
		text, err := s.profile(p.path)
		if err != nil {
			return h, err
		}
		m := p.form.FindStringSubmatch(text)
		if m == nil {
			return h, fmt.Errorf("%s: no number in %.100s", p.path, text)
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return h, err
		}
		p.to(n)
	}
	return h, nil
}
