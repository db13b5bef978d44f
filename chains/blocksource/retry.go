package blocksource

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"birthmark/model"
)

// Retry configures retries after temporary errors.
type Retry struct {
	First    time.Duration // the first wait; 0: half a second. It doubles each time, ± 50%
	Most     time.Duration // the longest wait; 0: half a minute
	Patience time.Duration // time without success before the error is returned; 0: see [NewOutage]
}

// patience is the time limit for retries of a source that ends at the tip, unless [model.SourceOptions.Wait] is set. One
// that follows has no limit.
const patience = 2 * time.Minute

func (r Retry) withDefaults(o model.SourceOptions) Retry {
	if r.Patience == 0 && !o.Follow {
		r.Patience = cmp.Or(o.Wait, patience)
	}
	if r.First <= 0 {
		r.First = 500 * time.Millisecond
	}
	if r.Most <= 0 {
		r.Most = 30 * time.Second
	}
	return r
}

// Outage is a period without success, in which a source retries. It belongs to one goroutine.
type Outage struct {
	retry  Retry
	name   string // of the node
	log    *slog.Logger
	since  time.Time
	waits  int
	logged string // the last error logged: repeated errors are logged once
	notify func(error)

	follows bool // the source follows the tip
}

// NewOutage returns an Outage before any error. name is the node's name in logs. If the source follows the tip and r
// has no limit, it retries forever, else for [model.SourceOptions.Wait]. Retried errors are passed to
// [model.SourceOptions.Outage].
func NewOutage(name string, r Retry, o model.SourceOptions) *Outage {
	notify := o.Outage
	if notify == nil {
		notify = func(error) {}
	}
	return &Outage{retry: r.withDefaults(o), name: name, log: slog.Default(), notify: notify, follows: o.Follow}
}

// Over reports a success.
func (o *Outage) Over() {
	if o.waits > 0 {
		o.notify(nil)
		o.log.Info("the source is back", "source", o.name, "after", time.Since(o.since).Round(time.Millisecond))
	}
	o.waits, o.logged = 0, ""
}

// Wait waits after err, each time longer than before. It returns err if that is permanent or patience has ended.
func (o *Outage) Wait(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !IsTemporary(err) {
		return err
	}
	if o.waits == 0 {
		o.since = time.Now()
	}
	switch tried := time.Since(o.since); {
	case o.retry.Patience < 0:
		return err
	case o.retry.Patience > 0 && tried > o.retry.Patience:
		return fmt.Errorf("%w (tried for %s)", err, tried.Round(time.Second))
	}
	o.notify(err)
	pause := time.Duration(float64(min(o.retry.First<<min(o.waits, 16), o.retry.Most)) * (0.5 + rand.Float64()))
	o.waits++
	level := slog.LevelDebug
	if err.Error() != o.logged {
		o.logged, level = err.Error(), slog.LevelWarn
	}
	o.log.Log(ctx, level, "the source failed, retrying", "source", o.name, "error", err, "in", pause.Round(time.Millisecond))
	return Sleep(ctx, pause)
}

// Contact is [Try] for the first call of a node, unless met, the node has answered before. A source that does not follow
// returns an error of [NoAnswer] at once: a wrong URI is more likely than a short outage.
func Contact[T any](ctx context.Context, o *Outage, met bool, f func() (T, error)) (T, error) {
	v, err := f()
	if err == nil || !met && !o.follows && IsNoAnswer(err) {
		return v, err
	}
	if err := o.Wait(ctx, err); err != nil {
		return v, err
	}
	return Try(ctx, o, f)
}

// Try calls f until it succeeds or fails permanently.
func Try[T any](ctx context.Context, o *Outage, f func() (T, error)) (T, error) {
	for {
		v, err := f()
		if err == nil {
			o.Over()
			return v, nil
		}
		if err := o.Wait(ctx, err); err != nil {
			return v, err
		}
	}
}

// Sleep waits for d, or until ctx ends and returns its error.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
