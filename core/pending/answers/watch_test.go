package answers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core/pending"
	"birthmark/core/pending/answers"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// A watch sends changes only, the whole set after a reset, and at most a given number of events at once.
func TestAWatchSendsChangesAndAfterAResetEverything(t *testing.T) {
	n := &pendingtest.Node{World: pendingtest.New(t, pendingtest.Variants()[0], testseed.New(t))}
	db := n.DB
	for range 9 {
		n.Arrive(n.Pay(n.Coins(n.Pool)))
	}
	f := pending.NewFollower(pending.Options{
		View: db.View, Moved: db.Moved, Traits: db.Chain().Traits(), Memory: 1 << 30, Log: slog.New(slog.DiscardHandler),
		Interval: 2 * time.Millisecond, Patience: 2 * time.Minute, Open: func(context.Context, []string) (model.Source, error) { return n, nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); f.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	live := func() *pending.Standing {
		t.Helper()
		for u := range f.Changes(t.Context()) {
			n.Lock()
			complete := u.State() == pending.Live && u.Count() == len(n.Pool)
			n.Unlock()
			if complete {
				return u.Standing
			}
		}
		t.Fatal("the mempool did not reach the transactions of the node")
		return nil
	}
	watch := &answers.Watch{Follower: f, View: db.View, Terms: []query.Term{{Index: "address"}, {Index: "tag"}}, Spends: true}
	next := func(room int) (lines []string, more bool) {
		t.Helper()
		more, err := watch.Next(t.Context(), db.Tip(), func(e answers.Event) (bool, error) {
			b, err := json.Marshal(e)
			lines = append(lines, string(b))
			return len(lines) == room, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines, more
	}
	live()
	all, more := next(1000)
	first, last := all[0], all[len(all)-1]
	if count := len(all) - 2; more || count < 2 || !strings.HasPrefix(first, `{"type":"mempool","state":"live"`) ||
		!strings.HasSuffix(first, `"count":0,"reset":true}`) || !strings.HasSuffix(last, fmt.Sprintf(`"count":%d}`, count)) ||
		!strings.HasPrefix(all[1], `{"type":"pending","tx":"`) {
		t.Fatalf("%t, %d events:\n%s", more, len(all), strings.Join(all, "\n"))
	}
	if lines, more := next(1000); len(lines) > 0 || more {
		t.Errorf("without a change: %q, %t", lines, more)
	}
	watch.Reset()
	var parts []string
	for more := true; more; {
		var part []string
		if part, more = next(1); len(part) != 1 {
			t.Fatalf("%d events at once", len(part))
		}
		parts = append(parts, part...)
	}
	if !slices.Equal(parts, all) {
		t.Errorf("after a reset\n%s\nexpected\n%s", strings.Join(parts, "\n"), strings.Join(all, "\n"))
	}
	n.Lock()
	n.Pool = nil
	n.Unlock()
	live()
	gone, _ := next(1000)
	for _, line := range gone[:len(gone)-1] {
		if !strings.HasPrefix(line, `{"type":"gone","tx":"`) || !strings.HasSuffix(line, `"reason":"dropped"}`) {
			t.Errorf("got %s", line)
		}
	}
	if len(gone) != len(all)-1 || !strings.HasSuffix(gone[len(gone)-1], `"count":0}`) {
		t.Errorf("%d events, expected %d:\n%s", len(gone), len(all)-1, strings.Join(gone, "\n"))
	}
}
