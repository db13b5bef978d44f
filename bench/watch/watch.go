// Package watch measures the events of a watch list for blocks at the tip.
package watch

import (
	"context"
	"encoding/binary"
	"time"

	"birthmark/bench"
	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/core/query/valueset"
	"birthmark/model"
)

// Result is the cost of the events of a watch list for each block at the tip.
type Result struct {
	Values  int             `json:"values"`
	Bytes   int64           `json:"bytes"`      // memory of the list
	Outputs int             `json:"outputs"`    // of the list, in all blocks
	Spends  int             `json:"spends"`     // of such outputs
	Millis  bench.Latencies `json:"latency_ms"` // reading the events of a block
	CPU     bench.Latencies `json:"cpu_ms"`     // of the process meanwhile
}

// List is a watch list of values of the first index.
type List struct {
	result    Result
	set       *valueset.Set
	took, cpu []time.Duration
}

// matchEvery is the number of outputs of a block of which one has a value of the list.
const matchEvery = 50

// New returns a list of values like the addresses of Bitcoin: a type and a hash of 20 bytes.
func New(values int) (*List, error) {
	const spread = 0x9e3779b97f4a7c15
	l := &List{set: valueset.New()}
	value := make([]byte, 21)
	for n := range uint64(values) {
		n *= spread
		binary.BigEndian.PutUint64(value[1:], n)
		binary.BigEndian.PutUint64(value[9:], (n^n>>31)*spread)
		if _, err := l.set.Add(value); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Next adds some values of the next block to the list, so that it has events. after reads the events when the block has
// been appended.
func (l *List) Next(ctx context.Context, db *core.DB, b *model.Block) (after func() error, err error) {
	before := db.Tip()
	return func() error { return l.read(ctx, db, before) }, l.add(b)
}

// read reads the events after a point.
func (l *List) read(ctx context.Context, db *core.DB, before model.Point) error {
	filter := changes.Filter{
		List: &query.WatchList{Index: db.Indexes()[0], Values: l.set}, Spends: true, EveryBlock: true,
	}
	began, cpu := time.Now(), process.CPU()
	for e, err := range changes.Follow(ctx, db.Queries, []model.Point{before}, filter) {
		switch {
		case err != nil:
			return err
		case e.Output != nil:
			l.result.Outputs++
		case e.Spend != nil:
			l.result.Spends++
		}
	}
	l.took, l.cpu = append(l.took, time.Since(began)), append(l.cpu, process.CPU()-cpu)
	return nil
}

func (l *List) add(b *model.Block) error {
	n := 0
	for _, tx := range b.Txs {
		for _, o := range tx.Outputs {
			for _, k := range o.Keys {
				if k.Index != 0 {
					continue
				}
				if n++; n%matchEvery == 0 {
					if _, err := l.set.Add(k.Value); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// Result returns the measurements.
func (l *List) Result() *Result {
	l.result.Values, l.result.Bytes = l.set.Count(), l.set.Size()
	l.result.Millis = bench.Percentiles(l.took, time.Millisecond)
	l.result.CPU = bench.Percentiles(l.cpu, time.Millisecond)
	return &l.result
}
