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

	// Paths below the HTTP address: of the Esplora API, such as /api, and of the Blockbook API, such as /blockbook.
	Esplora   string `yaml:"esplora,omitempty" json:"esplora,omitempty"`
	Blockbook string `yaml:"blockbook,omitempty" json:"blockbook,omitempty"`

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

var serveKeys = []key[Chain]{
	{name: "serve.electrum", set: func(c *Chain, v, _ string) error { return setText(&c.Serve.Electrum, v) }},
	{name: "serve.electrum_tls", set: func(c *Chain, v, _ string) error { return setText(&c.Serve.ElectrumTLS, v) }},
	{name: "serve.electrum_ws", set: func(c *Chain, v, _ string) error { return setText(&c.Serve.ElectrumWS, v) }},
	{name: "serve.electrum_wss", set: func(c *Chain, v, _ string) error { return setText(&c.Serve.ElectrumWSS, v) }},
	{name: "serve.esplora", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.Esplora, v) }},
	{name: "serve.blockbook", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.Blockbook, v) }},
	{name: "serve.blockfrost", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.Blockfrost, v) }},
	{name: "serve.kupo", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.Kupo, v) }},
	{name: "serve.submit_api", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.SubmitAPI, v) }},
	{name: "serve.ogmios", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.Ogmios, v) }},
	{name: "serve.ergo_node", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.ErgoNode, v) }},
	{name: "serve.ergo_explorer", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.ErgoExplorer, v) }},
	{name: "serve.ergo_graphql", set: func(c *Chain, v, _ string) error { return setPath(&c.Serve.ErgoGraphQL, v) }},
}

// ForBitcoin reports whether any of the protocols is one of Bitcoin's wallets.
func (s Serve) ForBitcoin() bool {
	s.Kupo, s.Blockfrost, s.SubmitAPI, s.Ogmios, s.ErgoNode, s.ErgoExplorer, s.ErgoGraphQL = "", "", "", "", "", "", ""
	return s != Serve{}
}

// ServeKeys returns the keys of the protocols.
func ServeKeys() (names []string) {
	for _, k := range serveKeys {
		names = append(names, k.name)
	}
	return names
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
