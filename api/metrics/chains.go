package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"birthmark/api/served"
	"birthmark/core/query"
)

// queryTimeout is the time in which a database must return its status.
const queryTimeout = 5 * time.Second

// chains collects the metrics of chains when they are scraped.
type chains struct {
	chains []*served.Chain

	mu    sync.Mutex
	store map[string]*prometheus.Desc // by name
}

func newChains(cs []*served.Chain) *chains {
	return &chains{chains: cs, store: map[string]*prometheus.Desc{}}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("birthmark_"+name, help, append([]string{"chain"}, labels...), nil)
}

var (
	up           = describe("database_up", "1 if the database can be read.")
	tipHeight    = describe("tip_height", "Height of the newest block in the database.")
	tipTime      = describe("tip_timestamp_seconds", "Unix time in the header of the newest block.")
	blocks       = describe("blocks", "Blocks in the database.")
	transactions = describe("transactions", "Transactions in the database.")
	inputs       = describe("inputs", "Inputs in the database.")
	outputs      = describe("outputs", "Outputs in the database.")
	unspent      = describe("unspent_outputs", "Unspent outputs in the database.")
	assets       = describe("assets", "Assets in the database.")
	familyBytes  = describe("family_bytes", "Size of a column family on disk and in write buffers.", "family")
	familyRows   = describe("family_rows", "Rows of a column family.", "family")
	indexValues  = describe("index_values", "Distinct values of an index.", "index")

	syncTarget    = describe("sync_target_height", "Height of the source's tip.")
	syncRemaining = describe("sync_remaining_blocks", "Blocks between the database and the source's tip.")
	syncETA       = describe("sync_eta_seconds", "Estimated time until the sync reaches the source's tip.")
	syncFailed    = describe("sync_failed", "1 if the sync is stopped by an error.")
	syncBlocks    = describe("synced_blocks_total", "Blocks written since the process started.")
	syncTxs       = describe("synced_transactions_total", "Transactions written since the process started.")
	syncEntities  = describe("synced_entities_total", "Inputs, outputs and asset entries written since the process started.")
	stageSeconds  = describe("sync_stage_seconds_total", "Time in which a stage of the sync was busy: read, resolve or write.", "stage")

	cacheLookups = describe("cache_lookups_total", "Lookups of the sync in a cache: outputs, values, filter or owners.", "cache")
	cacheHits    = describe("cache_hits_total", "Lookups answered from memory.", "cache")

	descriptions = []*prometheus.Desc{
		up, tipHeight, tipTime, blocks, transactions, inputs, outputs, unspent, assets, familyBytes, familyRows, indexValues,
		syncTarget, syncRemaining, syncETA, syncFailed, syncBlocks, syncTxs, syncEntities, stageSeconds, cacheLookups, cacheHits,
	}
)

// Describe implements [prometheus.Collector]. The metrics of stores are unknown before a scrape, and not described.
func (cs *chains) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. A database that cannot be read has only database_up and the sync's metrics.
func (cs *chains) Collect(to chan<- prometheus.Metric) {
	var all sync.WaitGroup
	for _, c := range cs.chains {
		all.Go(func() { cs.collect(&sink{to, c.Name}, c) })
	}
	all.Wait()
}

// sink receives the metrics of a chain.
type sink struct {
	to    chan<- prometheus.Metric
	chain string
}

func (f *sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{f.chain}, labels...)...)
}

func (f *sink) counter(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, append([]string{f.chain}, labels...)...)
}

func (cs *chains) collect(f *sink, c *served.Chain) {
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	var status *query.StatusAnswer
	err := c.View(ctx, func(v *query.View) (err error) {
		status, err = v.Status(ctx)
		return err
	})
	f.gauge(up, boolean(err == nil))
	if err == nil {
		cs.database(f, status)
	}
	cs.sync(f, c.State())
	if c.Measures == nil {
		return
	}
	m, err := c.Measures()
	for _, cache := range m.Caches {
		f.counter(cacheLookups, float64(cache.Lookups), cache.Name)
		f.counter(cacheHits, float64(cache.Hits), cache.Name)
	}
	if err != nil {
		return // of the store, which database_up reports
	}
	for _, s := range m.Store {
		f.gauge(cs.describe(s.Name, s.Help), s.Value)
	}
}

func (cs *chains) database(f *sink, a *query.StatusAnswer) {
	if a.Tip != nil {
		f.gauge(tipHeight, float64(a.Tip.Height))
		f.gauge(tipTime, float64(a.Tip.Time))
	}
	t := &a.Totals
	f.gauge(blocks, float64(t.Blocks))
	f.gauge(transactions, float64(t.Txs))
	f.gauge(inputs, float64(t.Inputs))
	f.gauge(outputs, float64(t.Outputs))
	f.gauge(unspent, float64(t.Unspent))
	f.gauge(assets, float64(t.Assets))
	for i := range a.Families {
		f.gauge(familyBytes, float64(a.Families[i].Bytes), a.Families[i].Name)
		f.gauge(familyRows, float64(a.Families[i].Keys), a.Families[i].Name)
	}
	for i := range a.Indexes {
		f.gauge(indexValues, float64(a.Indexes[i].Values), a.Indexes[i].Name)
	}
}

func (cs *chains) sync(f *sink, s served.State) {
	f.gauge(syncFailed, boolean(s.Failed != ""))
	p := s.Sync
	if p == nil {
		return
	}
	f.gauge(syncTarget, float64(max(p.Target, p.Height)))
	f.gauge(syncRemaining, float64(max(p.Target, p.Height)-p.Height))
	f.gauge(syncETA, p.Left.Seconds())
	f.counter(syncBlocks, float64(p.Blocks))
	f.counter(syncTxs, float64(p.Txs))
	f.counter(syncEntities, float64(p.Entities))
	for stage, seconds := range p.Stages {
		f.counter(stageSeconds, seconds, stage)
	}
}

// describe returns the description of a metric of a store.
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

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
