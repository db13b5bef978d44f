package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/config"
)

const settingsFile = `listen: 127.0.0.1:9000
memory: 1GiB
chain: bitcoin
network: signet
source: http://user:hunter2@127.0.0.1:8332
password_file: /etc/birthmark/password
db: /file
wal: on
indexes:
  script_hash: { balance: false }
`

func effective(t *testing.T, args ...string) config.View {
	t.Helper()
	r := birthmark(append([]string{"config", "--json"}, args...)...)
	if r.status != exitDone || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	// Sizes are written as text, which needs a decoder.
	var v struct {
		config.View
		Memory string `json:"memory"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	size, err := config.ParseSize(v.Memory)
	if err != nil {
		t.Fatal(err)
	}
	v.View.Memory = size
	return v.View
}

// The order of precedence is flag, environment, file, default.
func TestFlagOverridesEnvironmentOverridesFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "birthmark.yaml")
	write(t, file, settingsFile)
	t.Setenv("BIRTHMARK_CONFIG", file)

	v := effective(t)
	if c := v.Chains[0]; v.Listen != "127.0.0.1:9000" || v.Memory != config.GiB || c.DB != "/file" || c.Network != "signet" || !c.WAL {
		t.Errorf("from the file: %+v", v)
	}
	t.Setenv("BIRTHMARK_DB", "/env")
	t.Setenv("BIRTHMARK_MEMORY", "512MiB")
	t.Setenv("BIRTHMARK_WAL", "off")
	v = effective(t)
	if c := v.Chains[0]; v.Listen != "127.0.0.1:9000" || v.Memory != 512*config.MiB || c.DB != "/env" || c.Network != "signet" || c.WAL {
		t.Errorf("from the environment over the file: %+v", v)
	}
	v = effective(t, "--db", "/flag", "--wal=on", "--listen", ":1", "--network", "regtest", "--index", "address")
	c := v.Chains[0]
	if _, ok := c.Indexes["address"]; v.Listen != ":1" || v.Memory != 512*config.MiB || c.DB != "/flag" || c.Network != "regtest" || !c.WAL || !ok || len(c.Indexes) != 1 {
		t.Errorf("from flags over the environment over the file: %+v", v)
	}
}

func TestConfigFillsInDefaults(t *testing.T) {
	t.Parallel()
	v := effective(t, "--chain", "bitcoin")
	c := v.Chains[0]
	if _, ok := c.Indexes["address"]; v.Listen != config.DefaultListen || v.Memory != config.DefaultMemory() || c.Network != "mainnet" || !c.WAL || !ok {
		t.Errorf("%+v", v)
	}
}

func TestConfigIsASettingsFileWithoutSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "birthmark.yaml")
	write(t, file, settingsFile)
	t.Setenv("BIRTHMARK_PASSWORD", "hunter3")
	first := birthmark("config", "--config", file)
	golden(t, "config.yaml", first.stdout)
	write(t, file, first.stdout)
	if again := birthmark("config", "--config", file); again != first {
		t.Errorf("parsed again: %+v, before: %+v", again, first)
	}
	asJSON := birthmark("config", "--config", file, "--json")
	for _, r := range []result{first, asJSON} {
		if r.status != exitDone || strings.Contains(r.stdout+r.stderr, "hunter") {
			t.Errorf("%+v", r)
		}
	}
}

// A URI may contain a password, and errors quote URIs.
func TestErrorsDoNotContainPasswords(t *testing.T) {
	t.Parallel()
	r := birthmark("sync", "--chain", "bitcoin", "--db", filepath.Join(t.TempDir(), "db"), "--source", "gopher://user:hunter2@host/")
	if r.status != exitUsage || strings.Contains(r.stderr, "hunter2") {
		t.Errorf("%+v", r)
	}
}
