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

// collector reads the metrics of chains when they are scraped.
type collector []*served.Chain

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
)

// Describe implements [prometheus.Collector]. It describes nothing, since the metrics of stores are unknown before a scrape.
func (cs collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. A database that cannot be read has only database_up and the sync's metrics.
func (cs collector) Collect(to chan<- prometheus.Metric) {
	var all sync.WaitGroup
	for _, c := range cs {
		all.Go(func() { (&sink{to, c.Name}).chain(c) })
	}
	all.Wait()
}

// sink receives the metrics of a chain.
type sink struct {
	to   chan<- prometheus.Metric
	name string // of the chain
}

func (f *sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{f.name}, labels...)...)
}

func (f *sink) counter(d *prometheus.Desc, v float64, labels ...string) {
	f.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, append([]string{f.name}, labels...)...)
}

func (f *sink) chain(c *served.Chain) {
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	var status *query.StatusAnswer
	err := c.View(ctx, func(v *query.View) (err error) {
		status, err = v.Status(ctx)
		return err
	})
	f.gauge(up, boolean(err == nil))
	if err == nil {
		f.database(status)
	}
	f.sync(c.State())
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
		f.gauge(describe("store_"+s.Name, s.Help), s.Value)
	}
}

func (f *sink) database(a *query.StatusAnswer) {
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

func (f *sink) sync(s served.State) {
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

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
