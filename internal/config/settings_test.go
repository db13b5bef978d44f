package config

import (
	"bytes"
	"log/slog"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/model"
	"birthmark/storage"

	"go.yaml.in/yaml/v3"
)

// contract is the example of a settings file, without the options that are not available yet.
const contract = `listen: 127.0.0.1:8080
memory: 4GiB
chains:
  - chain: bitcoin
    network: mainnet
    source: http://127.0.0.1:8332
    password_file: /etc/birthmark/rpc-password
    db: /var/lib/birthmark/bitcoin
    wal: true
    indexes:
      address: { balance: false, unspent: false }
      script_hash: {}
  - chain: ergo
    db: /var/lib/birthmark/ergo
    wal: off
    compression: max
    raw: true
`

func parse(t *testing.T, text string) *Settings {
	t.Helper()
	s, err := Parse("birthmark.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFileSetsEveryKey(t *testing.T) {
	s := parse(t, contract)
	if s.Listen != "127.0.0.1:8080" || s.Memory != 4*GiB || len(s.Chains) != 2 {
		t.Fatalf("got %+v", s)
	}
	c := s.Chains[0]
	if c.Chain != "bitcoin" || c.Network != "mainnet" || c.Source != "http://127.0.0.1:8332" ||
		c.PasswordFile != "/etc/birthmark/rpc-password" || c.DB != "/var/lib/birthmark/bitcoin" || !c.WAL ||
		!slices.Equal(c.IndexNames(), []string{"address", "script_hash"}) {
		t.Errorf("got %+v", c)
	}
	if e := s.Chains[1]; e.WAL || e.Compression != storage.CompressionMax || e.Raw != RawKeep || c.Raw != RawOff || e.IndexNames() != nil {
		t.Errorf("got %+v", e)
	}
	if got := c.Origin("db"); got != "birthmark.yaml:8" {
		t.Errorf("db was set at %q", got)
	}
	if got := c.Indexes[1].Origin; got != "birthmark.yaml:12" {
		t.Errorf("index script_hash was set at %q", got)
	}
}

// An index with a value is a definition. A list of names from a flag or a variable does not change the definitions of
// the file.
func TestDefinitionsAreReadWithTheirPlaces(t *testing.T) {
	s := parse(t, "chain: bitcoin\nindexes:\n  address: {}\n  tick:\n    value: |\n      let j = json(output.data);\n      j.tick\n    when: output.index == 0\n    kind: many-valued\n    history: on\n  memo: { value: output.data }\n")
	want := []model.Definition{
		{Name: "tick", Kind: model.ManyValued, When: "output.index == 0", Value: "let j = json(output.data);\nj.tick\n"},
		{Name: "memo", Value: "output.data"},
	}
	c := &s.Chains[0]
	if got := c.Definitions(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	if !c.Indexes[1].Options.History || c.Indexes[0].Definition != nil {
		t.Errorf("got %+v", c.Indexes)
	}
	for key, place := range map[string]string{"value": "birthmark.yaml:5", "when": "birthmark.yaml:8", "kind": "birthmark.yaml:9", "": "birthmark.yaml:4", "prefix": "birthmark.yaml:4"} {
		if got := c.DefinitionOrigin("tick", key); got != place {
			t.Errorf("%q was set at %q, expected %s", key, got, place)
		}
	}
	if got := c.DefinitionOrigin("nobody", "value"); got != "" {
		t.Errorf("a missing index was set at %q", got)
	}
	c, err := with(t, s, Override{Key: "indexes", Value: "memo,address", Origin: "--index"}).One()
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Definitions(); !slices.Equal(got, want[1:]) || c.DefinitionOrigin("memo", "") != "--index" || c.DefinitionOrigin("memo", "value") != "birthmark.yaml:11" {
		t.Errorf("named elsewhere: %+v", c.Indexes)
	}
}

func TestKeysOfOneChainAreTopLevel(t *testing.T) {
	s := parse(t, "chain: bitcoin\nmemory: 100MB\ndb: /d\nindexes:\n  address:\n")
	if s.Memory != 100e6 || len(s.Chains) != 1 || s.Chains[0].DB != "/d" || !s.Chains[0].WAL ||
		!slices.Equal(s.Chains[0].IndexNames(), []string{"address"}) {
		t.Errorf("got %+v", s)
	}
}

func TestEmptyFileGivesDefaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "{}", "null"} {
		if s := parse(t, text); s.Listen != DefaultListen || s.Memory != DefaultMemory() || len(s.Chains) != 0 {
			t.Errorf("%q gave %+v", text, s)
		}
	}
}

