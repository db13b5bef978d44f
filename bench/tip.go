package bench

import (
	"context"
	"errors"
	"time"

	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/model"
)

// TipResult is the time to append a block durably.
type TipResult struct {
	Txs      int                  `json:"txs"`       // in the database before
	BlockTxs float64              `json:"block_txs"` // average
	Millis   Latencies            `json:"latency_ms"`
	Parts    map[string]Latencies `json:"parts_ms"` // by name in Parts
	CPU      float64              `json:"cpu_ms"`   // average of a block, with what runs in the background

	SegmentBytes float64 `json:"segment_bytes,omitempty"` // average of a block; 0: none were recorded
}

// Parts are the keys of [TipResult.Parts] in order: resolving inputs and values, encoding rows, and writing them.
var Parts = []string{"resolve", "rows", "write"}

// Tip measures appending the last blocks of a recording one by one to a compacted database of the others, through the
// write-ahead log. If from is not empty, it is a folder with this database, which [Build] created and which does not
// change. If also is not nil, it is called with each of them, and after the block was appended calls what that returned.
func Tip(
	ctx context.Context, blocks *Recording, last int, from string, o Options, also func(*core.DB, *model.Block) (after func() error, err error),
) (result *TipResult, err error) {
	txs, err := blocks.Before(0, last)
	if err != nil {
		return nil, err
	}
	var db *database
	if from == "" {
		db, err = build(ctx, blocks, txs, o)
	} else {
		db, err = copied(ctx, from, blocks, txs, o)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.store.Close()) }()
	src, err := blocks.Replay(0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()

	var took []time.Duration
	parts := make([][]time.Duration, len(Parts))
	cpu := time.Duration(0)
	for e, err := range src.Follow(ctx, []model.Point{db.Tip()}) {
		if err != nil {
			return nil, err
		}
		after := func() error { return nil }
		if also != nil {
			if after, err = also(db.DB, e.Block); err != nil {
				return nil, err
			}
		}
		rows, write, cpuBefore, began := db.store.rows, db.store.write, process.CPU(), time.Now()
		if err := db.Append(ctx, []*model.Block{e.Block}); err != nil {
			return nil, err
		}
		all := time.Since(began)
		cpu += process.CPU() - cpuBefore
		rows, write = db.store.rows-rows, db.store.write-write
		took = append(took, all)
		for i, d := range []time.Duration{all - rows - write, rows, write} {
			parts[i] = append(parts[i], d)
		}
		if err := after(); err != nil {
			return nil, err
		}
	}
	result = &TipResult{
		Txs: txs, BlockTxs: float64(src.Made().Txs) / float64(last),
		Millis: Percentiles(took, time.Millisecond), Parts: map[string]Latencies{},
		CPU: float64(cpu.Microseconds()) / 1000 / float64(max(1, len(took))),
	}
	if db.segments != nil {
		s, _ := db.segments.State()
		for seq := s.Seq - uint64(len(took)) + 1; seq <= s.Seq; seq++ {
			b, err := db.segments.Read(seq)
			if err != nil {
				return nil, err
			}
			result.SegmentBytes += float64(len(b)) / float64(len(took))
		}
	}
	for i, name := range Parts {
		result.Parts[name] = Percentiles(parts[i], time.Millisecond)
	}
	return result, nil
}
