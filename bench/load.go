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
	"sync/atomic"
	"time"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/loadclient"
	"birthmark/bench/process"
	"birthmark/model"
)

// LoadOptions configure [Load].
type LoadOptions struct {
	URL         string         // of the chain: http://HOST:PORT/v1/NAME
	Connections int            // each sends one request after the other
	For         time.Duration  // duration of the measurement; longer until each kind of request was sent
	Rate        float64        // requests per second, independent of the server's latency; 0: as fast as the server answers
	Mix         map[string]int // weights of the kinds in [LoadKinds], [EsploraKinds] or [ElectrumKinds]
	Esplora     string         // path of the Esplora API on the server: /api
	Electrum    string         // address of the Electrum protocol; empty: requests are sent over HTTP
	Samples     int            // number of sampled transactions
	Seed        uint64         // the same seed selects the same sample

	// Begin, if not nil, is called after the warm-up. Closing end ends the measurement before For has passed.
	Begin func(ctx context.Context) (end <-chan struct{}, err error)
}

// LoadMix is the default mix, like that of explorers and wallets: mostly transactions and addresses. Blocks are by far
// the longest responses, since they list the hashes of their transactions.
var LoadMix = map[string]int{"tx": 45, "find": 30, "balance": 20, "block": 5}

// LoadResult is the result of [Load]. Latencies are from the time a request was due to the last byte of its response.
type LoadResult struct {
	Seconds           float64              `json:"seconds"`
	Requests          int                  `json:"requests"`
	RequestsPerSecond float64              `json:"requests_per_s"`
	Errors            int                  `json:"errors"`
	Failed            map[string]int       `json:"failed,omitempty"` // number of failures by cause
	Bytes             int64                `json:"bytes"`            // received, headers included
	Millis            Latencies            `json:"latency_ms"`
	Kinds             map[string]Latencies `json:"latency_ms_by_kind"`
	ClientCPU         float64              `json:"client_cpu_s"` // of this process
}

// Load measures a server's responses to requests over concurrent connections. It samples the requested items from the
// server and requests each once before the measurement. It should run in a separate process, so that the CPU time of
// the client is known.
func Load(ctx context.Context, o LoadOptions) (*LoadResult, error) {
	at, err := loadURL(o.URL)
	if err != nil {
		return nil, err
	}
	kinds, weights, err := loadKinds(o.Mix)
	if err != nil {
		return nil, err
	}
	d := &drawer{loadclient.New(at.Host), at, o.Electrum != ""}
	defer d.Close()
	connect := func() *loadclient.Client { return loadclient.New(at.Host) }
	if o.Electrum != "" {
		connect = func() *loadclient.Client { return loadclient.NewElectrum(o.Electrum) }
	}
	warm := connect()
	defer warm.Close()
	p, err := d.draw(ctx, o.Samples, o.Seed)
	if err != nil {
		return nil, err
	}
	requests := make([][][]byte, len(kinds))
	for k, name := range kinds {
		if requests[k], err = p.requests(name, at, o.Esplora); err != nil {
			return nil, err
		}
		for _, r := range requests[k] {
			a, err := warm.Ask(r, true)
			if err == nil && a.Status != 200 {
				err = fmt.Errorf("status %d, expected 200: %.200s", a.Status, a.Body)
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
	cpu, began := process.CPU(), time.Now()
	stop, each := make(chan struct{}), newSeen(len(kinds))
	go func() {
		defer close(stop)
		over := time.NewTimer(o.For)
		defer over.Stop()
		select {
		case <-over.C:
			select {
			case <-each.all: // on a slow machine later than after o.For
			case <-ctx.Done():
			}
		case <-end:
		case <-ctx.Done():
		}
	}()
	askers := make([]*asker, o.Connections)
	var all sync.WaitGroup
	for i := range askers {
		a := &asker{
			Client: connect(), requests: requests, weights: weights, rng: distribution.NewRandom(o.Seed, uint64(i)+1),
			took: make([][]time.Duration, len(kinds)), failed: map[string]int{}, seen: each,
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
	return loaded(askers, kinds, time.Since(began), process.CPU()-cpu), nil
}

// loadURL parses the URL of a chain.
func loadURL(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" || at.Port() == "" || !strings.HasPrefix(at.Path, "/v1/") {
		return nil, model.Errorf(model.Usage, "bad_value", "invalid URL %q: expected the URL of a chain, such as http://127.0.0.1:8080/v1/bitcoin", text)
	}
	at.Path = strings.TrimSuffix(at.Path, "/")
	return at, nil
}

// loadKinds returns the kinds of a mix and their cumulative weights.
func loadKinds(mix map[string]int) (kinds []string, weights []int, err error) {
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(mix)) {
		if _, known := loadPaths[name]; !known || mix[name] < 1 {
			return nil, nil, model.Errorf(model.Usage, "bad_value", "invalid weight %s=%d: expected at least 1 for one of %s", name, mix[name], strings.Join(slices.Concat(LoadKinds(), EsploraKinds(), ElectrumKinds()), ", "))
		}
		sum += mix[name]
		kinds, weights = append(kinds, name), append(weights, sum)
	}
	return kinds, weights, nil
}

// asker is a connection and the results of its requests.
type asker struct {
	*loadclient.Client
	requests [][][]byte // by kind
	weights  []int
	rng      distribution.Random
	every    time.Duration // interval of requests; 0: none
	due      time.Time

	took   [][]time.Duration // latencies by kind
	failed map[string]int
	seen   *seen
}

// seen records which kinds of requests were answered or failed.
type seen struct {
	kinds []atomic.Bool
	left  atomic.Int64
	all   chan struct{} // closed when every kind was
}

func newSeen(kinds int) *seen {
	s := &seen{kinds: make([]atomic.Bool, kinds), all: make(chan struct{})}
	s.left.Store(int64(kinds))
	return s
}

func (s *seen) add(kind int) {
	if !s.kinds[kind].Load() && s.kinds[kind].CompareAndSwap(false, true) && s.left.Add(-1) == 0 {
		close(s.all)
	}
}

func (a *asker) run(stop <-chan struct{}) {
	defer a.Close()
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
		switch got, err := a.Ask(of[a.rng.IntN(len(of))], false); {
		case err != nil:
			a.failed[wrong(err)]++
			time.Sleep(errorPause)
		case got.Status != 200:
			a.failed[fmt.Sprint("status ", got.Status)]++
		default:
			a.took[kind] = append(a.took[kind], time.Since(asked))
		}
		a.seen.add(kind)
	}
}

// errorPause limits the rate of failing requests.
const errorPause = 10 * time.Millisecond

// wrong returns the cause of a connection error, without ports.
func wrong(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// loaded merges the results of all connections.
func loaded(askers []*asker, kinds []string, took, cpu time.Duration) *LoadResult {
	r := &LoadResult{Seconds: took.Seconds(), ClientCPU: cpu.Seconds(), Kinds: map[string]Latencies{}, Failed: map[string]int{}}
	var all []time.Duration
	for k, name := range kinds {
		var of []time.Duration
		for _, a := range askers {
			of = append(of, a.took[k]...)
		}
		r.Kinds[name] = Percentiles(of, time.Millisecond)
		all = append(all, of...)
	}
	for _, a := range askers {
		r.Bytes += a.Received
		for what, n := range a.failed {
			r.Errors += n
			r.Failed[what] += n
		}
	}
	r.Requests = len(all)
	r.RequestsPerSecond = float64(r.Requests) / cmp.Or(r.Seconds, 1)
	r.Millis = Percentiles(all, time.Millisecond)
	return r
}
