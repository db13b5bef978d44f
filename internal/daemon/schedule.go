package daemon

import (
	"context"
	"sync"
	"time"

	"birthmark/internal/config"
	"birthmark/internal/guard"
	"birthmark/internal/progress"
	"birthmark/internal/snapshot"
	"birthmark/model"
)

// createSnapshots creates snapshots of the database of set as the settings say, until stop is called.
func (h *Host) createSnapshots(ctx context.Context, set *config.Chain, s *handle) (stop func()) {
	if set.Snapshots.To == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	create := func() {
		due, tip := h.nextSnapshot(ctx, set)
		plan := snapshot.Schedule{
			Every: set.Snapshots.Every, Now: h.Now, Ready: s.atTip, Tip: s.tipHash,
			Create: func() (string, error) { return h.createAndPrune(ctx, set) },
			Failed: func(err error, pause time.Duration) {
				h.Log.Error("cannot create a snapshot, retrying", "db", set.DB, "error", h.ErrorText(err), "in", pause)
			},
		}
		plan.Run(ctx, due, tip)
	}
	running.Go(func() { _ = guard.Do(h.Log, "the snapshots of a database", create) })
	return func() {
		cancel()
		running.Wait()
	}
}

// nextSnapshot returns when the next snapshot is due, and the hash of the tip of the last one.
func (h *Host) nextSnapshot(ctx context.Context, set *config.Chain) (due time.Time, tip string) {
	r, _, err := h.FindSnapshots(ctx, set, set.Snapshots.To)
	if err == nil {
		var last *snapshot.Snapshot
		if last, err = r.Find(ctx, "", nil); err == nil {
			return last.Made.At.Add(set.Snapshots.Every), last.Tip.Hash
		}
	}
	if kind, _ := model.KindOf(err); kind != model.NotFound && ctx.Err() == nil {
		h.Log.Warn("cannot read when the last snapshot was created; creating one", "to", set.Snapshots.To, "error", h.ErrorText(err))
	}
	return time.Time{}, ""
}

// createAndPrune creates a snapshot and removes old ones. It returns the hash of the snapshot's tip.
func (h *Host) createAndPrune(ctx context.Context, set *config.Chain) (tip string, err error) {
	began := h.Now()
	t := progress.NewTransfer(h.Now)
	stop := progress.Report(h.Log, "snapshot of "+set.DB, t.Reading)
	defer stop()
	r, created, err := h.CreateSnapshot(ctx, set, CreateSnapshot{To: set.Snapshots.To, Progress: t.Advance})
	stop()
	if err != nil {
		return "", err
	}
	m := created.Manifest
	h.Log.Info("created a snapshot", "snapshot", created.Name, "height", m.Tip.Height, "bytes", m.Bytes, "uploaded_bytes",
		created.UploadedBytes, "to", r.String(), "took", h.Now().Sub(began).Round(time.Millisecond))
	removed, err := r.Prune(ctx, set.Snapshots.Keep, h.Now())
	if err != nil {
		h.Log.Error("cannot remove old snapshots", "from", r.String(), "error", h.ErrorText(err))
	} else if len(removed.Removed) > 0 {
		h.Log.Info("removed old snapshots", "snapshots", len(removed.Removed), "files", removed.Files, "bytes", removed.Bytes)
	}
	return m.Tip.Hash, nil
}

// atTip reports whether the database has all blocks that its source has; true if this process does not sync it.
func (s *handle) atTip() bool {
	now := s.state()
	return now.Preparation == nil && (now.Sync == nil || now.Sync.Target > 0 && now.Sync.Height >= now.Sync.Target)
}

// tipHash returns the hash of the last block; empty if there is none.
func (s *handle) tipHash() string {
	at, err := s.enter()
	if err != nil {
		return ""
	}
	defer at.users.Done()
	tip := at.db.Tip()
	if tip.IsOrigin() {
		return ""
	}
	return at.db.Chain().FormatHash(tip.Hash)
}
