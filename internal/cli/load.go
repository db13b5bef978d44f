package cli

import (
	"log/slog"
	"os"
	"slices"

	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

// settingFlags maps the flags that override a setting to its key.
var settingFlags = []struct{ flag, key string }{
	{"listen", "listen"},
	{"tls-cert", "tls.cert"},
	{"tls-key", "tls.key"},
	{"api-keys-file", "api_keys_file"},
	{"rate-limit", "rate_limit"},
	{"cors-origins", "cors_origins"},
	{"trusted-proxies", "trusted_proxies"},
	{"hosts", "hosts"},
	{"pprof", "pprof"},
	{"log", "log"},
	{"log-level", "log_level"},
	{"memory", "memory"},
	{"chain", "chain"},
	{"network", "network"},
	{"source", "source"},
	{"password-file", "password_file"},
	{"db", "db"},
	{"wal", "wal"},
	{"compression", "compression"},
	{"raw", "raw"}, // tx --raw is a different flag, and tx does not read this setting
	{"index", "indexes"},
}

// load reads the settings from the file, the environment and the flags of c; later ones override earlier ones.
func (p *program) load(c *cli.Context) error {
	s := config.Default()
	file, origin := c.String("config"), "--config"
	if file == "" {
		file, _ = p.lookup("BIRTHMARK_CONFIG")
		origin = "BIRTHMARK_CONFIG"
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return usageError("no_settings", "%s: %w", origin, err)
		}
		if s, err = config.Parse(file, text); err != nil {
			return err
		}
	}
	overrides, warnings := config.FromEnvironment(p.lookup)
	for _, f := range settingFlags {
		if c.IsSet(f.flag) {
			overrides = append(overrides, config.Override{Key: f.key, Value: c.String(f.flag), Origin: "--" + f.flag})
		}
	}
	p.overrides = p.overrides[:0]
	for _, o := range overrides {
		o, renamed := o.Renamed()
		warnings = append(warnings, renamed...)
		switch taken, err := s.Override(o); {
		case err != nil:
			return err
		case !taken:
			p.overrides = append(p.overrides, o)
		}
	}
	if err := s.Check(); err != nil {
		return err
	}
	p.settings = s
	p.logTo(s.Log)
	for _, w := range slices.Concat(p.warnings, s.Warnings, warnings) {
		p.log.Warn(w)
	}
	p.warnings = nil
	return nil
}

// logTo applies the log settings.
func (p *program) logTo(set config.Log) {
	if set == config.Default().Log {
		return
	}
	o := &slog.HandlerOptions{Level: set.Level}
	var h slog.Handler = slog.NewTextHandler(p.console, o)
	if set.Format == "json" {
		h = slog.NewJSONHandler(p.console, o)
	}
	p.log = slog.New(h)
	if p.ownsLog {
		slog.SetDefault(p.log)
	}
}

// one returns the settings of the chain that c selects.
func (p *program) one(c *cli.Context) (*config.Chain, error) {
	if err := p.load(c); err != nil {
		return nil, err
	}
	set, err := p.settings.One(p.overrides)
	if err != nil {
		return nil, err
	}
	p.mask(set)
	return set, nil
}

// several returns the settings of all chains that c selects.
func (p *program) several(c *cli.Context) ([]*config.Chain, error) {
	if err := p.load(c); err != nil {
		return nil, err
	}
	sets, err := p.settings.All(p.overrides)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		p.mask(set)
	}
	return sets, nil
}

// mask registers the secret of a source, so that no output contains it.
func (p *program) mask(set *config.Chain) {
	if config.MaskURI(set.Source) != set.Source {
		p.sources = append(p.sources, set.Source)
	}
}

// commandName names this process in the lock of the database, without arguments, which can contain a secret.
func commandName(c *cli.Context) string {
	if c == nil {
		return "birthmark"
	}
	name := ""
	for _, in := range c.Lineage() { // innermost first
		if in.Command != nil && in.Command.Name != "" && in.Command.Name != "birthmark" {
			name = " " + in.Command.Name + name
		}
	}
	return "birthmark" + name
}
