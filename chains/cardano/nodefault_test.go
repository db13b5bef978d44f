package cardano

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/chains/cardano/genesis"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

func TestNodeFaultsAreReported(t *testing.T) {
	testrun.Slow(t)
	trunk := branch(t, nil, 200, 0)
	bad := trunk[150]
	raw := append([]byte{}, bad.CBOR...)
	raw[bytes.LastIndex(raw, make([]byte, 20))] ^= 1 // the hash of the spent transaction
	broken, err := bad.WithBody(trunk[151])
	if err != nil {
		t.Fatal(err)
	}
	damaged, another := bad, trunk[160]
	damaged.CBOR = raw
	in := func(b ouroborostest.Block) ouroborostest.Faults {
		return ouroborostest.Faults{Instead: map[[32]byte]ouroborostest.Block{bad.Hash: b}}
	}
	place := []string{fmt.Sprint("slot ", bad.Slot), model.Hash(bad.Hash).String()}
	for name, c := range map[string]struct {
		faults    ouroborostest.Faults
		tcp, unix string // codes
		blocks    int    // blocks before the fault
		says      []string
	}{
		"a body of another block":   {in(broken), "bad_block", "bad_block", 150, place},
		"a body that is damaged":    {in(damaged), "bad_block", "bad_block", 150, place},
		"another block":             {in(another), "bad_block", "bad_chain", 150, nil},
		"no blocks in a range":      {ouroborostest.Faults{NoBlocks: true}, "no_blocks", "", 0, []string{"slot 20 (" + model.Hash(trunk[0].Hash).String()}},
		"nothing at all":            {ouroborostest.Faults{Silent: true}, "silent", "silent", 0, []string{"50ms"}},
		"what is no protocol":       {ouroborostest.Faults{Garbage: true}, "not_a_node", "not_a_node", 0, nil},
		"frames with what is noise": {ouroborostest.Faults{Scrambled: true}, "not_a_node", "not_a_node", 0, nil},
	} {
		n := ouroborostest.Start(t, 2, trunk)
		n.Misbehave(c.faults)
		for uri, code := range map[string]string{n.TCP(): c.tcp, n.Unix(): c.unix} {
			if code == "" {
				continue
			}
			t.Run(name+" "+uri[:3], func(t *testing.T) {
				s := overNode(t, uri, model.SourceOptions{})
				if c.faults.Silent { // other nodes get the default timeout, for slow machines
					s.Connect.Timeout = 50 * time.Millisecond
				}
				s.Retry.Patience = 100 * time.Millisecond
				var l cardanotest.Listener
				err := cardanotest.Collect(t, s, &l, nil)
				cardanotest.WantError(t, err, code, c.says...)
				if len(l.Chain) != c.blocks || len(l.Events) > 0 {
					t.Errorf("%d blocks before the fault, %v, expected %d", len(l.Chain), l.Events, c.blocks)
				}
			})
		}
	}
}

func TestNodeOfAnotherNetworkIsRejected(t *testing.T) {
	trunk := branch(t, nil, 3, 0)
	n := ouroborostest.Start(t, 1, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		s := overNode(t, uri, model.SourceOptions{Follow: true})
		_, err := s.Tip(t.Context())
		cardanotest.WantError(t, err, "wrong_network", "magic 2", "networkMagic = 1")
		l := cardanotest.Listener{T: t}
		cardanotest.WantError(t, cardanotest.Collect(t, s, &l, []model.Point{{Height: 9, Slot: 9}}), "wrong_network", "magic 2")
		if len(l.Events)+len(l.Chain) > 0 {
			t.Errorf("%d blocks, %v", len(l.Chain), l.Events)
		}
	})
}

