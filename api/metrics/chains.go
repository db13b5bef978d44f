package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"birthmark/api/served"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/segment"
	"birthmark/internal/guard"
)

// queryTimeout is the time in which a database must return its status.
const queryTimeout = 5 * time.Second

// collector reads the metrics of chains when they are scraped.
type collector []*served.Chain

// Describe implements [prometheus.Collector]. It describes nothing, since the metrics of stores are unknown before a scrape.
func (cs collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]. A database that cannot be read has only database_up and the sync's metrics.
func (cs collector) Collect(to chan<- prometheus.Metric) {
	var all sync.WaitGroup
	for _, c := range cs {
		all.Go(func() {
			err := guard.Do(slog.With("chain", c.Name), "the metrics of a chain", func() { (&sink{to, c.Name}).chain(c) })
			if err != nil { // fails this scrape only
				to <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
			}
		})
	}
	all.Wait()
}

// sink receives the metrics of a chain.
type sink struct {
	to   chan<- prometheus.Metric
	name string // of the chain
}

func (f *sink) gauge(name, help string, v float64, label ...string) {
	f.send(prometheus.GaugeValue, name, help, v, label)
}

func (f *sink) counter(name, help string, v float64, label ...string) {
	f.send(prometheus.CounterValue, name, help, v, label)
}

// send sends a metric with the label of the chain and, if label is not empty, another one: its name and value.
func (f *sink) send(kind prometheus.ValueType, name, help string, v float64, label []string) {
	names, values := []string{"chain"}, []string{f.name}
	if len(label) > 0 {
		names, values = append(names, label[0]), append(values, label[1])
	}
	f.to <- prometheus.MustNewConstMetric(prometheus.NewDesc("birthmark_"+name, help, names, nil), kind, v, values...)
}

func (f *sink) chain(c *served.Chain) {
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	var status *query.StatusAnswer
	err := c.View(ctx, func(v *query.View) (err error) {
		status, err = v.Status(ctx)
		return err
	})
	f.gauge("database_up", "1 if the database can be read.", boolean(err == nil))
	if err == nil {
		f.database(status)
	}
	f.sync(c.State())
	f.segments(c.Segments)
	f.tables(c.Tables)
	var pool pending.Info
	if c.Mempool != nil {
		pool = c.Mempool.Standing().Info()
	}
	f.mempool(pool)
	if c.Measures == nil {
		return
	}
	m, err := c.Measures()
	for _, cache := range m.Caches {
		f.counter("cache_lookups_total", "Lookups of the sync in a cache: outputs, values, filter, owners or runs.", float64(cache.Lookups), "cache", cache.Name)
		f.counter("cache_hits_total", "Lookups that the cache answered; of runs: from files.", float64(cache.Hits), "cache", cache.Name)
	}
	if err != nil {
		return // of the store, which database_up reports
	}
	for _, s := range m.Store {
		f.gauge("store_"+s.Name, s.Help, s.Value)
	}
}

func (f *sink) database(a *query.StatusAnswer) {
	if a.Tip != nil {
		f.gauge("tip_height", "Height of the newest block in the database.", float64(a.Tip.Height))
		f.gauge("tip_timestamp_seconds", "Unix time in the header of the newest block.", float64(a.Tip.Time))
	}
	t := &a.Totals
	f.gauge("blocks", "Blocks in the database.", float64(t.Blocks))
	f.gauge("transactions", "Transactions in the database.", float64(t.Txs))
	f.gauge("inputs", "Inputs in the database.", float64(t.Inputs))
	f.gauge("outputs", "Outputs in the database.", float64(t.Outputs))
	f.gauge("unspent_outputs", "Unspent outputs in the database.", float64(t.Unspent))
	f.gauge("assets", "Assets in the database.", float64(t.Assets))
	for i := range a.Families {
		f.gauge("family_bytes", "Size of a column family on disk and in write buffers.", float64(a.Families[i].Bytes), "family", a.Families[i].Name)
		if a.Families[i].Keys != nil {
			f.gauge("family_rows", "Rows of a column family.", float64(a.Families[i].Rows()), "family", a.Families[i].Name)
		}
	}
	for i := range a.Indexes {
		f.gauge("index_values", "Distinct values of an index.", float64(a.Indexes[i].Values), "index", a.Indexes[i].Name)
	}
}

func (f *sink) sync(s served.State) {
	f.gauge("sync_failed", "1 if the sync is stopped by an error.", boolean(s.Failed != ""))
	f.replica(s.Replica)
	p := s.Sync
	if p == nil {
		return
	}
	f.gauge("sync_target_height", "Height of the source's tip.", float64(max(p.Target, p.Height)))
	f.gauge("sync_remaining_blocks", "Blocks between the database and the source's tip.", float64(max(p.Target, p.Height)-p.Height))
	f.gauge("sync_eta_seconds", "Estimated time until the sync reaches the source's tip.", p.Left.Seconds())
	f.counter("synced_blocks_total", "Blocks written since the process started.", float64(p.Blocks))
	f.counter("synced_transactions_total", "Transactions written since the process started.", float64(p.Txs))
	f.counter("synced_entities_total", "Inputs, outputs and asset entries written since the process started.", float64(p.Entities))
	for stage, seconds := range p.Stages {
		f.counter("sync_stage_seconds_total", "Time in which a stage of the sync was busy: read, resolve or write.", seconds, "stage", stage)
	}
}

// replica sends the metrics of a replica; they are 0 for other databases.
func (f *sink) replica(r *served.Replica) {
	if r == nil {
		r = new(served.Replica)
	}
	f.gauge("replica_lag_seconds", "Time since the replica was last known to be equal to its primary; 0 if it is.", r.Lag.Seconds())
	f.gauge("replica_delay_seconds", "Time from the last update of the primary to that of the replica, by the clocks of both.", r.Delay.Seconds())
	f.gauge("replica_behind_updates", "Updates of the primary that the replica does not have yet.", float64(r.Newest-min(r.Newest, r.Seq)))
}

func (f *sink) segments(l *segment.Log) {
	var s segment.State
	if l != nil {
		s, _ = l.State()
	}
	f.gauge("segments_newest", "Number of the last update of a database that records segments; 0 if it does not.", float64(s.Seq))
	f.gauge("segments_bytes", "Size of the recorded segments.", float64(s.Bytes))
}

func (f *sink) tables(state func() served.Tables) {
	var t served.Tables
	if state != nil {
		t = state()
	}
	f.gauge("export_height", "Height of the last block in the exported tables; 0 if there are none.", float64(t.Height))
	f.gauge("export_rows", "Rows of the exported tables.", float64(t.Rows))
	f.gauge("export_bytes", "Size of the exported tables.", float64(t.Bytes))
	f.gauge("export_seconds", "Duration of the last export.", t.Seconds)
	f.counter("exported_rows_total", "Rows that were exported since the process started.", float64(t.Written))
	f.counter("export_failures_total", "Exports that failed since the process started.", float64(t.Failures))
}

func (f *sink) mempool(i pending.Info) {
	for s := pending.None; s <= pending.Live; s++ {
		f.gauge("mempool_state", "1 for the state of the mempool: none, filling, old, partial or live.", boolean(s == i.State), "state", s.String())
	}
	f.gauge("mempool_transactions", "Unconfirmed transactions.", float64(i.Count))
	f.gauge("mempool_source_transactions", "Unconfirmed transactions of the source.", float64(i.Wanted))
	f.gauge("mempool_size_bytes", "Size of the unconfirmed transactions.", float64(i.Size))
	f.gauge("mempool_memory_bytes", "Estimated memory of the unconfirmed transactions.", float64(i.Memory))
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
