// Package notify measures how soon clients of the Electrum protocol are notified of blocks.
package notify

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"birthmark/api/compat/electrum"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/bench"
	"birthmark/bench/generate/distribution"
	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/model"
)

// Options configure [Run].
type Options struct {
	Unconfirmed   int // transactions in the mempool
	Clients       int
	Subscriptions int // scripts per client
	Blocks        int // that are appended
	Seed          uint64
}

// Result is the result of [Run]. Times of notifications are from the begin of appending the block until a client
// has received them.
type Result struct {
	Txs           int     `json:"txs"`         // in the database before
	Unconfirmed   int     `json:"unconfirmed"` // transactions before the first block
	FillSeconds   float64 `json:"fill_s"`      // until they were in the mempool
	Memory        int64   `json:"mempool_bytes"`
	Clients       int     `json:"clients"`
	Subscriptions int     `json:"subscriptions"` // of all clients
	RSS           int64   `json:"rss"`           // of this process, clients included

	Blocks []Block `json:"blocks"`
}

// Block is a block and its notifications.
type Block struct {
	Txs      int             `json:"txs"`
	Append   float64         `json:"append_ms"`
	Headers  bench.Latencies `json:"headers_ms"`
	Statuses bench.Latencies `json:"statuses_ms"`
	CPU      float64         `json:"cpu_s"` // of this process, clients included
}

// scriptIndex is the index of output scripts, whose hashes clients subscribe to.
const scriptIndex = "script_hash"

const (
	quietTime  = 500 * time.Millisecond // without notifications: there are no more
	notifyTime = time.Minute            // for all notifications of a block
)

// Run measures how soon the clients of the Electrum protocol are notified of a block. The mempool has transactions of
// the last blocks of a recording; the database has the blocks before. The clients are in this process.
func Run(ctx context.Context, blocks *bench.Recording, o Options, database bench.Options) (result *Result, err error) {
	last := 2 + o.Blocks + (o.Unconfirmed+blocks.Chain.TxsPerBlock-1)/blocks.Chain.TxsPerBlock
	last += last / 3 // some transactions have too many ancestors
	txs, err := blocks.Before(0, last)
	if err != nil {
		return nil, err
	}
	arriving, err := bench.NewArriving(ctx, blocks, txs, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, arriving.Close()) }()
	db := arriving.DB()
	pool, err := newUnconfirmedBlocks(ctx, blocks, db, o.Unconfirmed)
	if err != nil {
		return nil, err
	}
	w, err := startNotifying(ctx, db, pool)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	result = &Result{Txs: txs, Unconfirmed: w.follower.Standing().Count(), FillSeconds: w.filled.Seconds()}
	clients, err := w.subscribe(o)
	if err != nil {
		return nil, err
	}
	result.Clients, result.Subscriptions = o.Clients, o.Clients*o.Subscriptions
	result.Memory, result.RSS = w.follower.Standing().Info().Memory, process.RSS()
	for range o.Blocks {
		b, err := w.append(ctx, clients)
		if err != nil {
			return nil, err
		}
		result.Blocks = append(result.Blocks, *b)
	}
	return result, nil
}

// notifying is a server of the Electrum protocol with a mempool.
type notifying struct {
	db       *core.DB
	pool     *unconfirmedBlocks
	follower *pending.Follower
	filled   time.Duration // until the mempool was filled
	scripts  [][]byte      // hashes of output scripts of the mempool
	address  string
	stop     func()
}

