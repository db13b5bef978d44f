package config

import (
	"fmt"
	"regexp"
)

// Serve are the protocols of other programs that a chain is served with, in addition to /v1. The zero value serves none.
type Serve struct {
	// Addresses of the Electrum protocol over TCP, TLS, WebSocket and WebSocket with TLS: host:port.
	Electrum    string `yaml:"electrum,omitempty" json:"electrum,omitempty"`
	ElectrumTLS string `yaml:"electrum_tls,omitempty" json:"electrum_tls,omitempty"`
	ElectrumWS  string `yaml:"electrum_ws,omitempty" json:"electrum_ws,omitempty"`
	ElectrumWSS string `yaml:"electrum_wss,omitempty" json:"electrum_wss,omitempty"`

	// Paths below the HTTP address: of the Esplora API, such as /api, which Tapyrus has, too, and of the Blockbook API,
	// such as /blockbook.
	Esplora   string `yaml:"esplora,omitempty" json:"esplora,omitempty"`
	Blockbook string `yaml:"blockbook,omitempty" json:"blockbook,omitempty"`

	// Ord is the path of ord's JSON API for runes, such as /ord. Bitcoin only.
	Ord string `yaml:"ord,omitempty" json:"ord,omitempty"`

	// Onesat is the path of the API of 1sat-stack, such as /bsv. BSV only.
	Onesat string `yaml:"onesat,omitempty" json:"onesat,omitempty"`

	// Paths of the API of Kupo, such as /kupo, and of Blockfrost, such as /api/v0. Cardano only; those above are for Bitcoin.
	Kupo       string `yaml:"kupo,omitempty" json:"kupo,omitempty"`
	Blockfrost string `yaml:"blockfrost,omitempty" json:"blockfrost,omitempty"`

	// Paths of the API of cardano-submit-api, such as /api/submit, and of Ogmios, such as /ogmios. Cardano only.
	SubmitAPI string `yaml:"submit_api,omitempty" json:"submit_api,omitempty"`
	Ogmios    string `yaml:"ogmios,omitempty" json:"ogmios,omitempty"`

	// Paths of the API of Ergo's node with its extra index, such as /node, and of Ergo's explorer, such as /explorer.
	ErgoNode     string `yaml:"ergo_node,omitempty" json:"ergo_node,omitempty"`
	ErgoExplorer string `yaml:"ergo_explorer,omitempty" json:"ergo_explorer,omitempty"`

	// ErgoGraphQL is the path of the API of ergo-graphql, such as /graphql.
	ErgoGraphQL string `yaml:"ergo_graphql,omitempty" json:"ergo_graphql,omitempty"`
}

// serveFields are the keys of the protocols, with their fields and the functions that read values into them.
var serveFields = []struct {
	key   string
	field func(*Serve) *string
	set   func(to *string, value string) error
}{
	{"serve.electrum", func(s *Serve) *string { return &s.Electrum }, setText},
	{"serve.electrum_tls", func(s *Serve) *string { return &s.ElectrumTLS }, setText},
	{"serve.electrum_ws", func(s *Serve) *string { return &s.ElectrumWS }, setText},
	{"serve.electrum_wss", func(s *Serve) *string { return &s.ElectrumWSS }, setText},
	{"serve.esplora", func(s *Serve) *string { return &s.Esplora }, setPath},
	{"serve.blockbook", func(s *Serve) *string { return &s.Blockbook }, setPath},
	{"serve.ord", func(s *Serve) *string { return &s.Ord }, setPath},
	{"serve.onesat", func(s *Serve) *string { return &s.Onesat }, setPath},
	{"serve.blockfrost", func(s *Serve) *string { return &s.Blockfrost }, setPath},
	{"serve.kupo", func(s *Serve) *string { return &s.Kupo }, setPath},
	{"serve.submit_api", func(s *Serve) *string { return &s.SubmitAPI }, setPath},
	{"serve.ogmios", func(s *Serve) *string { return &s.Ogmios }, setPath},
	{"serve.ergo_node", func(s *Serve) *string { return &s.ErgoNode }, setPath},
	{"serve.ergo_explorer", func(s *Serve) *string { return &s.ErgoExplorer }, setPath},
	{"serve.ergo_graphql", func(s *Serve) *string { return &s.ErgoGraphQL }, setPath},
}

var serveKeys = func() (keys []key[Chain]) {
	for _, f := range serveFields {
		set := func(c *Chain, v, _ string) error { return f.set(f.field(&c.Serve), v) }
		keys = append(keys, key[Chain]{name: f.key, set: set})
	}
	return keys
}()

// ServeKeys returns the keys of the protocols.
func ServeKeys() (keys []string) {
	for _, f := range serveFields {
		keys = append(keys, f.key)
	}
	return keys
}

// Keys returns the keys of the protocols that are set.
func (s Serve) Keys() (keys []string) {
	for _, f := range serveFields {
		if *f.field(&s) != "" {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// pathForm is the form of a path below which a protocol is served.
var pathForm = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// reservedPath matches the paths that the server has itself.
var reservedPath = regexp.MustCompile(`^/(v1|docs|healthz|readyz|metrics|openapi[^/]*|search|static|\.+)(/|$)`)

// setPath reads the path below which a protocol is served.
func setPath(to *string, value string) error {
	switch {
	case !pathForm.MatchString(value):
		return fmt.Errorf("%q is not a path such as /api", value)
	case reservedPath.MatchString(value):
		return fmt.Errorf("%q is a path of the server itself: use another one, such as /api", value)
	}
	*to = value
	return nil
}
