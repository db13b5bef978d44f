package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"birthmark/api/served"
	"birthmark/core"
)

// within is how long a database may take to tell how it is.
const within = 5 * time.Second

// chains asks the chains when it is asked.
type chains struct {
	chains []*served.Chain
	now    func() time.Time

	mu    sync.Mutex
	store map[string]*prometheus.Desc // by the store's name
	last  map[string]moment           // by chain
}

// moment is when a sync was first seen to have written so much.
type moment struct {
	blocks  uint64
	elapsed time.Duration
	at      time.Time
}

// stale is how long a sync that writes nothing has a rate: it says how fast it is when it writes.
const stale = 10 * time.Second

func newChains(cs []*served.Chain) *chains {
	return &chains{chains: cs, now: time.Now, store: map[string]*prometheus.Desc{}, last: map[string]moment{}}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("birthmark_"+name, help, append([]string{"chain"}, labels...), nil)
}

var (
	up           = describe("database_up", "1 where the database answers.")
	tipHeight    = describe("tip_height", "Height of the newest block in the database.")
	tipTime      = describe("tip_time_seconds", "When the newest block was made, in unix time as its header has it.")
	tipAge       = describe("tip_age_seconds", "How long ago the newest block was made.")
	rowsOf       = describe("entities", "What the database has, by kind: blocks, txs, inputs, outputs, assets, unspent (outputs).", "kind")
	familyBytes  = describe("family_bytes", "Bytes that a column family takes on disk and in buffers.", "family")
	familyRows   = describe("family_rows", "Rows of a column family.", "family")
	indexValues  = describe("index_values", "Different values of an index.", "index")
	targetHeight = describe("target_height", "Height that the sync goes for: the source's tip.")
	left         = describe("blocks_left", "Blocks that the sync still has to fetch.")
	syncFailed   = describe("sync_failed", "1 while the sync stands still because something failed.")
	synced       = describe("sync_total", "What this process's sync has written since it began, by kind: blocks, txs, entities (inputs, outputs and assets).", "kind")
	syncRate     = describe("sync_per_second", "What the sync wrote in the last seconds, by kind as in birthmark_sync_total.", "kind")
	stageSeconds = describe("sync_stage_seconds_total", "Seconds that each stage of the sync was busy: read, resolve, write.", "stage")
	secondsLeft  = describe("sync_left_seconds", "Seconds until the sync is at its target, at the rate of the last seconds.")
	cacheAsked   = describe("cache_asked_total", "Questions of the write path to memory, by cache: outputs, values, filter, owners.", "cache")
	cacheFound   = describe("cache_found_total", "Those that memory knew the answer to, so that nothing was read.", "cache")
	descriptions = []*prometheus.Desc{up, tipHeight, tipTime, tipAge, rowsOf, familyBytes, familyRows, indexValues, targetHeight, left, syncFailed,
		synced, syncRate, stageSeconds, secondsLeft, cacheAsked, cacheFound}
)

// Describe implements [prometheus.Collector]. What stores measure is not known before one is asked: it is not described.
func (cs *chains) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. A database that does not answer leaves out what it would have told.
func (cs *chains) Collect(to chan<- prometheus.Metric) {
	var all sync.WaitGroup
	for _, c := range cs.chains {
		all.Go(func() { cs.collect(&figures{to, c.Name}, c) })
	}
	all.Wait()
}

// figures is where those of a chain go.
type figures struct {
	to    chan<- prometheus.Metric
	chain string
}

func (f *figures) gauge(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{f.chain}, labels...)...)
}

func (f *figures) counter(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, append([]string{f.chain}, labels...)...)
}

func (cs *chains) collect(f *figures, c *served.Chain) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var status *core.StatusAnswer
	err := c.View(ctx, func(v *core.View) (err error) {
		status, err = v.Status(ctx)
		return err
	})
	f.gauge(up, truth(err == nil))
	if err == nil {
		cs.database(f, status)
	}
	cs.sync(f, c.State())
	if c.Measures == nil {
		return
	}
	m, err := c.Measures()
	for _, cache := range m.Caches {
		f.counter(cacheAsked, float64(cache.Asked), cache.Name)
		f.counter(cacheFound, float64(cache.Found), cache.Name)
	}
	if err != nil {
		return // of the store; database_up tells of it
	}
	for _, s := range m.Store {
		f.gauge(cs.describe(s.Name, s.Help), s.Value)
	}
}

func (cs *chains) database(f *figures, a *core.StatusAnswer) {
	if a.Tip != nil {
		f.gauge(tipHeight, float64(a.Tip.Height))
		f.gauge(tipTime, float64(a.Tip.Time))
		f.gauge(tipAge, cs.now().Sub(time.Unix(a.Tip.Time, 0)).Seconds())
	}
	t := &a.Totals
	for _, n := range []struct {
		kind string
		rows uint64
	}{{"blocks", t.Blocks}, {"txs", t.Txs}, {"inputs", t.Inputs}, {"outputs", t.Outputs}, {"assets", t.Assets}, {"unspent", t.Unspent}} {
		f.gauge(rowsOf, float64(n.rows), n.kind)
	}
	for i := range a.Families {
		f.gauge(familyBytes, float64(a.Families[i].Bytes), a.Families[i].Name)
		f.gauge(familyRows, float64(a.Families[i].Keys), a.Families[i].Name)
	}
	for i := range a.Indexes {
		f.gauge(indexValues, float64(a.Indexes[i].Values), a.Indexes[i].Name)
	}
}

func (cs *chains) sync(f *figures, s served.State) {
	f.gauge(syncFailed, truth(s.Failed != ""))
	p := s.Sync
	if p == nil {
		return
	}
	f.gauge(targetHeight, float64(max(p.Target, p.Height)))
	f.gauge(left, float64(max(p.Target, p.Height)-p.Height))
	f.counter(synced, float64(p.Blocks), "blocks")
	f.counter(synced, float64(p.Txs), "txs")
	f.counter(synced, float64(p.Entities), "entities")
	moves := truth(cs.moves(f.chain, p))
	f.gauge(syncRate, moves*p.BlocksPerSecond, "blocks")
	f.gauge(syncRate, moves*p.TxsPerSecond, "txs")
	f.gauge(syncRate, moves*p.EntitiesPerSecond, "entities")
	f.gauge(secondsLeft, p.Left.Seconds())
	for stage, seconds := range p.Stages {
		f.counter(stageSeconds, seconds, stage)
	}
}

// moves reports whether a sync has written of late, as far as was seen.
func (cs *chains) moves(chain string, p *core.Progress) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	now := moment{p.Blocks, p.Elapsed, cs.now()}
	before, seen := cs.last[chain]
	if !seen || before.blocks != now.blocks || before.elapsed != now.elapsed {
		cs.last[chain] = now
		return true
	}
	return now.at.Sub(before.at) < stale
}

// describe is the description of what a store measures.
func (cs *chains) describe(name, help string) *prometheus.Desc {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	d := cs.store[name]
	if d == nil {
		d = describe("store_"+name, help)
		cs.store[name] = d
	}
	return d
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