func TestUnreachableNodeIsReported(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n := ouroborostest.Start(t, 2, nil)
	n.Stop()
	for uri, code := range map[string]string{
		n.TCP():                         "unreachable",
		n.Unix():                        "unreachable",
		"unix://" + folder + "/missing": "unreachable",
		"unix://" + file:                "not_a_node",
		"tcp://birthmark.invalid:3001":  "unreachable",
	} {
		_, err := overNode(t, uri, model.SourceOptions{}).Tip(t.Context())
		someAddress := strings.SplitN(uri, "://", 2)[1]
		cardanotest.WantError(t, err, code, someAddress)
	}
	// A source that follows waits until its node is reachable.
	s := overNode(t, n.TCP(), model.SourceOptions{Follow: true})
	go func() {
		time.Sleep(20 * time.Millisecond)
		if err := n.Restart(); err != nil {
			t.Error(err)
		}
	}()
	if tip, err := s.Tip(t.Context()); err != nil || !tip.IsOrigin() {
		t.Error(tip, err)
	}
}

func TestReconnectAfterDisconnect(t *testing.T) {
	trunk := branch(t, nil, 1500, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		s := overNode(t, uri, model.SourceOptions{Follow: true})
		var steps []cardanotest.Step
		for at := 100; at < len(trunk); at += 200 {
			steps = append(steps, cardanotest.Step{Chain: trunk[:at], Then: func() { n.CutAfter(77) }})
		}
		connections := n.Asked()["connection"]
		more := branch(t, trunk, 3, 0)
		steps = append(steps, cardanotest.Step{Chain: trunk, Then: func() { n.Disconnect(); n.Extend(more...) }}, cardanotest.Step{Chain: cardanotest.Replace(trunk, len(trunk), more...)})
		var l cardanotest.Listener
		cardanotest.Expect(t, s, &l, nil, steps...)
		if len(l.Events) > 0 {
			t.Error(l.Events)
		}
		if again := n.Asked()["connection"] - connections; again < 3 {
			t.Errorf("%d connections: the connection did not break", again)
		}
		n.Rollback(len(trunk))
	})
}

func TestNodeRestartsOnAnotherChain(t *testing.T) {
	trunk := branch(t, nil, 600, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		n.Switch(0, trunk...)
		fork := branch(t, trunk[:500], 150, 1)
		var l cardanotest.Listener
		cardanotest.Expect(t, overNode(t, uri, model.SourceOptions{Follow: true}), &l, nil, cardanotest.Step{Chain: trunk, Then: func() {
			n.Stop()
			n.Switch(500, fork...)
			if err := n.Restart(); err != nil {
				t.Error(err)
			}
		}}, cardanotest.Step{Chain: cardanotest.Replace(trunk, 500, fork...)})
		if want := []string{"<499"}; !slices.Equal(l.Events, want) {
			t.Errorf("%v, expected %v", l.Events, want)
		}
	})
}

// A node can serve another chain with the same magic: a test network that was restarted.
func TestNodeReturnsWithAnotherChain(t *testing.T) {
	testrun.Slow(t)
	for _, length := range []int{genesis.SecurityParam, genesis.SecurityParam + 2} {
		trunk := branch(t, nil, length, 0)
		other := branch(t, nil, length+10, 1)
		n := ouroborostest.Start(t, 2, trunk)
		cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
			n.Switch(0, trunk...)
			l := cardanotest.Listener{T: t}
			var last error
			for e, err := range overNode(t, uri, model.SourceOptions{Follow: true}).Follow(t.Context(), nil) {
				if last = err; err != nil {
					break
				}
				if l.Apply(e); l.Is(trunk) {
					n.Stop()
					n.Switch(0, other...)
					if err := n.Restart(); err != nil {
						t.Fatal(err)
					}
				}
				if l.Is(other) {
					break
				}
			}
			kind, code := model.KindOf(last)
			switch {
			case length == genesis.SecurityParam && (last != nil || !slices.Equal(l.Events, []string{"<origin"})):
				t.Errorf("%v, %v, expected a rollback to the origin", l.Events, last)
			case length > genesis.SecurityParam && (kind != model.Refused || code != "wrong_chain" || len(l.Events) > 0 || !l.Is(trunk)):
				t.Errorf("%d blocks, %v, %v (%s), expected wrong_chain", len(l.Chain), l.Events, last, code)
			}
		})
	}
}

