package segment

import (
	"context"
	"errors"
	"fmt"
	"io"

	"birthmark/storage"
)

// Size implements [storage.Sizer].
func (r *Recorder) Size(f storage.Family) (int64, error) {
	if s, ok := r.Store.(storage.Sizer); ok {
		return s.Size(f)
	}
	return 0, nil
}

// Flush implements [storage.Flusher].
func (r *Recorder) Flush(ctx context.Context) error {
	if s, ok := r.Store.(storage.Flusher); ok {
		return s.Flush(ctx)
	}
	return ctx.Err()
}

// WriteSideFile implements [storage.SideFiles].
func (r *Recorder) WriteSideFile(name string, write func(io.Writer) error) error {
	if s, ok := r.Store.(storage.SideFiles); ok {
		return s.WriteSideFile(name, write)
	}
	return nil
}

// ReadSideFile implements [storage.SideFiles].
func (r *Recorder) ReadSideFile(name string, read func(io.Reader) error) error {
	if s, ok := r.Store.(storage.SideFiles); ok {
		return s.ReadSideFile(name, read)
	}
	return fmt.Errorf("side file %s: %w", name, storage.ErrNotFound)
}

// CacheFolder implements [storage.CacheFolder].
func (r *Recorder) CacheFolder() (path string, files int) {
	if s, ok := r.Store.(storage.CacheFolder); ok {
		return s.CacheFolder()
	}
	return "", 0
}

// Compact implements [storage.Compactor].
func (r *Recorder) Compact(ctx context.Context) error {
	if s, ok := r.Store.(storage.Compactor); ok {
		return s.Compact(ctx)
	}
	return ctx.Err()
}

// Metrics implements [storage.MetricsProvider].
func (r *Recorder) Metrics() ([]storage.Metric, error) {
	if s, ok := r.Store.(storage.MetricsProvider); ok {
		return s.Metrics()
	}
	return nil, nil
}

// Limits implements [storage.Limited].
func (r *Recorder) Limits() storage.Limits { return storage.LimitsOf(r.Store) }

// Checkpoint links the files of the store into a new folder, which gets no log.
func (r *Recorder) Checkpoint(ctx context.Context, dir string) error {
	if s, ok := r.Store.(interface {
		Checkpoint(ctx context.Context, dir string) error
	}); ok {
		return s.Checkpoint(ctx, dir)
	}
	return errors.New("the store has no checkpoints")
}
