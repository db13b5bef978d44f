package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/model"
)

// RollbackResult is the speed of removing the last blocks of a database.
type RollbackResult struct {
	Txs            int     `json:"txs"`    // in the database before
	Blocks         int     `json:"blocks"` // removed
	RemovedTxs     int     `json:"removed_txs"`
	TxsPerSecond   float64 `json:"txs_per_s"`
	CPUMicrosPerTx float64 `json:"cpu_us_per_tx"` // of the process

	AppendTxsPerSecond float64 `json:"append_txs_per_s"` // appending the same blocks in batches as near the tip
	Ratio              float64 `json:"ratio"`            // TxsPerSecond / AppendTxsPerSecond
	BulkTxsPerSecond   float64 `json:"bulk_txs_per_s"`   // of indexing the whole database
	BulkRatio          float64 `json:"bulk_ratio"`
}

// Rollback measures removing the last blocks of a compacted database of the first txs transactions of a recording.
func Rollback(ctx context.Context, blocks *Recording, txs, last int, o Options) (r *RollbackResult, err error) {
	left, err := blocks.Before(txs, last)
	if err != nil {
		return nil, err
	}
	db, err := build(ctx, blocks, txs, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.store.Close()) }()
	before := db.Tip()
	to, err := db.PointAt(ctx, before.Height-model.HeightPk(last))
	if err != nil {
		return nil, err
	}
	began, cpu := time.Now(), process.CPU()
	if err := db.Rollback(ctx, to); err != nil {
		return nil, err
	}
	took := time.Since(began)
	cpu = process.CPU() - cpu
	got, err := db.txs(ctx)
	if err != nil {
		return nil, err
	}
	if got != left {
		return nil, fmt.Errorf("the database has %d transactions after the rollback, expected %d", got, left)
	}
	again, err := db.sync(ctx, blocks, txs, core.SyncOptions{BatchWeight: nearWeight, BatchBytes: o.WindowBytes, BulkWeight: -1})
	if err != nil {
		return nil, err
	}
	if now := db.Tip(); now != before {
		return nil, fmt.Errorf("the tip is block %d after appending the blocks again, expected %d", now.Height, before.Height)
	}
	r = &RollbackResult{Txs: txs, Blocks: last, RemovedTxs: txs - left}
	removed := float64(r.RemovedTxs)
	r.TxsPerSecond = removed / took.Seconds()
	r.CPUMicrosPerTx = cpu.Seconds() * 1e6 / removed
	r.AppendTxsPerSecond = removed / again.Seconds()
	r.Ratio = r.TxsPerSecond / r.AppendTxsPerSecond
	r.BulkTxsPerSecond = float64(txs) / db.took.Seconds()
	r.BulkRatio = r.TxsPerSecond / r.BulkTxsPerSecond
	return r, nil
}
