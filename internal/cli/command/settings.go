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
			return UsageError("no_settings", "%s: %w: expected a YAML file, as birthmark init writes it", origin, err)
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

// chainFlags returns the flags with which another command selects the same chain: the flags of this command and, if its
// settings have several chains, the names of the chain. They also select presets, nil for a command without --index.
// Variables of the environment apply to other commands too.
func (e *Env) chainFlags(c *cli.Context, set *config.Chain, presets []string) string {
	var b strings.Builder
	add := func(flag, value string) {
		if value == "" {
			return
		}
		if strings.ContainsFunc(value, func(r rune) bool { return !strings.ContainsRune(plainText, r) }) {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		b.WriteString(" --" + flag + " " + value)
	}
	if presets != nil && c.IsSet("index") {
		presets = append(strings.Split(c.String("index"), ","), presets...)
	}
	add("index", strings.Join(presets, ","))
	add("config", c.String("config"))
	several := e.Settings != nil && len(e.Settings.Chains) > 1
	for _, of := range []struct{ flag, value string }{{"chain", set.Chain}, {"network", set.Network}} {
		if several || c.IsSet(of.flag) {
			add(of.flag, of.value)
		}
	}
	if c.IsSet("db") || c.String("config") == "" && set.Origin("db") == "" && set.Chain == "" {
		add("db", set.DB)
	}
	for _, flag := range []string{"source", "password-file"} {
		if c.IsSet(flag) {
			add(flag, c.String(flag))
		}
	}
	return b.String()
}

// plainText are the characters that shells do not interpret.
const plainText = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,"

// logTo applies the log settings.
func (e *Env) logTo(set config.Log) {
	if set == config.Default().Log {
		return
	}
	o := &slog.HandlerOptions{Level: set.Level}
	var h slog.Handler = slog.NewTextHandler(e.Console, o)
	if set.Format == "json" {
		o.ReplaceAttr = inSeconds
		h = slog.NewJSONHandler(e.Console, o)
	}
	e.Log = slog.New(h)
	if e.OwnsLog {
		slog.SetDefault(e.Log)
	}
}

// inSeconds writes durations in JSON as seconds: slog writes nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
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
