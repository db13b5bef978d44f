package cli

import (
	"errors"
	"fmt"
	"slices"

	"birthmark/internal/cli/command"
	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

func (p *program) serveCommand() *cli.Command {
	return &cli.Command{
		Name:     "serve",
		Usage:    "serve databases over HTTP, with an API and an explorer",
		Category: serving,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on: host:port or unix:/path/of.sock", DefaultText: config.DefaultListen},
			&cli.BoolFlag{Name: "read-only", DisableDefaultText: true, Usage: "do not sync; another process can"},
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
		return command.UsageError("missing_flag", "nothing to serve: expected --db DIR, or chains in the settings (--config FILE)")
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

// serverFlags returns the flags of a server except its address.
func serverFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "tls-cert", Usage: "certificate `FILE` (PEM), reloaded when it changes; needs --tls-key"},
		&cli.StringFlag{Name: "tls-key", Usage: "private key `FILE`"},
		&cli.StringFlag{Name: "api-keys-file", Usage: "`FILE` of API keys, one NAME:KEY per line"},
		&cli.StringFlag{Name: "rate-limit", Usage: "limit each client to `N` requests per second; 0: no limit",
			DefaultText: fmt.Sprintf("%d if other machines can connect, else no limit", config.DefaultRate)},
		&cli.StringFlag{Name: "cors-origins", Usage: "`ORIGINS` that may send requests from a browser, such as https://example.org, or *"},
		&cli.StringFlag{Name: "trusted-proxies", Usage: "`ADDRESSES` of proxies whose X-Forwarded-For header is trusted"},
		&cli.StringFlag{Name: "hosts", Usage: "host `NAMES` accepted on a loopback address, in addition to localhost"},
		&cli.StringFlag{Name: "pprof", Usage: "loopback `ADDRESS` for Go profiles, such as 127.0.0.1:6060"},
		&cli.StringFlag{Name: "log", Usage: "log format, `text|json`", DefaultText: "text"},
		&cli.StringFlag{Name: "log-level", Usage: "log `LEVEL`: debug, info, warn or error; debug logs every request", DefaultText: "info"},
	}
}
