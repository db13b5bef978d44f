package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/model"
	"birthmark/storage"
)

// Publisher copies the segments of a log to a folder.
type Publisher struct {
	Log  *segment.Log
	To   string
	Tip  func() model.Point // of the database
	Logs *slog.Logger

	published atomic.Uint64
}

// publishRetry is the pause after a failure of the folder.
const publishRetry = 5 * time.Second

// Published returns the number of the newest segment in the folder; 0: none yet.
func (p *Publisher) Published() uint64 { return p.published.Load() }

// Run publishes until ctx ends. It returns an error of kind Refused (fenced) if another publisher has taken over, after
// which this one never publishes again. Failures of the folder are logged and retried.
func (p *Publisher) Run(ctx context.Context) error {
	logged := ""
	for {
		_, changed := p.Log.State()
		err := p.publish(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if kind, _ := model.KindOf(err); kind == model.Refused {
			return err
		}
		if err != nil {
			if text := err.Error(); text != logged {
				logged = text
				p.Logs.Error("cannot publish segments, retrying", "to", p.To, "error", err)
			}
			changed = nil
		} else {
			logged = ""
		}
		var retry <-chan time.Time
		if changed == nil {
			retry = time.After(publishRetry)
		}
		select {
		case <-changed:
		case <-retry:
		case <-ctx.Done():
			return nil
		}
	}
}

func fenced(format string, args ...any) error {
	return model.Errorf(model.Refused, "fenced", format+": this process publishes no more segments", args...)
}

// publish publishes all segments that the folder lacks.
func (p *Publisher) publish(ctx context.Context) error {
	state, _ := p.Log.State()
	f := &Folder{p.To}
	if to, first, ok, err := f.fence(state.Lineage); err != nil {
		return err
	} else if ok {
		return fenced("%s: lineage %x was taken over by lineage %x at update %d", p.To, state.Lineage, to, first)
	}
	if err := p.begin(f, state.Lineage); err != nil {
		return err
	}
	var newest uint64
	if text, err := os.ReadFile(f.path(state.Lineage, newestName)); err == nil {
		_, _ = fmt.Sscan(string(text), &newest)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.published.Store(newest)
	if newest > state.Seq {
		return fenced("%s: lineage %x has segment %d from another publisher, this database is at update %d", p.To, state.Lineage, newest, state.Seq)
	}
	for seq := max(newest+1, state.First); seq <= state.Seq && ctx.Err() == nil; seq++ {
		b, err := p.Log.Read(seq)
		if errors.Is(err, segment.ErrMissing) {
			break // the next call begins after the gap
		}
		if err != nil {
			return err
		}
		if to, first, ok, err := f.fence(state.Lineage); err != nil {
			return err
		} else if ok {
			return fenced("%s: lineage %x was taken over by lineage %x at update %d", p.To, state.Lineage, to, first)
		}
		ok, err := create(f.path(state.Lineage, segment.FileName(seq)), b)
		if err != nil {
			return err
		}
		if !ok {
			return fenced("%s: another publisher of lineage %x wrote another segment %d", p.To, state.Lineage, seq)
		}
		err = storage.ReplaceFile(f.path(state.Lineage, newestName), 0o644, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%d %d\n", seq, p.Tip().Height)
			return err
		})
		if err != nil {
			return err
		}
		p.published.Store(seq)
	}
	return nil
}

// begin prepares the folder for a lineage: it fences the lineage that this one continues.
func (p *Publisher) begin(f *Folder, l schema.Lineage) error {
	if err := os.MkdirAll(filepath.Join(p.To, segment.FolderName(l)), 0o755); err != nil {
		return err
	}
	if from, ok := p.Log.Continues(); ok {
		text := fmt.Appendf(nil, "%s %d\n", segment.FolderName(l), from.Seq+1)
		if ok, err := create(f.path(from.Lineage, fencedName), text); err != nil {
			return err
		} else if !ok {
			return fenced("%s: another replica took over lineage %x", p.To, from.Lineage)
		}
	}
	if now, err := f.lineage(); err == nil && now == l {
		return nil
	}
	return storage.ReplaceFile(filepath.Join(p.To, lineageName), 0o644, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, segment.FolderName(l))
		return err
	})
}
