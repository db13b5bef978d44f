package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"birthmark/bench/generate/distribution"
	"birthmark/model"
)

// LoadOptions say what a server is asked by [Load].
type LoadOptions struct {
	URL         string         // of the chain: http://HOST:PORT/v1/NAME
	Connections int            // each asks one request after the other
	For         time.Duration  // that is measured
	Rate        float64        // requests a second, whatever the server takes for them; 0: as many as it answers
	Mix         map[string]int // weights of what is asked, by the names of [LoadKinds]
	Samples     int            // places that are asked for
	Seed        uint64         // the same seed draws the same places

	// Begin is called when all was asked for once, and says when to end, where that is earlier than For. It may be nil.
	Begin func(ctx context.Context) (end <-chan struct{}, err error)
}

// LoadMix is what people who look at an explorer and programs that follow their addresses ask for: mostly transactions and
// addresses. A block is the longest answer by far, it has the hash of each of its transactions.
var LoadMix = map[string]int{"tx": 45, "find": 30, "balance": 20, "block": 5}

// LoadResult is how a server answered. Latencies are from when a request was due to the last byte of its answer.
type LoadResult struct {
	Seconds           float64              `json:"seconds"`
	Requests          int                  `json:"requests"`
	RequestsPerSecond float64              `json:"requests_per_s"`
	Errors            int                  `json:"errors"`
	Failed            map[string]int       `json:"failed,omitempty"` // how often, by what was wrong
	Bytes             int64                `json:"bytes"`            // that came, heads too
	Millis            Latencies            `json:"latency_ms"`
	Kinds             map[string]Latencies `json:"latency_ms_by_kind"`
	ClientCPU         float64              `json:"client_cpu_s"` // of the process that asks
}

// Load asks a server over many connections at once, and measures how it answers. The places it asks for are drawn from the
// server itself, and each was asked for once before it is measured. To be called in a process that does nothing else: what
// it takes is then known, and is not the server's.
func Load(ctx context.Context, o LoadOptions) (*LoadResult, error) {
	at, err := loadURL(o.URL)
	if err != nil {
		return nil, err
	}
	kinds, weights, err := loadKinds(o.Mix)
	if err != nil {
		return nil, err
	}
	d := &drawer{newClient(at.Host), at}
	defer d.close()
	p, err := d.draw(ctx, o.Samples, o.Seed)
	if err != nil {
		return nil, err
	}
	requests := make([][][]byte, len(kinds))
	for k, name := range kinds {
		if requests[k], err = p.requests(name, at); err != nil {
			return nil, err
		}
		for _, r := range requests[k] {
			a, err := d.ask(r, true)
			if err == nil && a.status != 200 {
				err = fmt.Errorf("status %d, expected 200: %.200s", a.status, a.body)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				line, _, _ := strings.Cut(string(r), "\r\n")
				return nil, model.Errorf(model.BadSource, "no_answer", "%s of %s: %w", line, at.Host, err)
			}
		}
	}
	var end <-chan struct{}
	if o.Begin != nil {
		if end, err = o.Begin(ctx); err != nil {
			return nil, err
		}
	}
	cpu, began := processCPU(), time.Now()
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		over := time.NewTimer(o.For)
		defer over.Stop()
		select {
		case <-over.C:
		case <-end:
		case <-ctx.Done():
		}
	}()
	askers := make([]*asker, o.Connections)
	var all sync.WaitGroup
	for i := range askers {
		a := &asker{
			client: newClient(at.Host), requests: requests, weights: weights, rng: distribution.NewRandom(o.Seed, uint64(i)+1),
			took: make([][]time.Duration, len(kinds)), failed: map[string]int{},
		}
		if o.Rate > 0 {
			a.every = time.Duration(float64(o.Connections) / o.Rate * float64(time.Second))
			a.due = began.Add(a.every * time.Duration(i) / time.Duration(o.Connections))
		}
		askers[i] = a
		all.Go(func() { a.run(stop) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return loaded(askers, kinds, time.Since(began), processCPU()-cpu), nil
}

// loadURL is where a chain is served.
func loadURL(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" || at.Port() == "" || !strings.HasPrefix(at.Path, "/v1/") {
		return nil, model.Errorf(model.Usage, "bad_value", "expected the address of a chain that is served, as http://127.0.0.1:8080/v1/bitcoin, not %q", text)
	}
	at.Path = strings.TrimSuffix(at.Path, "/")
	return at, nil
}

// loadKinds are what a mix has, and up to which of the numbers below the sum of all weights each is asked.
func loadKinds(mix map[string]int) (kinds []string, weights []int, err error) {
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(mix)) {
		if _, known := loadPaths[name]; !known || mix[name] < 1 {
			return nil, nil, model.Errorf(model.Usage, "bad_value", "expected weights from 1 on of some of %s, not %s=%d", strings.Join(LoadKinds(), ", "), name, mix[name])
		}
		sum += mix[name]
		kinds, weights = append(kinds, name), append(weights, sum)
	}
	return kinds, weights, nil
}

// asker is one connection and how its requests went.
type asker struct {
	*client
	requests [][][]byte // by kind
	weights  []int
	rng      distribution.Random
	every    time.Duration // 0: at once
	due      time.Time

	took   [][]time.Duration // of answers, by kind
	failed map[string]int
}

func (a *asker) run(stop <-chan struct{}) {
	defer a.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		asked := time.Now()
		if a.every > 0 {
			if wait := a.due.Sub(asked); wait > 0 {
				timer.Reset(wait)
				select {
				case <-timer.C:
				case <-stop:
					return
				}
			}
			asked, a.due = a.due, a.due.Add(a.every)
		}
		select {
		case <-stop:
			return
		default:
		}
		kind, _ := slices.BinarySearch(a.weights, a.rng.IntN(a.weights[len(a.weights)-1])+1)
		of := a.requests[kind]
		switch got, err := a.ask(of[a.rng.IntN(len(of))], false); {
		case err != nil:
			a.failed[wrong(err)]++
			time.Sleep(errorPause)
		case got.status != 200:
			a.failed[fmt.Sprint("status ", got.status)]++
		default:
			a.took[kind] = append(a.took[kind], time.Since(asked))
		}
	}
}

// errorPause keeps a server that went away from being asked without end.
const errorPause = 10 * time.Millisecond

// wrong is what is wrong with a connection, without its ports.
func wrong(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// loaded is what all connections together measured.
func loaded(askers []*asker, kinds []string, took, cpu time.Duration) *LoadResult {
	r := &LoadResult{Seconds: took.Seconds(), ClientCPU: cpu.Seconds(), Kinds: map[string]Latencies{}, Failed: map[string]int{}}
	var all []time.Duration
	for k, name := range kinds {
		var of []time.Duration
		for _, a := range askers {
			of = append(of, a.took[k]...)
		}
		r.Kinds[name] = latencies(of, time.Millisecond)
		all = append(all, of...)
	}
	for _, a := range askers {
		r.Bytes += a.read
		for what, n := range a.failed {
			r.Errors += n
			r.Failed[what] += n
		}
	}
	r.Requests = len(all)
	r.RequestsPerSecond = float64(r.Requests) / cmp.Or(r.Seconds, 1)
	r.Millis = latencies(all, time.Millisecond)
	return r
}
