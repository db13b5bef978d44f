package follow

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Retry says how a source goes on after an error that waiting can heal.
type Retry struct {
	First    time.Duration // the first wait; 0: half a second. Every further one is twice as long, give or take a half of it
	Most     time.Duration // the longest wait; 0: half a minute
	Patience time.Duration // how long it goes on without success before the error is told; 0: for ever
}

func (r Retry) withDefaults() Retry {
	if r.First <= 0 {
		r.First = 500 * time.Millisecond
	}
	if r.Most <= 0 {
		r.Most = 30 * time.Second
	}
	return r
}

// outage is a time without success. Its zero value with a Retry is none.
type outage struct {
	Retry
	name  string // of the node
	log   *slog.Logger
	since time.Time
	waits int
	told  string // the error that was logged last: the same one is not told again and again
}

// over says that something succeeded.
func (o *outage) over() {
	if o.waits > 0 {
		o.log.Info("the source is back", "source", o.name, "after", time.Since(o.since).Round(time.Millisecond))
	}
	o.waits, o.told = 0, ""
}

// wait waits after err, each time longer than before, and returns err where it cannot heal or patience is at its end.
func (o *outage) wait(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !IsTemporary(err) {
		return err
	}
	if o.waits == 0 {
		o.since = time.Now()
	}
	if o.Patience > 0 && time.Since(o.since) > o.Patience {
		return fmt.Errorf("%w (tried for %s)", err, time.Since(o.since).Round(time.Second))
	}
	pause := time.Duration(float64(min(o.First<<min(o.waits, 16), o.Most)) * (0.5 + rand.Float64()))
	o.waits++
	level := slog.LevelDebug
	if err.Error() != o.told {
		o.told, level = err.Error(), slog.LevelWarn
	}
	o.log.Log(ctx, level, "the source failed, trying again", "source", o.name, "error", err, "in", pause.Round(time.Millisecond))
	return sleep(ctx, pause)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try does f until it succeeds or fails for good.
func try[T any](ctx context.Context, o *outage, f func() (T, error)) (T, error) {
	for {
		v, err := f()
		if err == nil {
			o.over()
			return v, nil
		}
		if err := o.wait(ctx, err); err != nil {
			return v, err
		}
	}
}