func TestAliasesAreFollowed(t *testing.T) {
	s := parse(t, "chains:\n- chain: bitcoin\n  indexes: &ix {address: }\n- chain: ergo\n  indexes: *ix\n")
	if !slices.Equal(s.Chains[1].IndexNames(), []string{"address"}) {
		t.Errorf("got %+v", s.Chains[1])
	}
}

// Every invalid setting is an error with the line and the expected value.
func TestWrongSettingNamesItsLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"listen: a\nmemori: 1GiB\n", `birthmark.yaml:2: unknown setting "memori"; did you mean "memory"?`},
		{"chains:\n- chain: bitcoin\n  sauce: x\n", `birthmark.yaml:3: unknown setting of a chain "sauce"; did you mean "source"?`},
		{"chains:\n- chain: bitcoin\n  memory: 1GiB\n", `birthmark.yaml:3: unknown setting of a chain "memory"`},
		{"zzz: 1\n", `birthmark.yaml:1: unknown setting "zzz"`},
		{"1: 1\n", `birthmark.yaml:1: unknown setting "1"`},
		{"memory: 1GiB\n\nmemory: 2GiB\n", `birthmark.yaml:3: setting "memory" appears twice, first in line 1`},
		{"memory: lots\n", `birthmark.yaml:1: memory: "lots" is not a size such as 4GiB, 512MB or a number of bytes`},
		{"memory: 10MiB\n", `birthmark.yaml:1: memory: 10MiB is too little: expected at least 64MiB`},
		{"memory: [1]\n", "birthmark.yaml:1: memory expects a single value"},
		{"memory:\n", "birthmark.yaml:1: memory has no value"},
		{"chain: bitcoin\ndb: ''\n", "birthmark.yaml:2: db: is empty"},
		{"chain: bitcoin\nwal: maybe\n", `birthmark.yaml:2: wal: "maybe" is not on or off`},
		{"chain: bitcoin\nraw: 2\n", `birthmark.yaml:2: raw: "2" is not keep, files, node or off`},
		{"chain: bitcoin\ncompression: most\n", `birthmark.yaml:2: compression: invalid compression "most": expected default or max`},
		{"chain: bitcoin\npassword: secret\n", "birthmark.yaml:2: a settings file cannot contain a password: use password_file or BIRTHMARK_PASSWORD"},
		{"chain: bitcoin\nchains: []\n", "birthmark.yaml:1: chain is a setting of a chain: move it into the entries of chains (or, for a single chain, remove chains and write its settings at the top level)"},
		{"chains:\n  chain: bitcoin\n", `birthmark.yaml:2: chains must be a list with an entry "- chain: NAME" per chain`},
		{"chains:\n- db: /d\n", "birthmark.yaml:2: an entry of chains lacks the key chain"},
		{"chains:\n- bitcoin\n", "birthmark.yaml:2: expected a mapping from setting of a chain to value"},
		{"- chain: bitcoin\n", "birthmark.yaml:1: expected a mapping from setting to value"},
		{"chain: bitcoin\nindexes: [address]\n", `birthmark.yaml:2: indexes must map index names to options, such as "address: {}", or be a preset: blockfrost or ergo_explorer or ergo_node or explorer or kupo or onesat or wallet`},
		{"chain: bitcoin\nindexes:\n  address: { balanse: true }\n", `birthmark.yaml:3: unknown option of index address "balanse"; did you mean "balance"?`},
		{"chain: bitcoin\nindexes:\n  address: { balance: 3 }\n", `birthmark.yaml:3: balance of index address: "3" is not on or off`},
		{"chain: bitcoin\nindexes:\n  mine:\n    when: x\n", "birthmark.yaml:4: index mine: missing value: when is only for a custom index, which needs an expression of its values"},
		{"chain: bitcoin\nindexes:\n  mine:\n    kind: many-valued\n", "birthmark.yaml:4: index mine: missing value: kind is only for a custom index, which needs an expression of its values"},
		{"chain: bitcoin\nindexes:\n  mine: { value: x, kind: many }\n", `birthmark.yaml:3: kind of index mine: unknown kind "many": expected one-to-many, one-to-one, many-valued`},
		{"chain: bitcoin\nindexes:\n  mine: { value: '' }\n", "birthmark.yaml:3: value of index mine: is empty"},
		{"chain: bitcoin\nindexes:\n  mine: { valeu: x }\n", `birthmark.yaml:3: unknown option of index mine "valeu"; did you mean "value"?`},
		{"chain: bitcoin\nindexes:\n  address: {}\n  address: {}\n", `birthmark.yaml:4: index "address" appears twice, first in line 3`},
		{"chain: bitcoin\n bad indent: x\n", "birthmark.yaml:2: not YAML: mapping values are not allowed in this context"},
		{"a: \x00\n", "birthmark.yaml: not YAML: control characters are not allowed"},
		{"chain: bitcoin\n---\nchain: ergo\n", "birthmark.yaml:2: a settings file has only one YAML document, this is the second"},
		{"tls: on\n", "birthmark.yaml:1: expected a mapping from setting of tls to value"},
		{"tls:\n  cert: a\n  cret: b\n", `birthmark.yaml:3: unknown setting of tls "cret"; did you mean "cert"?`},
		{"tls.cert: a\n", `birthmark.yaml:1: unknown setting "tls.cert"`},
		{"rate_limit: fast\n", `birthmark.yaml:1: rate_limit: "fast" is not a number of requests per second such as 50; 0: no limit`},
		{"rate_limit: NaN\n", `birthmark.yaml:1: rate_limit: "NaN" is not a number of requests per second such as 50; 0: no limit`},
		{"rate_burst: 0.5\n", `birthmark.yaml:1: rate_burst: "0.5" is not a number from 0 to 1073741824`},
		{"request_timeout: 0\n", `birthmark.yaml:1: request_timeout: "0" is not a duration of at least 100ms, such as 10s`},
		{"max_connections: 1\n", `birthmark.yaml:1: max_connections: "1" is not a number from 16 to 1048576`},
		{"cors_origins: [https://a.org, b.org]\n", `birthmark.yaml:1: cors_origins: "b.org" is not an origin such as https://example.org, https://*.example.org or *`},
		{"cors:\n- [a]\n", "birthmark.yaml:2: cors_origins expects a single value"},
		{"trusted_proxies: 10.0.0.0/33\n", `birthmark.yaml:1: trusted_proxies: "10.0.0.0/33" is not an IP address such as 127.0.0.1 or a range such as 10.0.0.0/8`},
		{"hosts: http://a.org\n", `birthmark.yaml:1: hosts: "http://a.org" is not a host name such as explorer.example.org`},
		{"log: xml\n", `birthmark.yaml:1: log: "xml" is not text or json`},
		{"log_level: loud\n", `birthmark.yaml:1: log_level: "loud" is not one of debug, info, warn, error`},
		{"chain: *nobody\n", "birthmark.yaml: not YAML: unknown anchor 'nobody' referenced"},
	} {
		_, err := Parse("birthmark.yaml", []byte(c.text))
		if err == nil {
			t.Errorf("%q was accepted, want %s", c.text, c.want)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, err, c.want)
		}
		if kind, _ := model.KindOf(err); kind != model.Usage {
			t.Errorf("%q: error of kind %v, want Usage", c.text, kind)
		}
	}
}

