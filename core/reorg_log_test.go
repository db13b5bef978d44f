package core_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// logRecords collects log lines.
type logRecords struct{ lines []map[string]string }

func (l *logRecords) Enabled(context.Context, slog.Level) bool { return true }
func (l *logRecords) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logRecords) WithGroup(string) slog.Handler            { return l }
func (l *logRecords) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "fork" {
		return nil // of rich lists, which another goroutine builds
	}
	line := map[string]string{"message": r.Message}
	r.Attrs(func(a slog.Attr) bool { line[a.Key] = a.Value.String(); return true })
	l.lines = append(l.lines, line)
	return nil
}

// A reorganization writes one log line with the old and the new tip. The test uses a fake clock: on a busy machine a
// batch could end before the new tip.
func TestAReorgIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := modeltest.Variants()[3]
		trunk := v.NewGenerator(testseed.Of(t, 560))
		shared := trunk.Blocks(6)
		ours, theirs, last := trunk.Fork(1).Blocks(5), trunk.Fork(2).Blocks(7), trunk.Fork(3).Blocks(2)
		db := open(t, memory.New(), v, 1<<16)
		line := func(depth int, from, ancestor, to *model.Block) map[string]string {
			return map[string]string{
				"message": "fork", "depth": fmt.Sprint(depth), "old_tip": fmt.Sprint(from.Height), "old_tip_hash": from.Hash.String(),
				"ancestor": fmt.Sprint(ancestor.Height), "ancestor_hash": ancestor.Hash.String(),
				"new_tip": fmt.Sprint(to.Height), "new_tip_hash": to.Hash.String(),
			}
		}
		for _, c := range []struct {
			what string
			s    *script
			o    core.SyncOptions
			want []map[string]string
		}{
			{"none", events(shared, ours), core.SyncOptions{}, nil},
			{"while away, the first batch is a block", events(shared[5].Point(), theirs), core.SyncOptions{BatchWeight: 1}, []map[string]string{line(5, ours[4], shared[5], theirs[0])}},
			{"the source is behind", events(theirs[2].Point()), core.SyncOptions{}, nil},
			{"back to the tip", events(theirs[6].Point(), theirs[6].Point()), core.SyncOptions{}, nil},
			{"while following, and nothing follows", events(shared[5].Point(), ours, ours[1].Point(), shared[5].Point()), core.SyncOptions{}, []map[string]string{
				line(7, theirs[6], shared[5], ours[4]), line(5, ours[4], shared[5], shared[5])}},
			{"two, one in two steps", events(shared[5].Point(), last, shared[5].Point(), theirs, theirs[0].Point(), shared[4].Point(), shared[5:], last[:1]), core.SyncOptions{}, []map[string]string{
				line(2, last[1], shared[5], theirs[6]), line(8, theirs[6], shared[4], last[0])}},
		} {
			log := &logRecords{}
			c.o.Log = slog.New(log)
			sync(t, db, c.s, c.o)
			for i := range max(len(log.lines), len(c.want)) {
				if i < len(log.lines) {
					if _, err := time.ParseDuration(log.lines[i]["took"]); err != nil {
						t.Errorf("%s: took %q", c.what, log.lines[i]["took"])
					}
					delete(log.lines[i], "took")
				}
				if i >= len(log.lines) || i >= len(c.want) || text(log.lines[i]) != text(c.want[i]) {
					t.Errorf("%s: line %d is\n%s, expected\n%s", c.what, i, at(log.lines, i), at(c.want, i))
				}
			}
		}
		consistent(t, db)
	})
}
