package command

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

// Load reads the settings from the file, the environment and the flags of c; later ones override earlier ones.
func (e *Env) Load(c *cli.Context) error {
	s := config.Default()
	file, origin := c.String("config"), "--config"
	if file == "" {
		file, _ = e.LookupEnv("BIRTHMARK_CONFIG")
		origin = "BIRTHMARK_CONFIG"
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return UsageError("no_settings", "%s: %w", origin, err)
		}
		if s, err = config.Parse(file, text); err != nil {
			return err
		}
	}
	overrides, warnings := config.FromEnvironment(e.LookupEnv)
	for _, f := range settingFlags {
		if c.IsSet(f.flag) {
			overrides = append(overrides, config.Override{Key: f.key, Value: c.String(f.flag), Origin: "--" + f.flag})
		}
	}
	e.overrides = e.overrides[:0]
	for _, o := range overrides {
		o, renamed := o.Renamed()
		warnings = append(warnings, renamed...)
		switch taken, err := s.Override(o); {
		case err != nil:
			return err
		case !taken:
			e.overrides = append(e.overrides, o)
		}
	}
	if err := s.Check(); err != nil {
		return err
	}
	e.Settings = s
	e.logTo(s.Log)
	for _, w := range slices.Concat(e.Warnings, s.Warnings, warnings) {
		e.Log.Warn(w)
	}
	e.Warnings = nil
	return nil
}

// logTo applies the log settings.
func (e *Env) logTo(set config.Log) {
	if set == config.Default().Log {
		return
	}
	o := &slog.HandlerOptions{Level: set.Level}
	var h slog.Handler = slog.NewTextHandler(e.Console, o)
	if set.Format == "json" {
		h = slog.NewJSONHandler(e.Console, o)
	}
	e.Log = slog.New(h)
	if e.OwnsLog {
		slog.SetDefault(e.Log)
	}
}

// One returns the settings of the chain that c selects.
func (e *Env) One(c *cli.Context) (*config.Chain, error) {
	if err := e.Load(c); err != nil {
		return nil, err
	}
	set, err := e.Settings.One(e.overrides)
	if err != nil {
		return nil, err
	}
	e.mask(set)
	return set, nil
}

// Several returns the settings of all chains that c selects.
func (e *Env) Several(c *cli.Context) ([]*config.Chain, error) {
	if err := e.Load(c); err != nil {
		return nil, err
	}
	sets, err := e.Settings.All(e.overrides)
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		e.mask(set)
	}
	return sets, nil
}

// mask registers the secret of a source, so that no output contains it.
func (e *Env) mask(set *config.Chain) {
	if config.MaskURI(set.Source) != set.Source {
		e.sources = append(e.sources, set.Source)
	}
}
