package config_test

import (
	"strings"
	"testing"

	"birthmark/internal/config"
)

func TestServe(t *testing.T) {
	s, err := config.Parse("birthmark.yaml", []byte("chain: bitcoin\nserve: { esplora: /testnet/api }\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.One()
	if err != nil {
		t.Fatal(err)
	}
	if c.Serve.Esplora != "/testnet/api" || c.Origin("serve.esplora") != "birthmark.yaml:2" {
		t.Errorf("%+v, set at %q", c.Serve, c.Origin("serve.esplora"))
	}
	for value, want := range map[string]string{
		"api":       `serve.esplora: "api" is not a path such as /api`,
		"/api/":     `serve.esplora: "/api/" is not a path such as /api`,
		"/":         `serve.esplora: "/" is not a path such as /api`,
		"/{chain}":  `serve.esplora: "/{chain}" is not a path such as /api`,
		"/v1":       `serve.esplora: "/v1" is a path of the server itself: use another one, such as /api`,
		"/v1/x":     `serve.esplora: "/v1/x" is a path of the server itself: use another one, such as /api`,
		"/../x":     `serve.esplora: "/../x" is a path of the server itself: use another one, such as /api`,
		"/metrics":  `serve.esplora: "/metrics" is a path of the server itself: use another one, such as /api`,
		"[1, 2]":    "serve.esplora expects a single value",
		"{ a: /b }": "serve.esplora expects a single value",
	} {
		text := "chain: bitcoin\nserve:\n  esplora: " + value + "\n"
		if strings.HasPrefix(value, "/{") {
			text = strings.Replace(text, value, `"`+value+`"`, 1)
		}
		if _, err := config.Parse("x.yaml", []byte(text)); err == nil || err.Error() != "x.yaml:3: "+want {
			t.Errorf("%s: %v, expected %s", value, err, want)
		}
	}
	if _, err := config.Parse("x.yaml", []byte("chain: bitcoin\nserve: { esplorer: /api }\n")); err == nil ||
		!strings.Contains(err.Error(), `unknown setting of serve "esplorer"`) {
		t.Errorf("an unknown protocol: %v", err)
	}
}
