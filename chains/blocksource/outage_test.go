package blocksource_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"birthmark/chains/blocksource"
)

// Outage is called for each error that is retried, and when the retries end.
func TestOutagesAreReported(t *testing.T) {
	var reported []error
	o := blocksource.NewOutage("node", blocksource.Retry{First: time.Microsecond, Most: time.Microsecond}, true, func(err error) { reported = append(reported, err) })
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
