package core

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"birthmark/core/cache"
	"birthmark/internal/guard"
	"birthmark/model"
)

// Progress is the progress of a sync. Rates are averages over the last seconds.
type Progress struct {
	Height, Target        model.HeightPk // Target: the source's tip when the sync began, or SyncOptions.To if lower
	Extent                model.Extent   // of Height and Target; Total 0: unknown
	Blocks, Txs, Entities uint64         // written since the sync began; entities are inputs, outputs and assets
	Elapsed, Left         time.Duration  // Elapsed is never 0 in reports of a sync; Left 0: unknown
	BlocksPerSecond       float64
	TxsPerSecond          float64
	EntitiesPerSecond     float64
	Stages                map[string]float64 // seconds each stage was busy since the sync began: read, resolve, write
	Bottleneck            string             // the stage that was busy most over the last seconds
	Compacting            bool               // all blocks up to the target are written, the store compacts its rows
	Done                  bool
	Overflow              cache.RunStats // files of the caches beyond memory; Bytes 0: none
	OverflowReads         float64        // pages of these files read per transaction over the last seconds
}

// Fraction is the part of the chain up to Target that is indexed, from 0 to 1: by size if it is known, else by blocks.
func (p *Progress) Fraction() float64 {
	switch e := p.Extent; {
	case p.Height >= p.Target:
		return min(1, float64(p.Target)) // 0 if nothing is known yet
	case e.Total > 0:
		return min(1, float64(e.Done)/float64(e.Total))
	}
	return float64(p.Height) / float64(p.Target)
}

// extent returns how much of the chain of src is indexed, up to the tip or to. It is unknown if the source returns an
// error, because a sync works without it.
func (db *DB) extent(ctx context.Context, src model.Source, tip model.Point, to *model.HeightPk) model.Extent {
	m, ok := src.(model.Measurer)
	if !ok || tip.IsOrigin() {
		return model.Extent{}
	}
	last := tip.Height
	if to != nil {
		last = min(last, *to)
	}
	if e, err := m.Measure(ctx, db.Tip(), last); err == nil && e.Done <= e.Total {
		return e
	}
	return model.Extent{}
}

type stage int

const (
	stageRead stage = iota
	stageResolve
	stageWrite
	stages
)

var stageNames = [stages]string{"read", "resolve", "write"}

const (
	progressEvery = 200 * time.Millisecond
	rateOver      = 5 * time.Second
)

// meter counts what a sync does and reports it.
type meter struct {
	callback  func(Progress) // nil: no reports
	reporting sync.Mutex     // held during a call of callback, and taken before mu

	mu       sync.Mutex
	started  time.Time
	reported time.Time
	now      sample
	old      []sample // one per report, for the last rateOver
	target   model.HeightPk
	extent   model.Extent // when the sync began
	due      *time.Timer  // calls report; nil: nothing has changed since the last report
	ended    bool         // the last report was made

	compacting  bool
	overflow    cache.RunStats
	pagesBefore int64 // of overflow.Pages: read before the sync began
}

// sample is the counts at one moment.
type sample struct {
	at                    time.Time
	height                model.HeightPk
	blocks, txs, entities uint64
	size                  uint64 // in the unit of the extent
	pages                 int64  // read from overflow files
	busy                  [stages]time.Duration
}

func newMeter(callback func(Progress), height, target model.HeightPk, to *model.HeightPk, extent model.Extent) *meter {
	if to != nil && *to < target {
		target = *to
	}
	start := time.Now()
	m := &meter{callback: callback, started: start, now: sample{at: start, height: height}, target: target, extent: extent,
		old: []sample{{at: start, height: height}}}
	m.report(false) // reports the target at once, even if the first block takes long
	return m
}

// overflows sets the overflow of the caches.
func (m *meter) overflows(s cache.RunStats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.overflow, m.now.pages = s, s.Pages-m.pagesBefore
}

func (m *meter) busy(s stage, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.busy[s] += time.Since(since)
}

func (m *meter) rolledBack(to model.HeightPk) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.height = to
	m.reportSoon()
}

