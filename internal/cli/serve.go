package cli

import (
	"errors"
	"fmt"
	"slices"

	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

func (p *program) serveCommand() *cli.Command {
	return &cli.Command{
		Name:     "serve",
		Usage:    "answer over HTTP, and show an explorer in the browser",
		Category: serving,
		Description: "All chains of the settings, or the one that flags are about. One with a source is synced and followed meanwhile, in this\n" +
			"process; one without, or with --read-only, is served as it is, also while another process syncs it. What a source fails for\n" +
			"is tried again, and answers go on. SIGINT and SIGTERM end it when answers are given and blocks are written.\n" +
			"With --json one document says where it listens, once it does; later errors stand in the log.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on, host:port or unix:/path/of.sock", DefaultText: config.DefaultListen},
			&cli.BoolFlag{Name: "read-only", DisableDefaultText: true, Usage: "sync nothing: another process does, or none"},
			&cli.StringFlag{Name: "source", Usage: "where blocks come from, a `URI`; without, the database is served as it is"},
			&cli.StringFlag{Name: "password-file", Usage: "`FILE` with the source's password, or user:password as a node's cookie has it"},
			&cli.StringFlag{Name: "wal", Usage: "write-ahead log of a sync, `on|off`; off is faster, and a crash then falls back to an earlier block", DefaultText: "on"},
			compressionFlag(),
			indexFlag(), rawFlag(),
		}, serverFlags(), databaseFlags(), profileFlags()),
		Action: profiled(p.serve),
	}
}

func (p *program) serve(c *cli.Context) (err error) {
	sets, err := p.several(c)
	if err != nil {
		return err
	}
	if len(sets) == 0 {
		return usageError("missing_flag", "nothing to serve: expected --db DIR, or chains in the settings (--config FILE)")
	}
	if c.Bool("read-only") {
		for _, set := range sets {
			set.Source = ""
		}
	}
	h := p.host(c)
	server, err := h.Listen(p.settings, p.settings.Listen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	chains, err := h.OpenChains(c.Context, p.settings.Memory, sets)
	if stop := c.Context.Err(); stop != nil && errors.Is(err, stop) {
		return nil // interrupted before it served anything
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, chains.Close()) }()
	announce := server.Announce
	if p.json {
		announce = func() error { return p.document(server.Address()) }
	}
	return server.Serve(c.Context, chains, announce)
}

// serverFlags are those of the settings of a server, but for where it listens.
func serverFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "tls-cert", Usage: "`FILE` of the certificate (PEM), read again when it changes; with --tls-key"},
		&cli.StringFlag{Name: "tls-key", Usage: "`FILE` of its key"},
		&cli.StringFlag{Name: "api-keys-file", Usage: "`FILE` of the keys that clients show, a line NAME:KEY each"},
		&cli.StringFlag{Name: "rate", Usage: "limit each client to `N` requests a second; 0: no limit",
			DefaultText: fmt.Sprintf("%d if other machines can connect, else no limit", config.DefaultRate)},
		&cli.StringFlag{Name: "cors", Usage: "`ORIGINS` whose pages may ask, such as https://example.org, or *"},
		&cli.StringFlag{Name: "proxies", Usage: "`ADDRESSES` of proxies in front, whose X-Forwarded-For is believed"},
		&cli.StringFlag{Name: "hosts", Usage: "`NAMES` that a server on a loopback address answers for too"},
		&cli.StringFlag{Name: "pprof", Usage: "`ADDRESS` of this machine to answer with profiles at, such as 127.0.0.1:6060"},
		&cli.StringFlag{Name: "log", Usage: "lines of the log as `text|json`", DefaultText: "text"},
		&cli.StringFlag{Name: "log-level", Usage: "`LEVEL` from which on lines are logged: debug, info, warn, error; debug has every request", DefaultText: "info"},
	}
}
