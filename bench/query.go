package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
)

// QueryOptions configure [Query].
type QueryOptions struct {
	Samples int               // number of transactions, outputs, blocks and values; 0: 1,000
	Seed    uint64            // the same seed selects the same sample
	Hottest map[string]string // by index: the value with the most outputs, if known
	Most    time.Duration     // maximum duration per query; 0: 5 seconds
}

// QueryResult is the result of [Query]. Every query runs once before it is measured.
type QueryResult struct {
	Txs     uint64               `json:"txs"`   // in the database
	Index   string               `json:"index"` // of the values
	Hottest HottestValue         `json:"hottest"`
	Micros  map[string]Latencies `json:"latencies_us"` // by name in Questions
	Lists   map[string]Walk      `json:"lists"`        // all pages of find and history of the hottest value
	PeakRSS int64                `json:"peak_rss"`     // bytes, of the process
}

// HottestValue is the value with the most outputs.
type HottestValue struct {
	Value   string `json:"value"`
	Outputs uint64 `json:"outputs"`
	Sampled bool   `json:"sampled"` // the most frequent value of the sample; else that of QueryOptions
}

// Walk is the speed of reading all pages of a list, with the maximum page size.
type Walk struct {
	Rows          int     `json:"rows"`
	Whole         bool    `json:"whole"` // the end was reached within the maximum duration
	RowsPerSecond float64 `json:"rows_per_s"`
}

// Questions lists the names of the queries in the order of reports. Those of the hottest value begin with hottest.
// Lists are first pages of 25.
var Questions = []string{"tx", "tx_absent", "output", "block", "find", "find_unspent", "history", "history_newest", "balance",
	"hottest_find", "hottest_find_unspent", "hottest_history", "hottest_history_newest", "hottest_balance"}

const (
	defaultSamples = 1000
	defaultMost    = 5 * time.Second
	hottestTimes   = 200 // maximum repetitions of a query for one value
)

// Query measures queries of db. Its errors are of kind [model.NotFound] if the database has no transactions.
func Query(ctx context.Context, db *core.DB, o QueryOptions) (*QueryResult, error) {
	if o.Samples == 0 {
		o.Samples = defaultSamples
	}
	if o.Most == 0 {
		o.Most = defaultMost
	}
	status, err := db.Status(ctx)
	if err != nil {
		return nil, err
	}
	if status.Totals.Txs == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_tx", "the database has no transactions")
	}
	q := &questioner{db: db, o: o, rng: distribution.NewRandom(o.Seed, 0), result: &QueryResult{
		Txs: status.Totals.Txs, Index: sharedIndex(db), Micros: map[string]Latencies{}, Lists: map[string]Walk{},
	}}
	if err := q.draw(ctx); err != nil {
		return nil, err
	}
	if err := q.singly(ctx); err != nil {
		return nil, err
	}
	if err := q.values(ctx); err != nil {
		return nil, err
	}
	q.result.PeakRSS = process.PeakRSS()
	return q.result, nil
}

// sharedIndex returns the first index of the database that is not one-to-one.
func sharedIndex(db *core.DB) string {
	for _, name := range db.Indexes() {
		for _, x := range db.Chain().Indexes() {
			if x.Name == name && x.Kind != model.OneToOne {
				return name
			}
		}
	}
	return ""
}

type questioner struct {
	db     *core.DB
	o      QueryOptions
	rng    distribution.Random
	result *QueryResult

	sample // values: without the hottest one
}

// draw takes the sample.
func (q *questioner) draw(ctx context.Context) error {
	counts := map[string]int{}
	var values []string
	err := q.sample.draw(ctx, q.db, q.rng, int(q.db.Tip().Height), q.o.Samples, math.MaxInt, func(tx *query.TxAnswer, drawn *query.OutputAnswer) error {
		for i := range tx.Outputs {
			for _, v := range valuesOf(&tx.Outputs[i], q.result.Index) {
				add(counts, v)
			}
		}
		values = append(values, valuesOf(drawn, q.result.Index)...)
		return nil
	})
	hot := &q.result.Hottest
	if hot.Value = q.o.Hottest[q.result.Index]; hot.Value == "" {
		hot.Value, _ = most(counts)
		hot.Sampled = true
	}
	q.sample.values = slices.DeleteFunc(values, func(v string) bool { return v == hot.Value })
	return err
}