func (m *meter) wrote(blocks []*model.Block) {
	var txs, entities, size uint64
	for _, b := range blocks {
		txs += uint64(len(b.Txs))
		size += uint64(cmp.Or(b.SourceSize, b.Size))
		for i := range b.Txs {
			t := &b.Txs[i]
			entities += uint64(len(t.Inputs) + len(t.Outputs))
			for j := range t.Outputs {
				entities += uint64(len(t.Outputs[j].Assets))
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.height = blocks[len(blocks)-1].Height
	m.now.blocks += uint64(len(blocks))
	m.now.txs += txs
	m.now.entities += entities
	if m.extent.Txs {
		size = txs
	}
	m.now.size += size
	if m.target < m.now.height {
		m.target = m.now.height
	}
	m.reportSoon()
}

// reportSoon schedules a report in its own goroutine, at most every progressEvery: the writer does not wait for the
// callback, and the last blocks are reported although no block follows them. mu is held.
func (m *meter) reportSoon() {
	if m.due == nil {
		m.due = time.AfterFunc(max(0, progressEvery-time.Since(m.reported)), func() {
			_ = guard.Do(slog.Default(), "the progress of a sync", func() { m.report(false) })
		})
	}
}

// compacts reports that the store compacts its rows, or that it has ended.
func (m *meter) compacts(now bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.compacting = now
	m.reportSoon()
}

func (m *meter) finish(height model.HeightPk) {
	m.mu.Lock()
	if m.due != nil {
		m.due.Stop()
	}
	m.now.height = height
	m.mu.Unlock()
	m.report(true)
}

// report calls the callback, unless the last report was made.
func (m *meter) report(done bool) {
	if m.callback == nil {
		return
	}
	m.reporting.Lock()
	defer m.reporting.Unlock()
	if p, ok := m.progress(done); ok {
		m.callback(p)
	}
}

func (m *meter) progress(done bool) (p Progress, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return p, false
	}
	m.due, m.ended = nil, done
	now := m.now
	now.at = time.Now()
	m.reported = now.at
	for len(m.old) > 1 && now.at.Sub(m.old[0].at) > rateOver {
		m.old = m.old[1:]
	}
	old := m.old[0]
	if done {
		old = sample{at: m.started}
	}
	p = Progress{
		Height: now.height, Target: m.target, Blocks: now.blocks, Txs: now.txs, Entities: now.entities,
		Elapsed: max(now.at.Sub(m.started), 1), Stages: map[string]float64{}, Compacting: m.compacting, Done: done, Overflow: m.overflow,
	}
	if s := now.at.Sub(old.at).Seconds(); s > 0 {
		p.BlocksPerSecond = float64(now.blocks-old.blocks) / s
		p.TxsPerSecond = float64(now.txs-old.txs) / s
		p.EntitiesPerSecond = float64(now.entities-old.entities) / s
	}
	if txs := now.txs - old.txs; txs > 0 {
		p.OverflowReads = float64(now.pages-old.pages) / float64(txs)
	}
	if p.Extent = m.extent; p.Extent.Total > 0 {
		p.Extent.Done = min(p.Extent.Done+now.size, p.Extent.Total)
	}
	p.Left = left(&p, old, now)
	var most time.Duration
	for s := range stages {
		p.Stages[stageNames[s]] = now.busy[s].Seconds()
		if d := now.busy[s] - old.busy[s]; d > most {
			most, p.Bottleneck = d, stageNames[s]
		}
	}
	m.old = append(m.old, now)
	return p, true
}

// left returns the time until the target at the rate since old; 0: unknown.
func left(p *Progress, old, now sample) time.Duration {
	if p.Height >= p.Target {
		return 0
	}
	rest, done := float64(p.Target-p.Height), float64(now.blocks-old.blocks)
	if e := p.Extent; e.Done < e.Total {
		rest, done = float64(e.Total-e.Done), float64(now.size-old.size)
	}
	if done == 0 {
		return 0
	}
	return time.Duration(rest / done * float64(now.at.Sub(old.at)))
}
