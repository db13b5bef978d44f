package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"birthmark/internal/cli/command"
	"birthmark/internal/config"
	"birthmark/internal/daemon"

	"github.com/urfave/cli/v2"
)

func (p *program) serveCommand() *cli.Command {
	return &cli.Command{
		Name:     "serve",
		Usage:    "serve databases over HTTP, with an API and an explorer",
		Category: serving,
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("listen", "`ADDRESS` to listen on: host:port or unix:/path/of.sock", config.DefaultListen),
			command.Bool("read-only", "do not sync; another process can"),
			command.String("bootstrap", "restore a missing database from the snapshots at `URL`"), command.TrustFlag(),
		}, command.SourceFlags("`URI` of the source of the blocks; without one the database is only read"),
			command.WriteFlags(), serverFlags(), command.DatabaseFlags(), command.ProfileFlags()),
		Action: command.Profiled(p.serve),
	}
}

func (p *program) serve(c *cli.Context) (err error) {
	sets, err := p.Several(c)
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		if sets, err = p.storedDatabases(); err != nil {
			return err
		}
	}
	if len(sets) == 0 {
		return command.UsageError("missing_flag", "nothing to serve: expected --db DIR, --chain with --source, or chains in the settings (--config FILE)")
	}
	if c.Bool("read-only") {
		for _, set := range sets {
			set.Source = ""
		}
	}
	h := p.Host(c)
	server, err := h.Listen(p.Settings, p.Settings.Listen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	chains, err := h.OpenChains(c.Context, p.Settings.Memory, sets)
	if stop := c.Context.Err(); stop != nil && errors.Is(err, stop) {
		return nil // interrupted before it served anything
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, chains.Close()) }()
	announce := server.Announce
	if p.JSON {
		announce = func() error { return p.Document(server.Address()) }
	}
	return server.Serve(c.Context, chains, announce)
}

// storedDatabases returns settings for each database in the data folder.
func (p *program) storedDatabases() (sets []*config.Chain, err error) {
	names, err := daemon.DatabasesIn(p.Settings.DataFolder)
	for _, name := range names {
		set := config.NewChain()
		set.DB, set.Memory = filepath.Join(p.Settings.DataFolder, name), p.Settings.Memory
		sets = append(sets, &set)
	}
	return sets, err
}

// serverFlags returns the flags of a server except its address.
func serverFlags() []cli.Flag {
	return []cli.Flag{
		command.String("tls-cert", "certificate `FILE` (PEM), reloaded when it changes; needs --tls-key"),
		command.String("tls-key", "private key `FILE`"),
		command.String("api-keys-file", "`FILE` of API keys, one NAME:KEY per line"),
		command.StringDefault("rate-limit", "limit each client to `N` requests per second; 0: no limit",
			fmt.Sprintf("%d if other machines can connect, else no limit", config.DefaultRate)),
		command.String("cors-origins", "`ORIGINS` that may send requests from a browser, such as https://example.org, or *"),
		command.String("trusted-proxies", "`ADDRESSES` of proxies whose X-Forwarded-For header is trusted"),
		command.String("hosts", "host `NAMES` accepted on a loopback address, in addition to localhost"),
		command.String("pprof", "loopback `ADDRESS` for Go profiles, such as 127.0.0.1:6060"),
		command.StringDefault("log", "log format, `text|json`", "text"),
		command.StringDefault("log-level", "log level, `debug|info|warn|error`; debug logs every request", "info"),
	}
}
