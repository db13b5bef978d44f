package blocksource_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"birthmark/chains/blocksource"
)

// Outage is called for each error that is retried, and at its end.
func TestOutagesAreTold(t *testing.T) {
	var told []error
	o := blocksource.NewOutage("node", blocksource.Retry{First: time.Microsecond, Most: time.Microsecond}, true, func(err error) { told = append(told, err) })
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
		t.Errorf("waited for what does not heal: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Wait(ended, away); !errors.Is(err, context.Canceled) {
		t.Errorf("waited although the context had ended: %v", err)
	}
	if len(told) != 3 || told[0] != away || told[1] != away || told[2] != nil {
		t.Errorf("told %v, expected twice that it is away, and that it is not", told)
	}
}
