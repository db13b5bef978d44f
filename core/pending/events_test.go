package pending

import (
	"context"
	"testing"
	"time"

	"birthmark/internal/testseed"
	"birthmark/model"
)

// A source whose events could not be subscribed to at first is subscribed to later, while it is listed.
func TestEventsThatComeLater(t *testing.T) {
	w := newWorld(t, variants()[0], testseed.New(t))
	n := &node{w: w, rng: w.rng, numbered: true}
	f := run(t, w, 5*time.Millisecond, func(context.Context, []string) (model.Source, error) { return n, nil })
	settled(t, w, f)
	n.mu.Lock()
	n.listens = true
	n.mu.Unlock()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		n.mu.Lock()
		subscriptions := len(n.events)
		n.mu.Unlock()
		if subscriptions > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the follower does not subscribe")
		}
	}
}
