package config

import (
	"cmp"
	"encoding/hex"
	"strings"

	"birthmark/model"
)

// View is the settings as `birthmark config` prints them: with every default, without secrets. As YAML it is a settings
// file with the same meaning.
type View struct {
	Listen         string        `yaml:"listen" json:"listen"`
	TLS            *TLSView      `yaml:"tls,omitempty" json:"tls,omitempty"`
	APIKeysFile    string        `yaml:"api_keys_file,omitempty" json:"api_keys_file,omitempty"`
	AllowAnonymous bool          `yaml:"allow_anonymous,omitempty" json:"allow_anonymous,omitempty"`
	RateLimit      float64       `yaml:"rate_limit" json:"rate_limit"`
	RateBurst      int           `yaml:"rate_burst" json:"rate_burst"`
	SubmitLimit    float64       `yaml:"submit_limit" json:"submit_limit"`
	RequestTimeout string        `yaml:"request_timeout" json:"request_timeout"`
	MaxConnections int           `yaml:"max_connections" json:"max_connections"`
	CORSOrigins    []string      `yaml:"cors_origins,flow" json:"cors_origins"`
	TrustedProxies []string      `yaml:"trusted_proxies,flow" json:"trusted_proxies"`
	Hosts          []string      `yaml:"hosts,flow" json:"hosts"`
	BasePath       string        `yaml:"base_path,omitempty" json:"base_path,omitempty"`
	Title          string        `yaml:"title,omitempty" json:"title,omitempty"`
	Logo           string        `yaml:"logo,omitempty" json:"logo,omitempty"`
	Notice         string        `yaml:"notice,omitempty" json:"notice,omitempty"`
	LabelsFile     string        `yaml:"labels_file,omitempty" json:"labels_file,omitempty"`
	AssetPictures  string        `yaml:"asset_pictures,omitempty" json:"asset_pictures,omitempty"`
	ImmutableDepth int           `yaml:"immutable_depth" json:"immutable_depth"`
	MaxLagBlocks   int           `yaml:"max_lag_blocks" json:"max_lag_blocks"`
	Profiles       string        `yaml:"pprof,omitempty" json:"pprof,omitempty"`
	Log            string        `yaml:"log" json:"log"`
	LogLevel       string        `yaml:"log_level" json:"log_level"`
	Electrum       *ElectrumView `yaml:"electrum,omitempty" json:"electrum,omitempty"` // nil: the defaults
	Memory         Size          `yaml:"memory" json:"memory"`
	Chains         []ChainView   `yaml:"chains" json:"chains"`
}

// TLSView is the certificate of a server.
type TLSView struct {
	Cert string `yaml:"cert" json:"cert"`
	Key  string `yaml:"key" json:"key"`
}

// View returns everything but the chains.
func (s *Settings) View() *View {
	v := &View{
		Listen: s.Listen, APIKeysFile: s.Server.KeysFile, AllowAnonymous: s.Server.Anonymous,
		RateLimit: s.RateAt(s.Listen), RateBurst: s.Server.RateBurst, SubmitLimit: s.SubmitLimitAt(s.Listen), RequestTimeout: s.Server.RequestTimeout.String(),
		MaxConnections: s.Server.MaxConnections, CORSOrigins: append([]string{}, s.Server.CORSOrigins...), TrustedProxies: []string{},
		BasePath: s.Server.Site.BasePath, Title: s.Server.Site.Title, Logo: s.Server.Site.Logo, Notice: s.Server.Site.Notice, LabelsFile: s.Server.Site.Labels, AssetPictures: s.Server.Site.Pictures,
		ImmutableDepth: s.Server.ImmutableDepth, Hosts: append([]string{}, s.Server.Hosts...), MaxLagBlocks: s.Server.MaxLagBlocks, Profiles: s.Server.Profiles,
		Log: s.Log.Format, LogLevel: strings.ToLower(s.Log.Level.String()), Electrum: s.Server.Electrum.View(),
		Memory: s.Memory, Chains: []ChainView{},
	}
	if s.Server.Cert != "" {
		v.TLS = &TLSView{s.Server.Cert, s.Server.Key}
	}
	for _, p := range s.Server.TrustedProxies {
		v.TrustedProxies = append(v.TrustedProxies, p.String())
	}
	return v
}

