package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"time"

	"golang.org/x/sync/errgroup"

	"birthmark/internal/guard"
	"birthmark/model"
)

// A read that failed is retried after retryPause, which doubles each time.
const (
	readTries  = 5
	retryPause = 200 * time.Millisecond
)

// retry calls do until it succeeds or fails permanently: an absent file, a full disk or damaged content do not change.
func retry(ctx context.Context, do func() error) error {
	for pause, try := retryPause, 1; ; pause, try = 2*pause, try+1 {
		err := do()
		if err == nil || !temporary(err) || try == readTries {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// temporary reports whether a read may succeed if it is repeated.
func temporary(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, context.Canceled) {
		return false
	}
	_, code := model.KindOf(err)
	return code == "storage_failed"
}

func sum256(text []byte) [32]byte { return sha256.Sum256(text) }

// parallel calls do for each of n items, jobs at a time. After the first error no more items begin.
func parallel(ctx context.Context, n, jobs int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(jobs, 1))
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return guard.Call(func() error { return do(ctx, i) })
		})
	}
	return g.Wait()
}
