package answertest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"birthmark/core/meter"
	"birthmark/storage/storetest"
)

// stateRows is the number of rows of the state of a database. The first View after a change reads them for all requests.
const stateRows = 3

// Charged fails the test if a request reads rows of the store that the meter of its context does not count. requests
// returns the number of requests that read rows so far.
func Charged(t testing.TB, store *storetest.Faulty) (requests func() int) {
	t.Helper()
	var mu sync.Mutex
	read := map[*meter.Meter]int64{}
	faults := 0
	store.OnView(func(ctx context.Context, rows int64) {
		m := meter.Of(ctx)
		if rows -= stateRows; m == nil || rows <= 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if read[m] += rows; read[m] > m.Cost().Rows {
			if faults++; faults <= shown {
				t.Errorf("a request read %d rows, its meter counts %d", read[m], m.Cost().Rows)
			}
		}
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(read)
	}
}

// free is a payer who has no limit.
type free struct{}

// Pay implements [meter.Payer].
func (free) Pay(int64) error { return nil }

// Release implements [meter.Payer].
func (free) Release() {}

// metered gives requests a meter that have none, and adds their costs to the table of the package: see [operations].
func metered(t testing.TB, h http.Handler) http.Handler {
	if costs != "" {
		t.Cleanup(func() {
			if err := measured.write(); err != nil {
				t.Error(err)
			}
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if meter.Of(r.Context()) != nil {
			h.ServeHTTP(w, r)
			return
		}
		m := meter.New(free{}, 0, meter.Unit, nil)
		defer m.End()
		inner := r.WithContext(meter.With(r.Context(), m))
		defer func() { r.Pattern = inner.Pattern }()
		if costs == "" || r.Header.Get("Upgrade") != "" {
			h.ServeHTTP(w, inner)
			return
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		began := threadTime()
		h.ServeHTTP(&counting{w, m}, inner)
		measured.add(r.Method+" "+inner.Pattern, m.Cost(), threadTime()-began)
	})
}

// costs is the folder of the tables of costs; empty: no costs are measured.
var costs = os.Getenv("BIRTHMARK_COSTS")

// counting reports the bytes of an answer, as the writer of a server does.
type counting struct {
	http.ResponseWriter
	m *meter.Meter
}

func (c *counting) Write(b []byte) (int, error) {
	_ = c.m.Sent(len(b)) // it has no limit
	return c.ResponseWriter.Write(b)
}

func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// threadTime returns the CPU time of the thread.
func threadTime() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// operation is the most expensive request of an operation.
type operation struct {
	requests int
	meter.Cost
	cpu time.Duration
}

// perUnit returns the CPU time of the request per unit of rate that it costs.
func (o *operation) perUnit() time.Duration { return o.cpu / time.Duration(o.Units()) }

// operations are the costs of the operations that the tests of a package requested. They are written to the folder in
// the environment variable BIRTHMARK_COSTS, as a table of Markdown.
type operations struct {
	mu sync.Mutex
	by map[string]*operation
}

var measured operations

// mostPerUnit is the most CPU time that a unit of rate may buy.
const mostPerUnit = 200 * time.Millisecond

func (all *operations) add(name string, c meter.Cost, cpu time.Duration) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.by == nil {
		all.by = map[string]*operation{}
	}
	o := all.by[name]
	if o == nil {
		o = new(operation)
		all.by[name] = o
	}
	one := operation{Cost: c, cpu: cpu}
	if o.requests++; one.perUnit() > o.perUnit() || one.perUnit() == o.perUnit() && c.Points > o.Points {
		o.Cost, o.cpu = c, cpu
	}
}

// write writes the table of a package.
func (all *operations) write() error {
	in, err := os.Getwd()
	if err != nil {
		return err
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	var b bytes.Buffer
	name := filepath.Base(in)
	fmt.Fprintf(&b, "## %s\n\n| operation | requests | units | points | rows | bytes | CPU ms | CPU s per unit | |\n"+
		"|---|---:|---:|---:|---:|---:|---:|---:|---|\n", name)
	for _, o := range slices.SortedFunc(maps.Keys(all.by), cmp.Compare) {
		c, mark := all.by[o], ""
		if c.perUnit() > mostPerUnit {
			mark = "**above 0.2**"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %.3f | %.4f | %s |\n", o, c.requests, c.Units(), c.Points, c.Rows,
			c.Sent, float64(c.cpu.Microseconds())/1e3, c.perUnit().Seconds(), mark)
	}
	if err := os.MkdirAll(costs, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(costs, name+".md"), b.Bytes(), 0o644)
}