// ChainView is one chain of a [View].
type ChainView struct {
	Chain        string               `yaml:"chain" json:"chain"`
	Network      string               `yaml:"network,omitempty" json:"network,omitempty"`
	Challenge    string               `yaml:"signet_challenge,omitempty" json:"signet_challenge,omitempty"`
	Source       string               `yaml:"source,omitempty" json:"source,omitempty"`
	Node         string               `yaml:"node,omitempty" json:"node,omitempty"`
	Mempool      string               `yaml:"mempool" json:"mempool"`
	Watch        string               `yaml:"watch" json:"watch"`
	Password     string               `yaml:"-" json:"password,omitempty"` // the mask, if one is set
	PasswordFile string               `yaml:"password_file,omitempty" json:"password_file,omitempty"`
	Proxy        string               `yaml:"proxy,omitempty" json:"proxy,omitempty"`
	SourceWait   string               `yaml:"source_wait" json:"source_wait"`
	DB           string               `yaml:"db,omitempty" json:"db,omitempty"`
	WAL          bool                 `yaml:"wal" json:"wal"`
	Compression  string               `yaml:"compression" json:"compression"`
	Raw          Raw                  `yaml:"raw" json:"raw"`
	Assets       string               `yaml:"assets,omitempty" json:"assets,omitempty"`
	Statistics   bool                 `yaml:"statistics" json:"statistics"`
	RawFolder    string               `yaml:"raw_folder,omitempty" json:"raw_folder,omitempty"`
	Indexes      map[string]IndexView `yaml:"indexes" json:"indexes"`
	Serve        Serve                `yaml:"serve,omitempty" json:"serve,omitzero"`
	Segments     *SegmentsView        `yaml:"segments,omitempty" json:"segments,omitempty"`   // nil: not set
	Snapshots    *SnapshotsView       `yaml:"snapshots,omitempty" json:"snapshots,omitempty"` // nil: the defaults
	Export       *ExportView          `yaml:"export,omitempty" json:"export,omitempty"`       // nil: not set
	Bootstrap    string               `yaml:"bootstrap,omitempty" json:"bootstrap,omitempty"`
	Trust        string               `yaml:"trust,omitempty" json:"trust,omitempty"`
}

// IndexView is one index of a [ChainView]; the last three keys belong to a custom index.
type IndexView struct {
	model.IndexOptions `yaml:",inline"`
	When               string `yaml:"when,omitempty" json:"when,omitempty"`
	Value              string `yaml:"value,omitempty" json:"value,omitempty"`
	Kind               string `yaml:"kind,omitempty" json:"kind,omitempty"`
}

// View returns the settings of the chain. Network and indexes are the chain's defaults if they are not set.
func (c *Chain) View(network string, indexes []string) ChainView {
	v := ChainView{
		Chain: c.Chain, Network: c.Network, Challenge: hex.EncodeToString(c.SignetChallenge), Source: MaskURI(c.Source), Node: MaskURI(c.Node), Mempool: c.Mempool.mempool(), Watch: c.Watch.mempool(), PasswordFile: c.PasswordFile, Proxy: MaskURI(c.Proxy), SourceWait: c.SourceWait.String(), DB: cmp.Or(c.DB, c.DefaultDB()), WAL: c.WAL,
		Compression: c.Compression.String(), Raw: c.Raw, Assets: c.Assets, Statistics: c.Statistics, RawFolder: c.RawFolder, Indexes: map[string]IndexView{}, Serve: c.Serve,
		Segments:  c.Segments.view(),
		Snapshots: c.Snapshots.view(), Export: c.Export.view(), Bootstrap: c.Bootstrap, Trust: c.Trust,
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
