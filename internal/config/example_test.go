package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	keys := slices.DeleteFunc(Keys(), func(k string) bool { return k == passwordKey })
	if described := slices.Sorted(maps.Keys(descriptions)); !slices.Equal(described, slices.Sorted(slices.Values(keys))) {
		t.Errorf("descriptions of %v, but the settings are %v", described, keys)
	}
	for key, d := range descriptions {
		if d.text == "" || strings.HasSuffix(d.text, ".") || d.sample == "" || d.form == nil {
			t.Errorf("%s: %+v", key, d)
		}
	}
}

func exampleOf(t *testing.T, given map[string]string) string {
	t.Helper()
	text, err := Example(given)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An example has the given settings. It is still valid if every commented setting is enabled.
func TestExamplesAreSettings(t *testing.T) {
	t.Parallel()
	text := exampleOf(t, map[string]string{
		"chain": "cardano", "network": "preview", "source": "tcp://host:3001", "db": "/a b/c: #d", "wal": "off", "memory": "3GiB",
		"indexes": "address,policy", "cors_origins": "https://a.org,*", "tls.key": "/k", "tls.cert": "/c", "rate_limit": "7.5",
	})
	s, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	c := s.Chains[0]
	if len(s.Chains) != 1 || c.Chain != "cardano" || c.Network != "preview" || c.Source != "tcp://host:3001" || c.DB != "/a b/c: #d" || c.WAL ||
		!slices.Equal(c.IndexNames(), []string{"address", "policy"}) || s.Memory != 3*GiB || s.Server.RateLimit != 7.5 ||
		!slices.Equal(s.Server.CORSOrigins, []string{"https://a.org", "*"}) || s.Server.Cert != "/c" || s.Server.Key != "/k" {
		t.Errorf("%+v\n%+v\n%s", s, c, text)
	}
	if text := exampleOf(t, map[string]string{"chain": "bitcoin", "indexes": "wallet"}); !strings.Contains(text, "\nindexes: wallet\n") {
		t.Error(text)
	}
	bare := exampleOf(t, map[string]string{"chain": "bitcoin"})
	if s, err := Parse("x.yaml", []byte(bare)); err != nil || s.Listen != DefaultListen || s.Server.MaxConnections != defaultServer().MaxConnections {
		t.Errorf("%v %+v", err, s)
	}
	full := regexp.MustCompile(`(?m)^#( *[a-z])`).ReplaceAllStringFunc(bare, func(begin string) string {
		if strings.HasPrefix(begin, "# ") && !strings.HasPrefix(begin, "#  ") {
			return begin // a comment
		}
		return begin[1:]
	})
	s, err = Parse("x.yaml", []byte(full))
	if err != nil {
		t.Fatal(err, full)
	}
	for _, key := range Keys() {
		if key != passwordKey && s.origins[key] == "" && s.Chains[0].origins[key] == "" {
			t.Errorf("%s is not in the example", key)
		}
	}
	// Samples of settings with a fixed default are that default.
	d := Default()
	if s.Server.RequestTimeout != d.Server.RequestTimeout || s.Server.MaxConnections != d.Server.MaxConnections ||
		s.Server.MaxLagBlocks != d.Server.MaxLagBlocks || s.Server.Electrum != d.Server.Electrum || s.Log != d.Log || s.Listen != d.Listen {
		t.Errorf("%+v, the defaults are %+v", s, d)
	}
	if c, n := s.Chains[0], NewChain(); c.WAL != n.WAL || c.Raw != n.Raw || c.Compression != n.Compression || c.Mempool != n.Mempool {
		t.Errorf("%+v, the defaults are %+v", c, n)
	}
}
