package p2p

import (
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/model"
)

func TestAddressesOfPeers(t *testing.T) {
	o := Options{Params: &chaincfg.MainNetParams, Peers: []string{
		"seed.example", "seed.example:8333", "Node-1.example:18333", "192.0.2.1", "192.0.2.1:1", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:65535",
	}}
	got, err := o.addresses()
	want := []string{
		"seed.example:8333", "Node-1.example:18333", "192.0.2.1:8333", "192.0.2.1:1", "[2001:db8::1]:8333", "[2001:db8::1]:65535",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWrongAddressesAreRefused(t *testing.T) {
	for _, c := range []struct{ peer, says string }{
		{"", "invalid address"}, {":8333", "invalid address"}, {"host:", "invalid port"}, {"host:0", "invalid port"}, {"host:65536", "invalid port"}, {"host:http", "invalid port"},
		{"host:1:2", "invalid address"}, {"a host", "invalid address"}, {"host/path:1", "invalid address"}, {"[2001:db8::1", "invalid address"}, {"2001:db8::g", "invalid address"},
		{"user:secret@host:8333", "no users and passwords"},
	} {
		_, err := New(Options{Params: regtest, Peers: []string{"127.0.0.1", c.peer}})
		kind, code := model.KindOf(err)
		if kind != model.Usage || code != "bad_source" || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v %s: %v", c.peer, kind, code, err)
		}
	}
}

func TestANetworkWithoutSeedsNeedsPeers(t *testing.T) {
	if _, err := New(Options{Params: regtest}); err == nil || !strings.Contains(err.Error(), "no DNS seeds") {
		t.Errorf("%v", err)
	}
	if _, err := New(Options{Params: &chaincfg.MainNetParams}); err != nil {
		t.Errorf("%v", err)
	}
}
