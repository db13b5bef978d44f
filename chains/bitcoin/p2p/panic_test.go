package p2p

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/internal/guard"
	"birthmark/model"
)

// panicking is a log handler that panics at the first message that contains a text.
type panicking struct {
	slog.Handler
	at   string
	done atomic.Bool
}

func (p *panicking) Handle(ctx context.Context, r slog.Record) error {
	if strings.Contains(r.Message, p.at) && p.done.CompareAndSwap(false, true) {
		panic("injected")
	}
	return p.Handler.Handle(ctx, r)
}

// A panic in any goroutine of a network ends neither the process nor a call without an error: each call returns the
// panic, and Close returns.
func TestAPanicEndsTheNetworkAlone(t *testing.T) {
	silent := func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	logs := func(o *Options, at string) {
		o.Log = slog.New(&panicking{Handler: o.Log.Handler(), at: at})
	}
	type injects func(t *testing.T, o *Options, started *atomic.Bool)
	for name, setup := range map[string]injects{
		"the search for peers": func(_ *testing.T, o *Options, _ *atomic.Bool) {
			p := *regtest
			p.DNSSeeds = []chaincfg.DNSSeed{{Host: "localhost"}}
			o.Params = &p
			o.LookupHost = func(context.Context, string) ([]string, error) { panic("injected") }
		},
		"an attempt to connect": func(_ *testing.T, o *Options, _ *atomic.Bool) {
			o.Peers = []string{"127.0.0.1:1"}
			logs(o, "a peer cannot be reached")
		},
		"the end of a connection": func(t *testing.T, o *Options, _ *atomic.Bool) {
			f := newFake(t, spending(3).Blocks())
			f.on = after(func(s *session) { s.conn.Close() })
			o.Peers = []string{f.address}
			logs(o, "a peer was dropped")
		},
		"the timeout of a handshake": func(t *testing.T, o *Options, _ *atomic.Bool) {
			o.Peers, o.Handshake = []string{silent(t)}, 10*time.Millisecond
			logs(o, "a peer was dropped")
		},
		"the timeouts of peers": func(t *testing.T, o *Options, started *atomic.Bool) {
			o.Peers, o.Handshake, o.Stall = []string{silent(t)}, time.Hour, time.Millisecond
			o.Preparing = func(string, uint64, uint64) {
				if started.CompareAndSwap(true, false) {
					panic("injected")
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Params: regtest, Log: slog.New(slog.NewTextHandler(&journal{}, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			var started atomic.Bool
			setup(t, &o, &started)
			n, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			n.Start(0)
			started.Store(true)
			for _, call := range []func() error{
				func() error { _, err := n.Tip(t.Context()); return err },
				func() error { _, err := n.Hashes(t.Context(), 1, 1); return err },
				func() error { return n.Changed(t.Context(), model.Point{}) },
				func() error { _, err := n.Raw(t.Context(), []model.Point{{Height: 1}}, 1); return err },
			} {
				for err = call(); err != nil && !errors.Is(err, guard.ErrPanic); err = call() {
					time.Sleep(time.Millisecond) // before the panic
				}
				if err == nil {
					t.Error("a call without an error")
				}
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
