package config

import (
	"strings"

	"birthmark/model"
)

// View is settings as `birthmark config` shows them: every default filled in, no secret. Written as YAML it is a
// settings file with the same meaning, secrets apart.
type View struct {
	Listen          string      `yaml:"listen" json:"listen"`
	TLS             *TLSView    `yaml:"tls,omitempty" json:"tls,omitempty"`
	APIKeysFile     string      `yaml:"api_keys_file,omitempty" json:"api_keys_file,omitempty"`
	APIKeysOptional bool        `yaml:"api_keys_optional,omitempty" json:"api_keys_optional,omitempty"`
	Rate            float64     `yaml:"rate" json:"rate"`
	Burst           int         `yaml:"burst" json:"burst"`
	Timeout         string      `yaml:"timeout" json:"timeout"`
	Connections     int         `yaml:"connections" json:"connections"`
	CORS            []string    `yaml:"cors,flow" json:"cors"`
	Proxies         []string    `yaml:"proxies,flow" json:"proxies"`
	Hosts           []string    `yaml:"hosts,flow" json:"hosts"`
	ReadyWithin     int         `yaml:"ready_within" json:"ready_within"`
	Profiles        string      `yaml:"pprof,omitempty" json:"pprof,omitempty"`
	Log             string      `yaml:"log" json:"log"`
	LogLevel        string      `yaml:"log_level" json:"log_level"`
	Memory          Size        `yaml:"memory" json:"memory"`
	Chains          []ChainView `yaml:"chains" json:"chains"`
}

// TLSView are the files of a server's certificate.
type TLSView struct {
	Cert string `yaml:"cert" json:"cert"`
	Key  string `yaml:"key" json:"key"`
}

// View of everything but the chains.
func (s *Settings) View() *View {
	v := &View{
		Listen: s.Listen, APIKeysFile: s.Server.KeysFile, APIKeysOptional: s.Server.KeysOptional, Rate: s.RateAt(s.Listen), Burst: s.Server.Burst,
		Timeout: s.Server.Timeout.String(), Connections: s.Server.Connections, CORS: append([]string{}, s.Server.CORS...), Proxies: []string{},
		Hosts:       append([]string{}, s.Server.Hosts...),
		ReadyWithin: s.Server.ReadyWithin, Profiles: s.Server.Profiles, Log: s.Log.Format, LogLevel: strings.ToLower(s.Log.Level.String()),
		Memory: s.Memory, Chains: []ChainView{},
	}
	if s.Server.Cert != "" {
		v.TLS = &TLSView{s.Server.Cert, s.Server.Key}
	}
	for _, p := range s.Server.Proxies {
		v.Proxies = append(v.Proxies, p.String())
	}
	return v
}

// ChainView is one chain of a [View].
type ChainView struct {
	Chain        string               `yaml:"chain" json:"chain"`
	Network      string               `yaml:"network,omitempty" json:"network,omitempty"`
	Source       string               `yaml:"source,omitempty" json:"source,omitempty"`
	Password     string               `yaml:"-" json:"password,omitempty"` // the mask, where one is set
	PasswordFile string               `yaml:"password_file,omitempty" json:"password_file,omitempty"`
	DB           string               `yaml:"db,omitempty" json:"db,omitempty"`
	WAL          bool                 `yaml:"wal" json:"wal"`
	Compression  string               `yaml:"compression" json:"compression"`
	Raw          bool                 `yaml:"raw" json:"raw"`
	Indexes      map[string]IndexView `yaml:"indexes" json:"indexes"`
}

// IndexView is one index of a [ChainView]; the last three keys are there for one that was defined.
type IndexView struct {
	model.IndexOptions `yaml:",inline"`
	When               string `yaml:"when,omitempty" json:"when,omitempty"`
	Value              string `yaml:"value,omitempty" json:"value,omitempty"`
	Kind               string `yaml:"kind,omitempty" json:"kind,omitempty"`
}

// View of the chain. Network and indexes are the chain's defaults, used where none is set.
func (c *Chain) View(network string, indexes []string) ChainView {
	v := ChainView{
		Chain: c.Chain, Network: c.Network, Source: MaskURI(c.Source), PasswordFile: c.PasswordFile, DB: c.DB, WAL: c.WAL,
		Compression: c.Compression.String(), Raw: c.Raw, Indexes: map[string]IndexView{},
	}
	if v.Network == "" {
		v.Network = network
	}
	if c.Password != "" {
		v.Password = Mask
	}
	for _, ix := range c.Indexes {
		shown := IndexView{IndexOptions: ix.Options}
		if d := ix.Definition; d != nil {
			shown.When, shown.Value, shown.Kind = d.When, d.Value, d.Kind.String()
		}
		v.Indexes[ix.Name] = shown
	}
	if c.Indexes == nil {
		for _, name := range indexes {
			v.Indexes[name] = IndexView{}
		}
	}
	return v
}
