// Package snapshotcmd is the command birthmark snapshot: create, list, restore, verify and prune.
package snapshotcmd

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"birthmark/internal/cli/command"
	"birthmark/internal/config"
	"birthmark/internal/progress"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// Command returns the command snapshot.
func Command(e *command.Env, category string) *cli.Command {
	p := &program{e}
	return &cli.Command{
		Name:     "snapshot",
		Usage:    "create, list, restore, verify and remove snapshots of databases",
		Category: category,
		Subcommands: []*cli.Command{
			p.createCommand(), p.listCommand(), p.restoreCommand(), p.verifyCommand(), p.pruneCommand(),
		},
	}
}

type program struct{ *command.Env }

// maxJobs limits --jobs.
const maxJobs = 256

func jobsFlag() cli.Flag {
	return command.StringDefault("jobs", "transfer `N` files at the same time", "8")
}

func jobs(c *cli.Context) (int, error) {
	n, err := command.Number(c, "jobs", 0, 1, maxJobs)
	return int(n), err
}

// chainFlags returns the flags of commands that need no database.
func chainFlags() []cli.Flag { return slices.Concat(command.ChainFlags(), command.CommonFlags()) }

// suffix is the part of an argument that selects a snapshot: @ and its height or the beginning of its name.
var suffix = regexp.MustCompile(`^(.+)@([0-9]{1,9}|[0-9]{9}-[0-9TZa-f.-]*)$`)

// address returns the URL and the snapshot of the argument. Without an argument, the settings have the URL.
func address(c *cli.Context, set *config.Chain, settings ...string) (url, which string, err error) {
	url = c.Args().First()
	if m := suffix.FindStringSubmatch(url); m != nil {
		url, which = m[1], m[2]
	}
	for _, setting := range settings {
		if url == "" {
			url = setting
		}
	}
	if url == "" {
		return "", "", command.UsageError("missing_argument", "missing URL of the snapshots: expected a folder, s3://BUCKET/PREFIX or "+
			"https://HOST/PATH (or snapshots.to in the settings)")
	}
	return url, which, nil
}

// interrupted returns err, or after Ctrl-C an error that names the remaining files.
func interrupted(c *cli.Context, err error, left string) error {
	if err == nil || c.Context.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return model.Errorf(model.Internal, "interrupted", "interrupted: %s", left)
}

// transfer shows the progress of a transfer of bytes until stop is called.
func (p *program) transfer(what string) (advance func(done, total uint64), stop func()) {
	t := progress.NewTransfer(p.Now)
	return t.Advance, p.Watch(what, t.Reading)
}
