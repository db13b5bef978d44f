package attack

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/bench"
	"birthmark/core/meter"
	"birthmark/internal/cli"
	"birthmark/internal/testrun"
)

// asProgram is the environment variable with which this program is birthmark.
const asProgram = "BIRTHMARK_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Unsetenv(asProgram)
		os.Exit(cli.Main())
	}
	testrun.Main(m)
}

// small returns a served database of a few hundred transactions of each chain.
func small(t *testing.T) *Server {
	t.Helper()
	return smallWith(t, Options{})
}

// smallWith is small with options.
func smallWith(t *testing.T, o Options) *Server {
	t.Helper()
	testrun.Slow(t) // it syncs three chains, and serves them in another process
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Program, o.Env, o.Dir, o.Log = []string{self}, []string{asProgram + "=1"}, t.TempDir(), io.Discard
	o.Txs, o.Unconfirmed, o.Cardano, o.Ergo = 300, 60, 400, 200
	if err := Prepare(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	s, err := Start(context.Background(), o)
	for range 3 {
		if !errors.Is(err, errEnded) {
			break
		}
		s, err = Start(context.Background(), o) // another test took one of the free ports
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// excessive are attacks that a limit may refuse even if few data are read.
var excessive = []string{"graphql R1 introspection", "electrum R3 batch of get_history", "electrum batch", "electrum headers"}

// Each request of an attack has an answer if few data are read, and so has the request of the other client.
func TestRequestsOfAttacksAreAnswered(t *testing.T) {
	s := small(t)
	protocols := map[string]bool{}
	for _, a := range s.Attacks() {
		protocol, _, _ := strings.Cut(a.Name, " ")
		protocols[protocol] = true
		for what, q := range map[string]request{a.Name: a.request, "the other client of " + a.Name: a.probe} {
			c := &client{s: s}
			if err := c.ask(t.Context(), q); err != nil && !slices.Contains(excessive, what) {
				t.Errorf("%s: %v", what, err)
			}
			c.close()
		}
	}
	if len(protocols) != 11 {
		t.Errorf("attacks on %v", sortedKeys(protocols))
	}
}

// The result of an attack has every figure.
func TestResultOfAnAttack(t *testing.T) {
	s := small(t)
	for name, reads := range map[string]bool{"electrum R2 listunspent": false, "kupo R4 spent_after": true} {
		for _, a := range s.Attacks() {
			if a.Name != name {
				continue
			}
			a.Clients = 5
			r, err := s.Run(t.Context(), a, 50*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			answers := "not read"
			if reads {
				answers = "200"
			}
			measured := r.Before.Goroutines > 0 && r.After.Descriptors > 0 && r.RSS > 0 &&
				r.Health.Count > 0 && r.Quiet.Count > 0 && r.Other.Count > 0
			if !measured || r.Answers[answers] != 5 || reads != (r.Bytes > 0) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// An attack fails by each bound that it exceeds.
func TestBoundsOfAnAttack(t *testing.T) {
	const memory = 512 << 20
	for _, c := range []struct {
		r     Result
		above int
	}{
		{Result{RSS: 876 << 20, Health: latency(0, 100), Quiet: latency(1, 0), Other: latency(5, 0)}, 0},
		{Result{RSS: 876<<20 + 1, Health: latency(0, 100), Quiet: latency(1, 0), Other: latency(5, 0)}, 1},
		{Result{RSS: 1, Health: latency(0, 101), Quiet: latency(1, 0), Other: latency(5.1, 0)}, 2},
	} {
		if c.r.judge(memory); len(c.r.Above) != c.above {
			t.Errorf("%+v", c.r)
		}
	}
}

func latency(p50, p99 float64) bench.Latencies { return bench.Latencies{Count: 1, P50: p50, P99: p99} }

// A request costs at least a point per row, and a unit per [meter.Unit] points, in every protocol.
func TestRowsAreInThePrice(t *testing.T) {
	s := smallWith(t, Options{Costs: true})
	costs, err := s.Costs(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, c := range costs {
		protocol, _, _ := strings.Cut(c.Name, " ")
		read[protocol] = read[protocol] || c.Rows > 0
		if c.Requests == 0 || c.Points < c.Rows || c.Units < max(1, float64(c.Points)/meter.Unit) {
			t.Errorf("%+v", c)
		}
		if !strings.Contains(Markdown(costs), c.Name) {
			t.Errorf("the table lacks %s", c.Name)
		}
	}
	delete(read, "ogmios") // its node does not run
	for protocol, any := range read {
		if !any {
			t.Errorf("%s read no row", protocol)
		}
	}
	if len(read) != 10 {
		t.Errorf("costs of %v", sortedKeys(read))
	}
}

// Clients of every protocol that came, asked, subscribed and left leave nothing behind.
func TestClientsLeaveNothingBehind(t *testing.T) {
	s := small(t)
	visits, err := s.Visit(t.Context(), 300)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range visits {
		if v.Clients != 300 || !v.Withstood() {
			t.Errorf("%+v", v)
		}
	}
	if len(visits) != 13 {
		t.Errorf("%d protocols were visited", len(visits))
	}
}
