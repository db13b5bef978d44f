package blocksource_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Outage is called for each error that is retried, and when the retries end.
func TestOutagesAreReported(t *testing.T) {
	var reported []error
	o := blocksource.NewOutage("node", blocksource.Retry{First: time.Microsecond, Most: time.Microsecond},
		model.SourceOptions{Follow: true, Outage: func(err error) { reported = append(reported, err) }})
	away, lies := blocksource.Temporary(errors.New("away")), errors.New("lies")
	o.Over() // there was no error
	for range 2 {
		if err := o.Wait(t.Context(), away); err != nil {
			t.Fatal(err)
		}
	}
	o.Over()
	o.Over()
	if err := o.Wait(t.Context(), lies); err != lies {
		t.Errorf("a permanent error was retried: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Wait(ended, away); !errors.Is(err, context.Canceled) {
		t.Errorf("waited with a canceled context: %v", err)
	}
	if len(reported) != 3 || reported[0] != away || reported[1] != away || reported[2] != nil {
		t.Errorf("reports %v, expected two errors and the end of the outage", reported)
	}
}

// A node that answers that it is starting or busy is retried for two minutes by default, and without limit by a source
// that follows. A node that never answered is retried only by the latter: its URI can be wrong.
func TestTheFirstContactWaitsForANodeThatAnswers(t *testing.T) {
	busy, none := blocksource.Temporary(errors.New("busy")), blocksource.NoAnswer(errors.New("refused"))
	for _, c := range []struct {
		name   string
		err    error
		o      model.SourceOptions
		lasts  time.Duration // of the error
		passes bool
	}{
		{"busy for a minute", busy, model.SourceOptions{}, time.Minute, true},
		{"busy for five minutes", busy, model.SourceOptions{}, 5 * time.Minute, false},
		{"busy for five minutes, with patience", busy, model.SourceOptions{Wait: 10 * time.Minute}, 5 * time.Minute, true},
		{"busy, without patience", busy, model.SourceOptions{Wait: -1}, time.Millisecond, false},
		{"busy for a day, followed", busy, model.SourceOptions{Follow: true, Wait: -1}, 24 * time.Hour, true},
		{"no answer for a second", none, model.SourceOptions{}, time.Second, false},
		{"no answer for a day, followed", none, model.SourceOptions{Follow: true}, 24 * time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				node := serve(grow(nil, 3, 0))
				node.before = func(int) error {
					if time.Since(begin) < c.lasts {
						return c.err
					}
					return nil
				}
				src := blocksource.NewSource(node, blocksource.Options{Name: "node", Log: slog.New(slog.DiscardHandler), SourceOptions: c.o})
				tip, err := src.Tip(t.Context())
				took := time.Since(begin)
				switch {
				case c.passes && (err != nil || tip.Height != 2):
					t.Errorf("%v after %s", err, took)
				case !c.passes && (!errors.Is(err, c.err) || took > 3*time.Minute):
					t.Errorf("%v after %s, expected %v within three minutes", err, took, c.err)
				case !c.passes && blocksource.IsNoAnswer(c.err) && took > 0:
					t.Errorf("waited %s for a node that never answered", took)
				}
			})
		})
	}
}
