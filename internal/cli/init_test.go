package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// settingsSchema is the schema that birthmark config --schema prints.
func settingsSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	r := birthmark("config", "--schema")
	if r.status != exitDone || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(r.stdout))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("settings.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// fitsSchema returns the error of a settings file that does not fit the schema.
func fitsSchema(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(document)
}

// The schema and the program accept the same settings.
func TestTheSchemaOfSettings(t *testing.T) {
	t.Parallel()
	schema := settingsSchema(t)
	for _, c := range []struct {
		ok   bool
		text string
	}{
		{true, ""},
		{true, "chain: bitcoin\nsource: 'p2p://'\nwal: off\nraw: true\nmemory: 1.5G\nmempool: false"},
		{true, "listen: ':80'\nmemory: 4294967296\nlog: json\nhosts: a.org\ncors_origins: ['*']\nchains: [{chain: ergo, db: x}]"},
		{true, "chain: bitcoin\nindexes: wallet"},
		{true, "chain: bitcoin\nindexes: explorer"},
		{false, "chain: bitcoin\nindexes: explorers"},
		{true, "chain: bitcoin\nindexes: {address: {balance: true, prefix: yes}, script_hash: , memo: {value: output.data, kind: one-to-many}}"},
		{true, "electrum: {idle_timeout: 0, max_request: 512KiB}\nrequest_timeout: 1m30s\nrate_limit: 0.5"},
		{true, "chain: bitcoin\nserve: {electrum: ':50001', esplora: /api}"},
		{false, "chian: bitcoin"},
		{false, "chain: monero"},
		{false, "chain: bitcoin\npassword: secret"},
		{false, "chain: bitcoin\nwal: maybe"},
		{false, "chain: bitcoin\ncompression: best"},
		{false, "chain: bitcoin\nindexes: [address]"},
		{false, "chain: bitcoin\nindexes: {address: {balanced: true}}"},
		{false, "chain: bitcoin\nindexes: {memo: {when: 'true'}}"},
		{false, "chain: bitcoin\nserve: {esplora: api}"},
		{false, "chain: bitcoin\nserve: {esplorer: /api}"},
		{false, "memory: lots"},
		{false, "max_connections: 3"},
		{false, "rate_limit: fast"},
		{false, "request_timeout: 10"},
		{false, "log_level: loud"},
		{false, "chains: {chain: bitcoin}"},
		{false, "chains: [{db: x}]"},
		{false, "db: x\nchains: [{chain: bitcoin}]"},
	} {
		r := birthmark("config", "--config", writeConfig(t, c.text))
		if (r.status == exitDone) != c.ok {
			t.Errorf("%s\nthe program: %+v", c.text, r)
		}
		if err := fitsSchema(t, schema, c.text); (err == nil) != c.ok {
			t.Errorf("%s\nthe schema: %v", c.text, err)
		}
	}
}

func TestInitWritesSettingsThatServeAccepts(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	schema := settingsSchema(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	source := "file://" + realBlocks(t)
	r := birthmark("init", file, "--chain", "bitcoin", "--source", source, "--db", filepath.Join(dir, "db"), "--index", "address,script_hash")
	if r.status != exitDone || !strings.Contains(r.stdout, "birthmark serve --config "+file) {
		t.Fatalf("%+v", r)
	}
	if err := fitsSchema(t, schema, readText(t, file)); err != nil {
		t.Error(err)
	}
	s := startServer(t, "--config", file)
	until(t, "the first blocks to be served", func() bool { return s.get(t, "v1/bitcoin/block/100").status == 200 })
	s.stop(t)

	before := readText(t, file)
	wantFailure(t, exitRefused, "file_exists", `birthmark.yaml exists: pass another name`, "init", file, "--chain", "ergo")
	if readText(t, file) != before {
		t.Error("the file was replaced")
	}
}

// Without flags, and for every public network, init writes a file with a source.
func TestInitOfEveryNetwork(t *testing.T) {
	t.Parallel()
	schema := settingsSchema(t)
	for args, want := range map[string]string{
		"":                                   "\nchain: bitcoin\n\n# Network",
		"--chain bitcoin --network signet":   "\nsource: p2p://\n",
		"--chain bitcoin --network regtest":  "\n#source: p2p://\n",
		"--chain cardano":                    "\nsource: tcp://backbone.cardano.iog.io:3001\n",
		"--chain cardano --network preview":  "\nnetwork: preview\n",
		"--chain ergo --listen 0.0.0.0:9000": "\nlisten: 0.0.0.0:9000\n",
		"--chain ergo --network testnet":     "\ndb: /nonexistent/birthmark/ergo-testnet\n",
	} {
		r := birthmark(append([]string{"init", "-"}, strings.Fields(args)...)...)
		if r.status != exitDone || r.stderr != "" || !strings.Contains(r.stdout, want) {
			t.Errorf("init %s: %+v", args, r)
			continue
		}
		if err := fitsSchema(t, schema, r.stdout); err != nil {
			t.Errorf("init %s: %v", args, err)
		}
		ask(t, nil, "config", "--config", writeConfig(t, r.stdout))
	}
	wantFailure(t, exitUsage, "unknown_chain", `^--chain: unknown chain`, "init", "-", "--chain", "doge")
	wantFailure(t, exitUsage, "unknown_network", `^--network: `, "init", "-", "--network", "moon")
	wantFailure(t, exitUsage, "bad_setting", `^--memory: `, "init", "-", "--memory", "lots")
	wantFailure(t, exitUsage, "bad_value", `reads no settings file`, "init", "-", "--config", "x.yaml")
	if _, err := os.Stat("birthmark.yaml"); err == nil {
		t.Error("a file was written")
	}
}
