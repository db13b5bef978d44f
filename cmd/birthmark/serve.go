package main

import (
	"errors"
	"slices"

	"birthmark/cmd/birthmark/settings"

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
			&cli.StringFlag{Name: "listen", Usage: "`ADDRESS` to listen on", DefaultText: settings.DefaultListen},
			&cli.BoolFlag{Name: "read-only", DisableDefaultText: true, Usage: "sync nothing: another process does, or none"},
			&cli.StringFlag{Name: "source", Usage: "where blocks come from, a `URI`; without, the database is served as it is"},
			&cli.StringFlag{Name: "password-file", Usage: "`FILE` with the source's password, or user:password as a node's cookie has it"},
			&cli.StringFlag{Name: "wal", Usage: "write-ahead log of a sync, `on|off`; off is faster, and a crash then falls back to an earlier block", DefaultText: "on"},
			compressionFlag(),
			indexFlag(), rawFlag(),
		}, databaseFlags(), profileFlags()),
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
	l, err := p.listen(p.settings.Listen)
	if err != nil {
		return err
	}
	defer l.Close()
	all, err := p.openAll(c, sets)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.close()) }()
	handler, err := p.handler(all.chains)
	if err != nil {
		return err
	}
	all.run(c.Context)
	if err := p.tellWhere(l, all.chains); err != nil {
		return err
	}
	return p.answerOn(c.Context, l, handler)
}