// measure runs n queries twice and stores the latencies of the second run.
func (q *questioner) measure(ctx context.Context, name string, n int, question func(i int) error) error {
	if n == 0 {
		return nil
	}
	if _, err := ask(ctx, n, q.o.Most, question); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	took, err := ask(ctx, n, q.o.Most, question)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	q.result.Micros[name] = Percentiles(took, time.Microsecond)
	return nil
}

// singly measures queries for single items.
func (q *questioner) singly(ctx context.Context) error {
	absent := make([]string, len(q.txs))
	for i := range absent {
		absent[i] = q.db.Chain().FormatHash(model.Hash(q.rng.Filler(nil, len(model.Hash{}))))
	}
	for _, m := range []struct {
		name     string
		question func(i int) error
	}{
		{"tx", func(i int) error { _, err := q.db.Tx(ctx, q.txs[i]); return err }},
		{"tx_absent", func(i int) error {
			_, err := q.db.Tx(ctx, absent[i])
			if kind, _ := model.KindOf(err); kind == model.NotFound {
				return nil
			}
			return fmt.Errorf("%s must not exist: %w", absent[i], err)
		}},
		{"output", func(i int) error { _, err := q.db.Output(ctx, q.outputs[i]); return err }},
		{"block", func(i int) error { _, err := q.db.Block(ctx, q.blocks[i]); return err }},
	} {
		if err := q.measure(ctx, m.name, len(q.txs), m.question); err != nil {
			return err
		}
	}
	return nil
}

// values measures queries for ordinary values and for the hottest one.
func (q *questioner) values(ctx context.Context) error {
	index, hot := q.result.Index, q.result.Hottest.Value
	if hot == "" {
		return nil
	}
	for _, m := range []struct {
		name     string
		question func(value string) error
	}{
		{"find", func(v string) error { _, err := q.db.Find(ctx, index, v, query.Terms{}, query.Page{}); return err }},
		{"find_unspent", func(v string) error {
			_, err := q.db.Find(ctx, index, v, query.Terms{Unspent: true}, query.Page{})
			return err
		}},
		{"history", func(v string) error { _, err := q.db.History(ctx, index, v, query.Range{}, query.Page{}); return err }},
		{"history_newest", func(v string) error {
			_, err := q.db.History(ctx, index, v, query.Range{}, query.Page{Descending: true})
			return err
		}},
		{"balance", func(v string) error { _, err := q.db.Balance(ctx, index, v); return err }},
	} {
		if err := q.measure(ctx, m.name, len(q.sample.values), func(i int) error { return m.question(q.sample.values[i]) }); err != nil {
			return err
		}
		if err := q.measure(ctx, "hottest_"+m.name, min(hottestTimes, q.o.Samples), func(int) error { return m.question(hot) }); err != nil {
			return err
		}
	}
	balance, err := q.db.Balance(ctx, index, hot)
	if err != nil {
		return err
	}
	q.result.Hottest.Outputs = balance.OutputCount
	q.result.Lists["find"], err = q.walk(ctx, func(p query.Page) (int, *string, error) {
		a, err := q.db.Find(ctx, index, hot, query.Terms{}, p)
		if err != nil {
			return 0, nil, err
		}
		return len(a.Outputs), a.Next, nil
	})
	if err != nil {
		return err
	}
	q.result.Lists["history"], err = q.walk(ctx, func(p query.Page) (int, *string, error) {
		a, err := q.db.History(ctx, index, hot, query.Range{}, p)
		if err != nil {
			return 0, nil, err
		}
		return len(a.Txs), a.Next, nil
	})
	return err
}

// walk reads a list page by page, until the maximum duration.
func (q *questioner) walk(ctx context.Context, page func(query.Page) (rows int, next *string, err error)) (w Walk, err error) {
	p, began := query.Page{Limit: query.MaxLimit}, time.Now()
	for {
		n, next, err := page(p)
		if err != nil {
			return w, err
		}
		w.Rows += n
		if w.Whole = next == nil; w.Whole || time.Since(began) > q.o.Most {
			w.RowsPerSecond = float64(w.Rows) / time.Since(began).Seconds()
			return w, ctx.Err()
		}
		p.After = *next
	}
}
