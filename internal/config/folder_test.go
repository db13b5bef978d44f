package config

import (
	"strings"
	"testing"
)

func TestDefaultDataFolder(t *testing.T) {
	for _, c := range []struct {
		xdg, home string
		root      bool
		want      string
	}{
		{"/data", "/home/u", false, "/data/birthmark"},
		{"/data", "/root", true, "/data/birthmark"},
		{"relative", "/home/u", false, "/home/u/.local/share/birthmark"},
		{"", "/home/u", false, "/home/u/.local/share/birthmark"},
		{"", "/root", true, "/var/lib/birthmark"},
		{"", "", false, ""},
	} {
		lookup := func(name string) (string, bool) {
			v := map[string]string{"XDG_DATA_HOME": c.xdg, "HOME": c.home}[name]
			return v, v != ""
		}
		if got := DataFolder(lookup, c.root); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestDefaultDatabaseIsNamedAfterItsChain(t *testing.T) {
	for _, c := range []struct{ chain, network, want string }{
		{"bitcoin", "", "/d/bitcoin"},
		{"bitcoin", "mainnet", "/d/bitcoin"},
		{"cardano", "preview", "/d/cardano-preview"},
		{"cardano", "/etc/genesis", ""},
		{"", "signet", ""},
	} {
		if got := (&Chain{DataFolder: "/d", Chain: c.chain, Network: c.network}).DefaultDB(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestUnknownVariablesAreErrors(t *testing.T) {
	for _, fine := range []string{
		"PATH=/bin", "BIRTHMARK_DB=x", "BIRTHMARK_TLS_CERT=x", "BIRTHMARK_CONFIG=x", "BIRTHMARK_RATE=1", "BIRTHMARK_PASSWORD=x",
		"BIRTHMARK_SERVICE_HOST=10.0.0.1", "BIRTHMARK_PORT_8080_TCP=tcp://10.0.0.1:8080", "BIRTHMARK_TEST_SLOW=1s",
	} {
		if err := CheckEnvironment([]string{fine}); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	err := CheckEnvironment([]string{"PATH=/bin", "BIRTHMARK_MEMORYY=1GiB"})
	if err == nil || !strings.Contains(err.Error(), `unknown environment variable BIRTHMARK_MEMORYY; did you mean "BIRTHMARK_MEMORY"?`) {
		t.Errorf("%v", err)
	}
}
