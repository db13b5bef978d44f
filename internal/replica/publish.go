package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path"
	"sync/atomic"
	"time"

	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/snapshot/target"
	"birthmark/model"
)

// Publisher copies the segments of a log to a folder or bucket, and removes segments that are no longer in the log.
type Publisher struct {
	Log  *segment.Log
	To   target.Target
	Tip  func() model.Point // of the database
	Logs *slog.Logger

	published atomic.Uint64
	trimmed   uint64 // the segments before are removed; 0: not known
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
				p.Logs.Error("cannot publish segments, retrying", "to", p.To.String(), "error", err)
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
	f := &Folder{Files: p.To}
	if to, first, ok, err := f.fence(ctx, state.Lineage); err != nil {
		return err
	} else if ok {
		return fenced("%s: lineage %x was taken over by lineage %x at update %d", p.To, state.Lineage, to, first)
	}
	if err := p.begin(ctx, f, state.Lineage); err != nil {
		return err
	}
	var newest uint64
	if text, err := f.read(ctx, in(state.Lineage, newestName), maxDocument); err == nil {
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
		if to, first, ok, err := f.fence(ctx, state.Lineage); err != nil {
			return err
		} else if ok {
			return fenced("%s: lineage %x was taken over by lineage %x at update %d", p.To, state.Lineage, to, first)
		}
		ok, err := f.create(ctx, in(state.Lineage, segment.FileName(seq)), b)
		if err != nil {
			return err
		}
		if !ok {
			return fenced("%s: another publisher of lineage %x wrote another segment %d", p.To, state.Lineage, seq)
		}
		if err := f.replace(ctx, in(state.Lineage, newestName), fmt.Sprintf("%d %d\n", seq, p.Tip().Height)); err != nil {
			return err
		}
		p.published.Store(seq)
	}
	return p.trim(ctx, f, state)
}

// trimSteps is the number of segments above which they are listed instead of removed one by one.
const trimSteps = 100

// trim removes the segments that the log no longer has: no replica can get past the gap. Without the segment that began
// the lineage, nothing continues the lineages before, so their segments are removed too.
func (p *Publisher) trim(ctx context.Context, f *Folder, state segment.State) error {
	if state.First <= p.trimmed {
		return nil
	}
	if p.trimmed > 0 && state.First-p.trimmed <= trimSteps {
		for seq := p.trimmed; seq < state.First; seq++ {
			if err := f.Files.Remove(ctx, in(state.Lineage, segment.FileName(seq))); err != nil {
				return err
			}
		}
		p.trimmed = state.First
		return nil
	}
	folders, err := f.Files.Folders(ctx)
	if err != nil {
		return err
	}
	_, continues := p.Log.Continues()
	for _, name := range folders {
		var l schema.Lineage
		if parseLineage(&l, name, name) != nil {
			continue
		}
		before := state.First
		if l != state.Lineage {
			_, _, fenced, err := f.fence(ctx, l)
			if err != nil {
				return err
			}
			if continues || !fenced {
				continue
			}
			before = math.MaxUint64
		}
		if err := f.removeBefore(ctx, l, before); err != nil {
			return err
		}
	}
	p.trimmed = state.First
	return nil
}

// removeBefore removes the segments of a lineage before a number.
func (f *Folder) removeBefore(ctx context.Context, l schema.Lineage, before uint64) error {
	for e, err := range f.Files.List(ctx, segment.FolderName(l)) {
		if err != nil {
			return err
		}
		if seq, ok := segment.ParseFileName(path.Base(e.Name)); ok && seq < before {
			if err := f.Files.Remove(ctx, e.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin prepares the folder for a lineage: it fences the lineage that this one continues.
func (p *Publisher) begin(ctx context.Context, f *Folder, l schema.Lineage) error {
	if from, ok := p.Log.Continues(); ok {
		text := fmt.Appendf(nil, "%s %d\n", segment.FolderName(l), from.Seq+1)
		if ok, err := f.create(ctx, in(from.Lineage, fencedName), text); err != nil {
			return err
		} else if !ok {
			return fenced("%s: another replica took over lineage %x", p.To, from.Lineage)
		}
	}
	if now, err := f.lineage(ctx); err == nil && now == l {
		return nil
	}
	return f.replace(ctx, lineageName, segment.FolderName(l)+"\n")
}
