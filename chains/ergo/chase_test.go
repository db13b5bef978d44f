package ergo

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/model"
)

// chased is a source that is followed in a goroutine.
type chased struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan error
	tip    atomic.Pointer[model.Point]
	backs  atomic.Int32
	chain  []model.Point // set when the source has ended
}

func chase(t *testing.T, src model.Source) *chased {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &chased{t: t, cancel: cancel, done: make(chan error, 1)}
	go func() {
		var err error
		for e, failed := range src.Follow(ctx, nil) {
			if err = failed; err != nil {
				break
			}
			if e.Rollback != nil {
				c.backs.Add(1)
			}
			if c.chain, err = after(c.chain, e); err != nil {
				break
			}
			tip := model.Point{}
			if len(c.chain) > 0 {
				tip = c.chain[len(c.chain)-1]
			}
			c.tip.Store(&tip)
		}
		c.done <- err
	}()
	t.Cleanup(cancel)
	return c
}

// reaches waits until the source has yielded a block.
func (c *chased) reaches(p model.Point) {
	c.t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(time.Millisecond) {
		if tip := c.tip.Load(); tip != nil && *tip == p {
			return
		}
		select {
		case err := <-c.done:
			c.t.Fatalf("the source ended with %v", err)
		default:
		}
		if time.Now().After(end) {
			c.t.Fatalf("the source is at %v, expected %v", c.tip.Load(), p)
		}
	}
}

func (c *chased) end() {
	c.t.Helper()
	c.cancel()
	if err := <-c.done; err != nil && !errors.Is(err, context.Canceled) {
		c.t.Errorf("canceled: %v", err)
	}
}
