package pending

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// panicking is a node that panics once in the armed method.
type panicking struct {
	*node
	armed atomic.Pointer[string]
}

func (p *panicking) at(method string) {
	if armed := p.armed.Load(); armed != nil && *armed == method && p.armed.CompareAndSwap(armed, nil) {
		panic("injected in " + method)
	}
}

func (p *panicking) Tip(ctx context.Context) (model.Point, error) {
	p.at("Tip")
	return p.node.Tip(ctx)
}

func (p *panicking) MempoolIDs(ctx context.Context) ([]model.Hash, uint64, error) {
	p.at("MempoolIDs")
	return p.node.MempoolIDs(ctx)
}

func (p *panicking) MempoolTxs(ctx context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	p.at("MempoolTxs")
	return p.node.MempoolTxs(ctx, ids)
}

func (p *panicking) MempoolEvents(ctx context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	seq, err := p.node.MempoolEvents(ctx)
	if seq == nil {
		return seq, err
	}
	return func(yield func(model.MempoolEvent, error) bool) {
		seq(func(e model.MempoolEvent, err error) bool {
			p.at("events")
			return yield(e, err)
		})
	}, err
}

// logged is a log that several goroutines write.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// A panic in the code of the source or of the database is logged, and the follower reaches the transactions of its node
// again.
func TestAPanicDoesNotEndTheFollower(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	n := &panicking{node: &node{w: w, rng: rand.New(rand.NewPCG(1, 1)), listens: true}}
	log := new(logged)
	f := NewFollower(Options{
		View: func(ctx context.Context, fn func(*query.View) error) error {
			return w.DB.View(ctx, func(v *query.View) error {
				n.at("View")
				return fn(v)
			})
		},
		Moved: w.DB.Moved, Traits: w.DB.Chain().Traits(), Memory: 1 << 30, Log: slog.New(slog.NewTextHandler(log, nil)),
		Open: func(context.Context, []string) (model.Source, error) { return n, nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	defer func() { cancel(); <-ended }()
	for _, method := range []string{"Tip", "MempoolIDs", "MempoolTxs", "events", "View"} {
		settled(t, w, f)
		n.armed.Store(&method)
		for n.armed.Load() != nil {
			n.mu.Lock()
			n.move()
			w.Sync()
			n.mu.Unlock()
			signal(f.wake)
			time.Sleep(time.Millisecond)
		}
		for end := time.Now().Add(testrun.Patience); log.count("injected in "+method) == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the panic in %s is not logged", method)
			}
		}
		settled(t, w, f)
	}
}
