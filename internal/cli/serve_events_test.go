package cli

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"birthmark/internal/testseed"
)

// eventClient is a client of a server's events whose connection can break at any byte.
type eventClient struct {
	heard *listener
	id    string // stored together with the received events
}

// listen connects and reads at most the given number of bytes, until ctx ends.
func (c *eventClient) listen(ctx context.Context, url string, bytes int64) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		panic(err)
	}
	if c.id != "" {
		r.Header.Set("Last-Event-ID", c.id)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return // the server is not running, or ctx is canceled
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return // the server is stopping
	}
	var name, data, id string
	for lines := bufio.NewReader(io.LimitReader(a.Body, bytes)); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // an event without an empty line at its end is incomplete
		}
		switch field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); {
		case field == "event":
			name = value
		case field == "data":
			data = value
		case field == "id":
			id = value
		case line == "\n" && name != "":
			// The client stores the events and the id together.
			if name == "tip" {
				name = "block"
			}
			c.heard.line(`{"type":"` + name + `",` + data[1:])
			if id != "" {
				c.id = id
			}
			name, data, id = "", "", ""
		}
	}
	c.heard.forget()
}

// forget discards the state in memory, like a kill.
func (l *listener) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.pending)
}

// A client of a server's events has the same final state as a client without interruptions, although its connection
// breaks at any byte, the chain forks, and the server is killed and restarted.
func TestFollowersOfAServerLoseNothing(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	f := newForking(rng)
	db := filepath.Join(t.TempDir(), "db")
	node := f.Start(t)
	start := func() *serverProcess {
		return startServer(t, "--chain", "ergo", "--network", "testnet", "--source", node, "--db", db)
	}
	s := start()
	c := &eventClient{heard: newListener()}
	const query = "v1/ergo-testnet/events?follow=address&spends=true&from=origin"
	killed, forks := 0, 0
	for range 16 {
		ctx, leave := context.WithCancel(t.Context())
		var listening sync.WaitGroup
		url, bytes := s.URL+query, rng.Int64N(60_000)
		listening.Go(func() { c.listen(ctx, url, bytes) })
		for range 1 + rng.IntN(3) {
			switch rng.IntN(4) {
			case 0, 1:
				f.fork(1 + rng.IntN(12))
				forks++
			default:
				f.grow(1 + rng.IntN(5))
			}
		}
		switch rng.IntN(4) {
		case 0:
			s.kill()
			s = start()
			killed++
		case 1:
			want := hashOf(f.best[len(f.best)-1])
			until(t, "the node's tip", func() bool { _, hash := s.tip(t, "ergo-testnet"); return hash == want })
		}
		leave()
		listening.Wait()
	}
	f.grow(1)
	height := int(f.longest() - 2)
	ctx, leave := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { c.listen(ctx, s.URL+query, 1<<40) })
	want := hashOf(f.best[len(f.best)-1])
	until(t, "the node's last tip", func() bool { _, hash := s.tip(t, "ergo-testnet"); return hash == want })
	until(t, "the client to hear of it", func() bool { return c.heard.height() == height })
	leave()
	listening.Wait()
	s.stop(t)
	whole := newListener()
	for line := range strings.Lines(birthmark("find", "--follow", "address", "--spends", "--json", "--until-tip", "--db", db).stdout) {
		whole.line(line)
	}
	if c.heard.wrong != nil || whole.wrong != nil {
		t.Fatal(c.heard.wrong, whole.wrong)
	}
	if !maps.Equal(c.heard.have, whole.have) || len(whole.have) < height || forks == 0 {
		t.Errorf("%d outputs and spends were received, expected %d, after %d forks and %d kills of the server", len(c.heard.have), len(whole.have), forks, killed)
	}
	t.Logf("%d outputs and spends, %d blocks, %d forks, the server was killed %d times", len(whole.have), height, forks, killed)
}
