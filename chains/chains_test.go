package chains_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/model"
)

func TestEveryRegisteredNetworkOpensUnderItsOwnName(t *testing.T) {
	if !slices.Contains(chains.Names(), "bitcoin") {
		t.Fatalf("bitcoin is missing in %v", chains.Names())
	}
	for _, name := range chains.Names() {
		networks := chains.Networks(name)
		if len(networks) == 0 {
			t.Errorf("%s has no networks", name)
		}
		for _, network := range networks {
			c, err := chains.New(name, network)
			if err != nil {
				t.Fatalf("%s %s: %v", name, network, err)
			}
			if c.Name() != name || c.Network() != network {
				t.Errorf("asked for %s %s, got %s %s", name, network, c.Name(), c.Network())
			}
		}
		c, err := chains.New(name, "")
		if err != nil {
			t.Fatal(err)
		}
		if c.Network() != networks[0] {
			t.Errorf("%s: the default is %s, not %s", name, c.Network(), networks[0])
		}
	}
}

func TestUnknownChainsAndNetworksAreNamedWithWhatExists(t *testing.T) {
	for _, c := range []struct{ name, network, code, names string }{
		{"monero", "", "unknown_chain", "bitcoin"},
		{"kaspa", "", "unknown_chain", "41943040"},
		{"", "", "unknown_chain", "bitcoin"},
		{"bitcoin", "moon", "unknown_network", "mainnet, testnet3, testnet4, signet, regtest, simnet"},
	} {
		_, err := chains.New(c.name, c.network)
		if err == nil {
			t.Fatalf("%q %q: no error", c.name, c.network)
		}
		kind, code := model.KindOf(err)
		if kind != model.Usage || code != c.code || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%q %q: kind %v, code %s: %v", c.name, c.network, kind, code, err)
		}
	}
	if got := chains.Networks("monero"); len(got) != 0 {
		t.Errorf("networks of an unknown chain: %v", got)
	}
}

// The package of a coin of Bitcoin's kind declares the coin, and nothing else.
func TestCoinsAreDeclaredInFewLines(t *testing.T) {
	t.Parallel()
	coins := slices.DeleteFunc(chains.Names(), func(name string) bool {
		return slices.Contains([]string{"bitcoin", "cardano", "ergo"}, name)
	})
	for _, coin := range coins {
		files, err := filepath.Glob(filepath.Join(strings.ReplaceAll(coin, "-", ""), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", coin, err)
		}
		declaration, tests := 0, 0
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if lines := bytes.Count(text, []byte("\n")); strings.HasSuffix(name, "_test.go") {
				tests += lines
			} else {
				declaration += lines
			}
		}
		if declaration > 160 || tests > 140 {
			t.Errorf("%s has %d lines and %d lines of tests, expected at most 160 and 140", coin, declaration, tests)
		}
	}
}
