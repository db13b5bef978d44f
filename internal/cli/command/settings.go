package command

import (
	"log/slog"
	"os"
	"strings"
	"sync"

	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

// Load reads the settings from the file, the environment and the flags of c; later ones override earlier ones.
func (e *Env) Load(c *cli.Context) error {
	if err := config.CheckEnvironment(os.Environ()); err != nil {
		return err
	}
	s := config.Default()
	file, origin := c.String("config"), "--config"
	if file == "" {
		file, _ = e.LookupEnv(configVariable)
		origin = configVariable
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
	for _, o := range append(config.FromEnvironment(e.LookupEnv), FlagSettings(c)...) {
		if err := s.Override(o); err != nil {
			return err
		}
	}
	if err := s.Check(); err != nil {
		return err
	}
	s.DataFolder = config.DataFolder(e.LookupEnv, os.Geteuid() == 0)
	e.Settings = s
	e.logTo(s.Log)
	for _, w := range append(e.Warnings, s.Warnings...) {
		e.Log.Warn(w)
	}
	e.Warnings = nil
	return nil
}

// configVariable names the settings file.
const configVariable = "BIRTHMARK_CONFIG"

// flagOf returns the flag of a setting.
func flagOf(key string) string {
	return strings.NewReplacer(".", "-", "_", "-", "indexes", "index").Replace(key)
}

// variables returns the environment variables of flags that are settings.
var variables = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for _, key := range config.Keys() {
		of[flagOf(key)] = config.Variable(key)
	}
	return of
})

// FlagSettings returns the settings that the flags of c set.
func FlagSettings(c *cli.Context) (set []config.Override) {
	for _, key := range config.Keys() {
		// tx --raw is not this setting, but tx does not read the setting.
		if flag := flagOf(key); c.IsSet(flag) {
			set = append(set, config.Override{Key: key, Value: c.String(flag), Origin: "--" + flag})
		}
	}
	return set
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
	set, err := e.Settings.One()
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
	sets, err := e.Settings.All()
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		e.mask(set)
	}
	return sets, nil
}

// mask registers the secrets of a source and a node, so that no output contains it.
func (e *Env) mask(set *config.Chain) {
	for _, uri := range []string{set.Source, set.Node} {
		if config.MaskURI(uri) != uri {
			e.sources = append(e.sources, uri)
		}
	}
}
