package attack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"birthmark/core/meter"
)

// Cost is the price of an operation: units of rate for the client, and CPU time for the server.
type Cost struct {
	Name     string  `json:"name"` // protocol and operation
	Requests int     `json:"requests"`
	Refused  int     `json:"refused"`  // requests that ended with an error, such as that of a limit
	Units    float64 `json:"units"`    // of rate: the mean
	Points   int64   `json:"points"`   // see [meter.Meter]: the mean
	Rows     int64   `json:"rows"`     // the mean
	Bytes    int64   `json:"bytes"`    // of an answer: the mean
	CPU      float64 `json:"cpu_ms"`   // the mean
	PerUnit  float64 `json:"per_unit"` // seconds of CPU time per unit of rate
	Above    bool    `json:"above"`    // PerUnit is above the bound
}

// mostPerUnit is the bound of the CPU time that a unit of rate buys, in seconds.
const mostPerUnit = 0.2

// Limits of the requests of an operation.
const (
	mostRequests = 20
	mostCPU      = time.Second // of the server, after which no more requests are sent
)

// Costs measures the requests of the attacks whose name contains a text, one after the other. The server must have been
// started with Options.Costs.
func (s *Server) Costs(ctx context.Context, only string) (costs []*Cost, err error) {
	s.settle(ctx, idle)
	share := s.share(ctx)
	for _, a := range s.Attacks() {
		if !strings.Contains(a.Name, only) || strings.Contains(a.Name, "batch") {
			continue
		}
		q := a.request
		if q.method == "" && !q.electrum {
			q.body, _, _ = strings.Cut(q.body, "\n")
		}
		c, err := s.cost(ctx, a.Name, q, share)
		if err != nil {
			return nil, err
		}
		costs = append(costs, c)
	}
	return costs, nil
}

// share returns the share of a processor that the server uses without requests, such as for the mempool.
func (s *Server) share(ctx context.Context) float64 {
	began, before := time.Now(), s.usage().cpu
	select {
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
	}
	return (s.usage().cpu - before).Seconds() / time.Since(began).Seconds()
}

func (s *Server) cost(ctx context.Context, name string, q request, share float64) (*Cost, error) {
	r := &Cost{Name: name}
	c := &client{s: s}
	defer c.close()
	began, before := time.Now(), s.usage().cpu
	for r.Requests < mostRequests && s.usage().cpu-before < mostCPU {
		from := s.lines.count()
		if c.ask(ctx, q) != nil {
			r.Refused++
			c.close()
			c.conn = nil
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if q.electrum || q.method != "" {
			r.Bytes += c.got
		}
		points, rows, err := s.lines.spent(ctx, from, q.method == "" && !q.electrum)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.Requests++
		r.Points, r.Rows = r.Points+points, r.Rows+rows
		r.Units += float64((meter.Cost{Points: points}).Units())
	}
	n := float64(r.Requests)
	cpu := max(0, (s.usage().cpu-before).Seconds()-share*time.Since(began).Seconds())
	r.PerUnit = cpu / r.Units
	r.Units, r.CPU, r.Above = r.Units/n, 1e3*cpu/n, r.PerUnit > mostPerUnit
	r.Points, r.Rows, r.Bytes = r.Points/int64(r.Requests), r.Rows/int64(r.Requests), r.Bytes/int64(r.Requests)
	return r, nil
}

// lines collects the costs of requests from the log of the server.
type lines struct {
	to io.Writer // of other lines

	mu   sync.Mutex
	rest []byte
	all  []logLine
}

// logLine is a line of the log about a request, or a part of one.
type logLine struct {
	message      string
	points, rows int64
}

var costLine = regexp.MustCompile(`msg="?(request|part|electrum: request)"? .*points=(\d+) rows=(\d+)`)

// Write implements [io.Writer].
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		if m := costLine.FindSubmatch(l.rest[:end]); m != nil {
			points, _ := strconv.ParseInt(string(m[2]), 10, 64)
			rows, _ := strconv.ParseInt(string(m[3]), 10, 64)
			l.all = append(l.all, logLine{string(m[1]), points, rows})
		} else if !bytes.Contains(l.rest[:end], []byte("level=DEBUG")) {
			_, _ = l.to.Write(l.rest[:end+1]) // the log of a measurement
		}
		l.rest = slices.Delete(l.rest, 0, end+1)
	}
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// spent returns the points and rows of the request that was sent after line from: those of the request and its parts. A
// message of the Electrum protocol has a line per request, with the sum so far. A message of a WebSocket is a part.
func (l *lines) spent(ctx context.Context, from int, socket bool) (points, rows int64, err error) {
	for range 1000 {
		time.Sleep(10 * time.Millisecond)
		l.mu.Lock()
		since := slices.Clone(l.all[from:])
		l.mu.Unlock()
		if len(since) == 0 || since[len(since)-1].message == "part" && !socket {
			if err := ctx.Err(); err != nil {
				return 0, 0, context.Cause(ctx)
			}
			continue
		}
		for _, s := range since {
			if s.message == "electrum: request" {
				points, rows = max(points, s.points), max(rows, s.rows)
			} else {
				points, rows = points+s.points, rows+s.rows
			}
		}
		return points, rows, nil
	}
	return 0, 0, fmt.Errorf("the log of the server has no line about the request")
}

// Markdown returns a table of costs.
func Markdown(costs []*Cost) string {
	var b strings.Builder
	b.WriteString("| operation | requests | refused | units | points | rows | bytes | CPU ms | CPU s per unit | |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, c := range costs {
		mark := ""
		if c.Above {
			mark = fmt.Sprintf("above %v", mostPerUnit)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f | %d | %d | %d | %.1f | %.3f | %s |\n", c.Name, c.Requests, c.Refused, c.Units,
			c.Points, c.Rows, c.Bytes, c.CPU, c.PerUnit, mark)
	}
	return b.String()
}