func environment(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

// Every key can be set by its variable.
func TestEnvironmentSetsEveryKey(t *testing.T) {
	values := map[string]string{
		"tls.cert": "/cert", "tls.key": "/key", "api_keys_file": "/keys", "allow_anonymous": "yes", "rate_limit": "2.5", "rate_burst": "7", "submit_limit": "3", "request_timeout": "3s",
		"max_connections": "99", "cors_origins": "https://a.org, https://*.b.org:8443", "trusted_proxies": "127.0.0.1,10.1.2.3/8", "hosts": "A.org, b", "base_path": "/a/b/", "title": "My chains", "logo": "/logo.svg", "notice": "Hello.", "labels_file": "/labels.txt", "asset_pictures": "https://ipfs.example.org/ipfs", "immutable_depth": "12", "max_lag_blocks": "5",
		"pprof": "127.0.0.1:6060", "log": "json", "log_level": "debug",
		"listen": "[::1]:80", "memory": "1GiB", "chain": "bitcoin", "network": "regtest", "source": "file:///b",
		"node":          "http://127.0.0.1:8332",
		"mempool":       "64MiB",
		"password_file": "/p", "password": "secret", "db": "/d", "wal": "off", "compression": "max", "raw": "on", "indexes": "address, script_hash",
	}
	pairs := map[string]string{}
	for key, v := range values {
		pairs["BIRTHMARK_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))] = v
	}
	found := FromEnvironment(environment(pairs))
	if len(found) != len(values) {
		t.Errorf("%d of %d variables were read", len(found), len(values))
	}
	s := with(t, Default(), found...)
	c, err := s.One()
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != "[::1]:80" || s.Memory != GiB || c.Chain != "bitcoin" || c.Network != "regtest" || c.Source != "file:///b" ||
		c.Node != "http://127.0.0.1:8332" || c.Mempool != 64*MiB ||
		c.PasswordFile != "/p" || c.Password != "secret" || c.DB != "/d" || c.WAL || c.Compression != storage.CompressionMax || c.Raw != RawKeep || !slices.Equal(c.IndexNames(), []string{"address", "script_hash"}) {
		t.Errorf("got %+v and %+v", s, c)
	}
	want := Server{
		Cert: "/cert", Key: "/key", KeysFile: "/keys", Anonymous: true, RateLimit: 2.5, RateBurst: 7, SubmitLimit: 3, RequestTimeout: 3 * time.Second, MaxConnections: 99,
		CORSOrigins:    []string{"https://a.org", "https://*.b.org:8443"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8")},
		Site:           Site{"/a/b", "My chains", "/logo.svg", "Hello.", "/labels.txt", "https://ipfs.example.org/ipfs/"}, ImmutableDepth: 12,
		Hosts: []string{"a.org", "b"}, MaxLagBlocks: 5, Profiles: "127.0.0.1:6060", Electrum: defaultElectrum(),
	}
	if !reflect.DeepEqual(s.Server, want) || s.Log != (Log{"json", slog.LevelDebug}) {
		t.Errorf("got %+v and %+v", s.Server, s.Log)
	}
	if got := c.Origin("wal"); got != "BIRTHMARK_WAL" {
		t.Errorf("wal was set at %q", got)
	}
}

// with returns settings with overrides.
func with(t *testing.T, s *Settings, overrides ...Override) *Settings {
	t.Helper()
	changed := *s
	changed.overrides = map[string]Override{}
	for _, o := range overrides {
		if err := changed.Override(o); err != nil {
			t.Fatal(err)
		}
	}
	return &changed
}

func TestLaterOverrideWins(t *testing.T) {
	s := parse(t, "chain: bitcoin\ndb: /file\nsource: file:///file\nnetwork: signet\n")
	c, err := with(t, s, Override{"db", "/env", "BIRTHMARK_DB"}, Override{"source", "file:///env", "BIRTHMARK_SOURCE"}, Override{"db", "/flag", "--db"}).One()
	if err != nil {
		t.Fatal(err)
	}
	if c.DB != "/flag" || c.Source != "file:///env" || c.Network != "signet" {
		t.Errorf("got %+v", c)
	}
	if s.Chains[0].DB != "/file" {
		t.Error("overrides changed the original settings")
	}
}

func TestWrongOverrideNamesItsOrigin(t *testing.T) {
	for _, c := range []struct {
		o    Override
		want string
	}{
		{Override{"memory", "9", "BIRTHMARK_MEMORY"}, "BIRTHMARK_MEMORY: 9B is too little: expected at least 64MiB"},
		{Override{"wal", "", "--wal"}, `--wal: "" is not on or off`},
		{Override{"db", "", "--db"}, "--db: is empty"},
		{Override{"indexes", "a,,b", "--index"}, `--index: "a,,b" is not a list of index names such as address,script_hash`},
		{Override{"indexes", "a,a", "--index"}, `--index: index "a" appears twice in "a,a"`},
	} {
		s := Default()
		err := s.Override(c.o)
		if err == nil {
			_, err = s.One()
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestOneChainIsPickedOfSeveral(t *testing.T) {
	s := parse(t, `chains:
- {chain: bitcoin, db: /main, source: "file:///main"}
- {chain: bitcoin, network: signet, db: /signet}
- {chain: ergo, db: /ergo}
`)
	set := func(pairs ...string) (os []Override) {
		for i := 0; i < len(pairs); i += 2 {
			os = append(os, Override{pairs[i], pairs[i+1], "--" + pairs[i]})
		}
		return os
	}
	for _, c := range []struct {
		set    []Override
		db     string
		source string
	}{
		{set("chain", "ergo"), "/ergo", ""},
		{set("chain", "bitcoin", "network", "signet"), "/signet", ""},
		{set("db", "/main"), "/main", "file:///main"},
		{set("network", "signet"), "/signet", ""},
		{set("db", "/elsewhere"), "/elsewhere", ""},
		{set("chain", "cardano", "db", "/cardano"), "/cardano", ""},
		{set("chain", "ergo", "db", "/elsewhere"), "/elsewhere", ""},
	} {
		one, err := with(t, s, c.set...).One()
		if err != nil {
			t.Errorf("%v: %v", c.set, err)
			continue
		}
		if one.DB != c.db || one.Source != c.source {
			t.Errorf("%v picked %+v, want db %s", c.set, one, c.db)
		}
	}
	for _, set := range [][]Override{nil, set("chain", "bitcoin"), set("wal", "on")} {
		if _, err := with(t, s, set...).One(); err == nil || !strings.Contains(err.Error(), "select one with --chain") {
			t.Errorf("%v: got %v, want an error that explains how to select one", set, err)
		}
	}
}

// Settings of another chain are not used: its source and its folder have other blocks.
func TestAnotherChainTakesNothingFromAnEntry(t *testing.T) {
	s := parse(t, "chain: bitcoin\nsource: file:///bitcoin\ndb: /bitcoin\n")
	c, err := with(t, s, Override{"chain", "ergo", "--chain"}).One()
	if err != nil || c.Source != "" || c.DB != "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestViewParsesToSameSettings(t *testing.T) {
	s := parse(t, "tls: {cert: c, key: k}\ncors_origins: ['*']\ntrusted_proxies: [10.0.0.0/8, '::1']\nrate_limit: 2.5\npprof: localhost:1\napi_keys_file: f\nallow_anonymous: on\n"+contract)
	v := s.View()
	for _, c := range s.Chains {
		v.Chains = append(v.Chains, c.View("mainnet", []string{"address"}))
	}
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	again := parse(t, string(text))
	w := again.View()
	for _, c := range again.Chains {
		w.Chains = append(w.Chains, c.View("", nil))
	}
	text2, err := yaml.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, text2) {
		t.Errorf("formatted and parsed again:\n%s\nbefore:\n%s", text2, text)
	}
}

func TestNoSecretIsShown(t *testing.T) {
	for uri, want := range map[string]string{
		"http://user:secret@host:8332":      "http://user:********@host:8332",
		"http://user:sec@ret/x@host:8332/p": "http://user:********@host:8332/p",
		"http://host:8332":                  "http://host:8332",
		"http://user@host:8332":             "http://user@host:8332",
		"p2p://a:8333,b:8333":               "p2p://a:8333,b:8333",
		"file:///a:b@c":                     "file:///a:b@c",
		"nonsense":                          "nonsense",
	} {
		if got := MaskURI(uri); got != want {
			t.Errorf("%s is shown as %s, want %s", uri, got, want)
		}
	}
	c := NewChain()
	c.Source, c.Password = "http://user:hunter2@host", "hunter3"
	c.Node = c.Source
	if v := c.View("mainnet", nil); strings.Contains(v.Source+v.Node+v.Password, "hunter") {
		t.Errorf("the view shows %+v", v)
	}
}

// Contradicting settings are an error at the position of one of them.
func TestSettingsGoTogether(t *testing.T) {
	for text, want := range map[string]string{
		"tls:\n  cert: c\n":       "birthmark.yaml:2: tls.cert without tls.key: TLS needs both files",
		"tls: {key: k}\n":         "birthmark.yaml:1: tls.key without tls.cert: TLS needs both files",
		"\nallow_anonymous: on\n": "birthmark.yaml:2: allow_anonymous without api_keys_file",
	} {
		if err := parse(t, text).Check(); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if err := parse(t, "tls: {key: k, cert: c}\napi_keys_file: f\nallow_anonymous: on\n").Check(); err != nil {
		t.Error(err)
	}
}

func TestAllChainsOrTheOneThatIsMeant(t *testing.T) {
	s := parse(t, "memory: 1GiB\nchains:\n- {chain: bitcoin, db: /b}\n- {chain: ergo, db: /e}\n")
	for _, c := range []struct {
		set []Override
		dbs []string
	}{
		{nil, []string{"/b", "/e"}},
		{[]Override{{"chain", "ergo", "--chain"}}, []string{"/e"}},
		{[]Override{{"db", "/elsewhere", "--db"}}, []string{"/elsewhere"}},
	} {
		all, err := with(t, s, c.set...).All()
		var dbs []string
		for _, one := range all {
			dbs = append(dbs, one.DB)
			if one.Memory != GiB {
				t.Errorf("%s has %v of memory", one.DB, one.Memory)
			}
		}
		if err != nil || !slices.Equal(dbs, c.dbs) {
			t.Errorf("%v: %v, %v, expected %v", c.set, dbs, err, c.dbs)
		}
	}
	if all, err := Default().All(); err != nil || len(all) != 0 {
		t.Errorf("without chains: %v, %v", all, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{contract, "", "a: *a", "chains: [", "&a [*a]", "chains: &a\n- *a", "? {a: b}\n: c", "memory: 1e99GiB",
		"<<: {a: b}", "indexes: {? [a]: }", "\xff\xfe", "wal: !!bool on", "- - - -"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("f", text)
		if err != nil {
			if kind, _ := model.KindOf(err); kind != model.Usage || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		if s.Memory < LeastMemory {
			t.Errorf("%v of memory was accepted", s.Memory)
		}

		for _, c := range s.Chains {
			names := slices.Collect(maps.Keys(c.origins))
			for _, n := range names {
				if !strings.HasPrefix(c.Origin(n), "f:") {
					t.Errorf("%s has the origin %q", n, c.Origin(n))
				}
			}
		}
	})
}

// A server that other machines can reach limits the rate of each client by default.
func TestTheRateIsLimitedBeyondThisMachine(t *testing.T) {
	for text, want := range map[string]map[string]float64{
		"listen: 127.0.0.1:1\n": {
			"127.0.0.1:8080": 0, "[::1]:8080": 0, "localhost:8080": 0, "unix:/run/x.sock": 0, "127.9.9.9:1": 0,
			"0.0.0.0:8080": DefaultRate, ":8080": DefaultRate, "[::]:443": DefaultRate,
			"192.0.2.1:80": DefaultRate, "example.org:80": DefaultRate,
		},
		"rate_limit: 0\n": {"127.0.0.1:8080": 0, "0.0.0.0:8080": 0},
		"rate_limit: 7\n": {"127.0.0.1:8080": 7, "0.0.0.0:8080": 7},
	} {
		s, err := Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for address, rate := range want {
			if got := s.RateAt(address); got != rate {
				t.Errorf("%q at %s: %g requests a second, expected %g", text, address, got, rate)
			}
		}
	}
	s := Default()
	if err := s.Override(Override{Key: "rate_limit", Value: "0", Origin: "--rate-limit"}); err != nil || s.RateAt(":80") != 0 {
		t.Errorf("switched off by a flag: %g, %v", s.RateAt(":80"), err)
	}
	if s = Default(); s.RateAt(s.Listen) != 0 {
		t.Error("the default address has a limit")
	}
	if s.Listen = "0.0.0.0:80"; s.View().RateLimit != DefaultRate {
		t.Errorf("the view has the rate %g", s.View().RateLimit)
	}
}

// Submitted transactions are limited under the same conditions.
func TestSubmissionsAreLimitedBeyondThisMachine(t *testing.T) {
	for text, want := range map[string][2]float64{"": {0, DefaultSubmitLimit}, "submit_limit: 0\n": {0, 0}, "submit_limit: 2.5\n": {2.5, 2.5}} {
		s := parse(t, text)
		if here, there := s.SubmitLimitAt("127.0.0.1:8080"), s.SubmitLimitAt("0.0.0.0:8080"); here != want[0] || there != want[1] {
			t.Errorf("%q: %g and %g a minute, expected %v", text, here, there, want)
		}
	}
	for _, text := range []string{"submit_limit: -1\n", "submit_limit: many\n", "submit_limit: NaN\n"} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// Former names of settings, variables and values are accepted, with a warning that names the place.
func TestFormerNamesAreAccepted(t *testing.T) {
	text := "proxies: [10.0.0.0/8]\nready_within: 7\ncors: '*'\nrate: 3\nburst: 4\nconnections: 99\ntimeout: 3s\napi_keys_file: /keys\napi_keys_optional: on\n" +
		"chains:\n- chain: bitcoin\n  compression: small\n"
	s := parse(t, text)
	if s.Server.MaxLagBlocks != 7 || s.Server.RateLimit != 3 || s.Server.RateBurst != 4 || s.Server.MaxConnections != 99 || len(s.Server.TrustedProxies) != 1 ||
		len(s.Server.CORSOrigins) != 1 || s.Server.RequestTimeout != 3*time.Second || !s.Server.Anonymous || s.Chains[0].Compression != storage.CompressionMax {
		t.Errorf("%+v", s)
	}
	if len(s.Warnings) != 9 || s.Warnings[0] != "birthmark.yaml:1: setting proxies is now called trusted_proxies; the old name will be removed" ||
		s.Warnings[8] != "birthmark.yaml:12: compression small is now called max; the old name will be removed" {
		t.Errorf("%q", s.Warnings)
	}
	s = with(t, Default(), FromEnvironment(environment(map[string]string{"BIRTHMARK_READY_WITHIN": "9"}))...)
	if s.Server.MaxLagBlocks != 9 || len(s.Warnings) != 1 ||
		s.Warnings[0] != "BIRTHMARK_READY_WITHIN: setting ready_within is now called max_lag_blocks; the old name will be removed" {
		t.Errorf("%+v, %q", s.Server, s.Warnings)
	}
	s = with(t, Default(), Override{"compression", "usual", "--compression"})
	if c, err := s.One(); err != nil || c.Compression != storage.CompressionDefault || len(s.Warnings) != 1 {
		t.Errorf("%+v, %v, %q", c, err, s.Warnings)
	}
	if _, err := Parse("birthmark.yaml", []byte("rate: 3\nrate_limit: 4\n")); err == nil {
		t.Error("a setting under both names is accepted")
	}
}
