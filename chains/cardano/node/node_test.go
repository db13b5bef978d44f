package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// The node switches to another chain between the search for an intersection and the first request.
func TestForksRightAfterTheIntersection(t *testing.T) {
	trunk := cardanotest.Branch(t, nil, 2200, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		for i, depth := range []int{1, 10, 100, 2160, len(trunk)} {
			n.Switch(0, trunk...)
			s := sourceOf(t, uri, model.SourceOptions{})
			l := cardanotest.Listener{T: t}
			if err := cardanotest.Collect(t, s, &l, nil); err != nil {
				t.Fatal(err)
			}
			f := &follower{Source: s, Outage: s.outage(), trail: blocksource.NewTrail(l.Known(len(l.Chain)))}
			f.yield = func(e model.Event, err error) bool { l.Apply(e); return err == nil }
			c, done, err := f.connect(t.Context())
			if err != nil || done {
				t.Fatal(done, err)
			}
			keep := len(trunk) - depth
			fork := cardanotest.Branch(t, trunk[:keep], depth+1, byte(i+1))
			n.Switch(keep, fork...)
			done, err = f.stream(t.Context(), c)
			c.Close()
			if err != nil || !done || !l.Is(cardanotest.Replace(trunk, keep, fork...)) || len(l.Events) != 1 {
				t.Errorf("%d blocks deep: %v, %d blocks, %v", depth, err, len(l.Chain), l.Events)
			}
		}
	})
}

func TestRolledBackBlocksAreNotYielded(t *testing.T) {
	at := func(slot uint64) event {
		return event{kind: ouroboros.Forward, Decoded: ledger.Decoded{Block: &model.Block{Slot: slot}}}
	}
	back := func(slot uint64) event {
		return event{kind: ouroboros.Backward, rollback: ouroboros.Point{Slot: slot}}
	}
	for name, c := range map[string]struct{ events, want []event }{
		"none":                     {[]event{at(1), at(2)}, []event{at(1), at(2)}},
		"to the newest":            {[]event{at(1), at(2), back(2), at(3)}, []event{at(1), at(2), at(3)}},
		"to one of them":           {[]event{at(1), at(2), at(3), back(1), at(4)}, []event{at(1), at(4)}},
		"to one before them":       {[]event{at(5), at(6), back(4), at(7)}, []event{back(4), at(7)}},
		"further, after one":       {[]event{back(4), at(7), back(2), at(8)}, []event{back(2), at(8)}},
		"and the end before it":    {[]event{at(1), at(2), {}, back(1), at(3)}, []event{at(1), at(3)}},
		"to before them, and more": {[]event{at(5), back(4), at(7), back(7)}, []event{back(4), at(7)}},
	} {
		var n batch
		for _, h := range c.events {
			n.add(h)
		}
		same := func(a, b event) bool {
			return a.kind == b.kind && a.rollback == b.rollback && (a.Block == nil || a.Slot == b.Slot)
		}
		if !slices.EqualFunc(n.events, c.want, same) {
			t.Errorf("%s: %v", name, n.events)
		}
	}
}

func TestMalformedHeadersFromNodesAreReported(t *testing.T) {
	n, err := genesis.ByName("preview")
	if err != nil {
		t.Fatal(err)
	}
	d, err := ledger.NewDecoder(n, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := d.Block(cardanotest.Block(t, ledger.EraConway, cardanotest.List{}, cardanotest.List{}, cardanotest.Dict{}, cardanotest.List{}))
	if err != nil {
		t.Fatal(err)
	}
	tag, header := b.Header[0], b.Header[1:]
	if h, err := describe(n, tag, header); err != nil || h.Hash != b.Hash || h.Slot != b.Slot || h.Size < len(header) {
		t.Errorf("%+v, %v", h, err)
	}
	_, err = describe(n, ledger.EraDijkstra+1, header)
	cardanotest.WantError(t, err, "unknown_era", "tag 9")
	_, err = describe(n, tag, header[:len(header)-1])
	cardanotest.WantError(t, err, "bad_block", "conway header of block")
	_, err = (&Source{address: "relay:3001"}).point(ouroboros.Tip{Number: 1 << 40})
	cardanotest.WantError(t, err, "bad_answer", "the tip of relay:3001")
}

func TestNodeAddressesAreParsed(t *testing.T) {
	for uri, want := range map[string]string{
		"tcp://relay.example:3001":   "relay.example:3001",
		"tcp://relay.example:3001/":  "relay.example:3001",
		"tcp://[::1]:3001":           "[::1]:3001",
		"unix:///ipc/node.socket":    "/ipc/node.socket",
		"unix:///ipc/a%20b.socket":   "/ipc/a b.socket",
		"unix://localhost/ipc/a.soc": "/ipc/a.soc",
	} {
		scheme, rest, _ := strings.Cut(uri, "://")
		if got, err := parseAddress(scheme, rest); err != nil || got != want {
			t.Errorf("%s: %q, %v", uri, got, err)
		}
	}
}

// sourceOf returns a source of preview with short delays. Its blocks have no keys.
func sourceOf(t testing.TB, uri string, o model.SourceOptions) *Source {
	t.Helper()
	n, err := genesis.ByName("preview")
	if err != nil {
		t.Fatal(err)
	}
	d, err := ledger.NewDecoder(n, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	scheme, rest, _ := strings.Cut(uri, "://")
	s, err := Open(d, scheme, rest, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Retry = blocksource.Retry{First: time.Millisecond, Most: 20 * time.Millisecond, Patience: 10 * time.Minute}
	s.Poll = 5 * time.Millisecond
	t.Cleanup(func() { s.Close() })
	return s
}

// A mempool with transactions of an unknown era, or with invalid bytes, is an error that names the node.
func TestMempoolOfAnUnknownEra(t *testing.T) {
	l := &Local{Source: &Source{address: "node.socket"}}
	_, _, err := l.identify([]ouroboros.PoolTx{{Era: ledger.EraDijkstra, Raw: []byte{0x80}}})
	cardanotest.WantError(t, err, "unknown_era", "the mempool of node.socket", "an era after Dijkstra (number 8) is newer than this release")
	_, _, err = l.identify([]ouroboros.PoolTx{{Era: 0, Raw: []byte{0x80}}})
	cardanotest.WantError(t, err, "unknown_era", "transaction of Byron")
	_, _, err = l.identify([]ouroboros.PoolTx{{Era: 6, Raw: []byte{0x80}}})
	cardanotest.WantError(t, err, "bad_answer", "node.socket has an invalid transaction in its mempool")
}