func TestSourceEndsAtRequestedHeight(t *testing.T) {
	trunk := branch(t, nil, 300, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		for _, follows := range []bool{false, true} {
			to := model.HeightPk(123)
			s := overNode(t, uri, model.SourceOptions{To: &to, Follow: follows})
			var l cardanotest.Listener
			if err := cardanotest.Collect(t, s, &l, nil); err != nil || len(l.Chain) != 124 {
				t.Errorf("%d blocks, %v", len(l.Chain), err)
			}
			if err := cardanotest.Collect(t, s, &l, l.Known(200)); err != nil || len(l.Chain) != 124 || len(l.Events) > 0 {
				t.Errorf("%d blocks, %v, %v", len(l.Chain), l.Events, err)
			}
		}
	})
}

// lingering returns the stacks of goroutines of sources.
func lingering() (stacks []string) {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	for _, g := range strings.Split(string(all), "\n\n") {
		if strings.Contains(g, "cardano/ouroboros.(*Conn)") || strings.Contains(g, "blocksource.Ordered") {
			stacks = append(stacks, g)
		}
	}
	return stacks
}

func TestNoGoroutinesAreLeft(t *testing.T) {
	trunk := branch(t, nil, 2000, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		for _, leave := range []string{"the consumer", "the context", "an error", "the end"} {
			s := overNode(t, uri, model.SourceOptions{Follow: leave != "the end", Memory: 1 << 20})
			s.Retry.Patience = time.Nanosecond
			if _, err := s.Tip(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(t.Context())
			blocks := 0
			for _, err := range s.Follow(ctx, nil) {
				if err != nil {
					break
				}
				if blocks++; blocks < 1000 {
					continue
				}
				switch leave {
				case "the context":
					cancel()
				case "an error":
					n.Stop()
				}
				if leave == "the consumer" {
					break
				}
			}
			cancel()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if stacks := lingering(); len(stacks) > 0 {
				t.Errorf("after %s: %d goroutines are running\n%s", leave, len(stacks), stacks[0])
			}
			// The goroutines of the test node end by themselves.
			for end := time.Now().Add(testrun.Patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("after %s: %d goroutines, %d before", leave, runtime.NumGoroutine(), before)
				}
			}
			if leave == "an error" {
				if err := n.Restart(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestNodeAddresses(t *testing.T) {
	for uri, says := range map[string]string{
		"tcp://":                                "no port",
		"tcp://relay":                           "no port",
		"tcp://:3001":                           "no host",
		"tcp://relay:":                          "port \"\"",
		"tcp://relay:http":                      "port \"http\"",
		"tcp://relay:0":                         "port \"0\"",
		"tcp://relay:65536":                     "port \"65536\"",
		"tcp://relay/x:1":                       "no host",
		"tcp://me:secret@relay:3001":            "has a user",
		"tcp://relay:3001?magic=2":              "has a query",
		"unix://":                               "has no socket path",
		"unix://node.socket":                    "is relative",
		"unix:///node.socket?x":                 "has a query",
		"unix:///" + strings.Repeat("x", 107):   "108 bytes",
		"quic://relay:3001":                     "tcp://host:3001",
		"tcp://[::1:3001":                       "no port",
		"tcp://fe80::1:3001":                    "no port",
		"tcp://" + strings.Repeat("long", 1000): "…",
	} {
		c, err := New("preview")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Open(t.Context(), model.SourceOptions{URI: uri})
		if kind, code := model.KindOf(err); err == nil || kind != model.Usage || code != "bad_source" || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v, expected %s", uri, err, says)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v contains a password", err)
		}
	}
}
