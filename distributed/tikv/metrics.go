package tikv

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/pingcap/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"birthmark/storage"
)

// calls counts requests.
type calls struct{ reads, timestamps, commits, retries, seals atomic.Int64 }

// Metrics implements [storage.MetricsProvider].
func (s *Store) Metrics() ([]storage.Metric, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	count := func(n *atomic.Int64) float64 { return float64(n.Load()) }
	return []storage.Metric{
		{Name: "tikv_reads_total", Help: "Read requests, each to one or more regions.", Value: count(&s.calls.reads)},
		{Name: "tikv_timestamps_total", Help: "Timestamps requested from the placement driver.", Value: count(&s.calls.timestamps)},
		{Name: "tikv_commits_total", Help: "Transactions that were committed, or tried to.", Value: count(&s.calls.commits)},
		{Name: "tikv_retries_total", Help: "Requests repeated because the cluster did not answer.", Value: count(&s.calls.retries)},
		{Name: "tikv_large_updates_total", Help: "Updates written through the log, in parts.", Value: count(&s.calls.seals)},
	}, nil
}

var logsOnce sync.Once

// redirectLogs sends the log of client-go, which is global, to slog. Warnings of client-go are about requests that it
// repeats, so they are debugging output.
func redirectLogs() {
	logsOnce.Do(func() {
		level := zap.NewAtomicLevelAt(zap.WarnLevel)
		core := &slogCore{LevelEnabler: level}
		log.ReplaceGlobals(zap.New(core), &log.ZapProperties{Core: core, Level: level})
	})
}

type slogCore struct {
	zapcore.LevelEnabler
	fields []zapcore.Field
}

func (c *slogCore) With(fields []zapcore.Field) zapcore.Core {
	return &slogCore{c.LevelEnabler, append(c.fields[:len(c.fields):len(c.fields)], fields...)}
}

func (c *slogCore) Check(e zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return checked.AddCore(e, c)
	}
	return checked
}

func (c *slogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range append(c.fields[:len(c.fields):len(c.fields)], fields...) {
		f.AddTo(enc)
	}
	slog.Debug("tikv client: "+e.Message, "fields", enc.Fields)
	return nil
}

func (c *slogCore) Sync() error { return nil }