func startNotifying(ctx context.Context, db *core.DB, pool *unconfirmedBlocks) (*notifying, error) {
	log, began := slog.New(slog.DiscardHandler), time.Now()
	f := pending.NewFollower(pending.Options{
		View: db.View, Moved: db.Moved, Traits: db.Chain().Traits(), Memory: 1 << 40, Log: log,
		Open: func(context.Context, []string) (model.Source, error) { return pool, nil },
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	w := &notifying{db: db, pool: pool, follower: f, stop: func() { cancel(); running.Wait() }}
	answers := wallet.New(&served.Chain{
		Name: db.Chain().Name(), Model: db.Chain(), View: db.View, Moved: db.Moved, Mempool: f,
		State: func() served.State { return served.State{} },
	})
	server := electrum.New(answers, electrum.Options{Log: log, Limits: electrum.Defaults()})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.stop()
		return nil, err
	}
	running.Go(func() { _ = server.Serve(l) })
	w.address = l.Addr().String()
	w.stop = func() { cancel(); l.Close(); server.Close(); running.Wait() }
	for u := range f.Changes(ctx) {
		if u.State() == pending.Live && u.Count() == len(*pool.ids.Load()) {
			break
		}
	}
	if err := context.Cause(ctx); err != nil {
		w.stop()
		return nil, err
	}
	w.filled = time.Since(began)
	o := f.Standing()
	for t := range o.Arrivals(0) {
		for i := range t.NumOutputs() {
			if key := t.Output(i).Key(o.Index(scriptIndex)); key != nil {
				w.scripts = append(w.scripts, key)
			}
		}
	}
	return w, nil
}

// notified is a client with subscriptions.
type notified struct {
	net.Conn
	in *bufio.Reader

	mu               sync.Mutex
	headers, scripts []time.Time // of notifications
}

// subscribe connects the clients. Each subscribes to the tip and to scripts of unconfirmed transactions.
func (w *notifying) subscribe(o Options) (clients []*notified, err error) {
	rng := distribution.NewRandom(o.Seed, 0)
	stop := w.stop
	w.stop = func() {
		for _, c := range clients {
			c.Close()
		}
		stop()
	}
	for range o.Clients {
		conn, err := net.Dial("tcp", w.address)
		if err != nil {
			return nil, err
		}
		c := &notified{Conn: conn, in: bufio.NewReader(conn)}
		clients = append(clients, c)
		requests := []byte(`{"id":0,"method":"server.version","params":["bench","1.4"]}` + "\n" +
			`{"id":0,"method":"blockchain.headers.subscribe","params":[]}` + "\n")
		for range o.Subscriptions {
			key := slices.Clone(w.scripts[rng.IntN(len(w.scripts))])
			slices.Reverse(key)
			requests = append(requests, `{"id":0,"method":"blockchain.scripthash.subscribe","params":["`...)
			requests = append(append(hex.AppendEncode(requests, key), `"]}`...), '\n')
		}
		if _, err := conn.Write(requests); err != nil {
			return nil, err
		}
		for range 2 + o.Subscriptions {
			line, err := c.in.ReadSlice('\n')
			if err != nil || bytes.Contains(line, []byte(`"error"`)) {
				return nil, fmt.Errorf("subscribe: %.200q %w", line, err)
			}
		}
		go c.read()
	}
	return clients, nil
}

var headersNotification = []byte(`{"jsonrpc":"2.0","method":"blockchain.headers.subscribe"`)

// read takes notifications until the connection is closed.
func (c *notified) read() {
	for {
		line, err := c.in.ReadSlice('\n')
		now := time.Now()
		if err != nil {
			return
		}
		c.mu.Lock()
		if bytes.HasPrefix(line, headersNotification) {
			c.headers = append(c.headers, now)
		} else {
			c.scripts = append(c.scripts, now)
		}
		c.mu.Unlock()
	}
}

// append appends the next block and waits for its notifications.
func (w *notifying) append(ctx context.Context, clients []*notified) (*Block, error) {
	for _, c := range clients { // of earlier changes
		c.take()
	}
	b := w.pool.take()
	cpu, began := process.CPU(), time.Now()
	if err := w.db.Append(ctx, []*model.Block{b}); err != nil {
		return nil, err
	}
	result := &Block{Txs: len(b.Txs), Append: float64(time.Since(began)) / float64(time.Millisecond)}
	var headers, scripts []time.Duration
	for quiet := time.Now(); len(headers) < len(clients) || time.Since(quiet) < quietTime; time.Sleep(10 * time.Millisecond) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if time.Since(began) > notifyTime {
			return nil, fmt.Errorf("%d of %d clients were notified of block %d within %v", len(headers), len(clients), b.Height, notifyTime)
		}
		for _, c := range clients {
			gotHeaders, gotScripts := c.take()
			if len(gotHeaders)+len(gotScripts) > 0 {
				quiet = time.Now()
			}
			for _, at := range gotHeaders {
				headers = append(headers, at.Sub(began))
			}
			for _, at := range gotScripts {
				scripts = append(scripts, at.Sub(began))
			}
		}
	}
	result.CPU = (process.CPU() - cpu).Seconds()
	result.Headers, result.Statuses = bench.Percentiles(headers, time.Millisecond), bench.Percentiles(scripts, time.Millisecond)
	return result, nil
}

// take returns the times of the notifications since the last call.
func (c *notified) take() (headers, scripts []time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	headers, scripts = c.headers, c.scripts
	c.headers, c.scripts = nil, nil
	return headers, scripts
}
