package snapshotcmd

import (
	"slices"

	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"

	"github.com/urfave/cli/v2"
)

func (p *program) pruneCommand() *cli.Command {
	return &cli.Command{
		Name:      "prune",
		Usage:     "remove old snapshots, and the files that no snapshot needs",
		ArgsUsage: "[URL]",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("keep", "keep the newest `N` snapshots", "snapshots.keep, or 7"),
		}, chainFlags()),
		Action: p.prune,
	}
}

type pruneAnswer struct {
	URL          string   `json:"url"`
	Kept         []string `json:"kept"` // newest first
	Removed      []string `json:"removed"`
	RemovedFiles int      `json:"removed_files"`
	RemovedBytes int64    `json:"removed_bytes"`
}

func (p *program) prune(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	keep, err := command.Number(c, "keep", uint64(set.Snapshots.Keep), 1, 10_000)
	if err != nil {
		return err
	}
	url, which, err := address(c, set, set.Snapshots.To)
	if err != nil {
		return err
	}
	if which != "" {
		return command.UsageError("bad_value", "prune takes the URL of a storage, not of one snapshot")
	}
	r, _, err := p.Host(c).FindSnapshots(c.Context, set, url)
	if err != nil {
		return err
	}
	pruned, err := r.Prune(c.Context, int(keep), p.Now())
	if err != nil {
		return err
	}
	a := pruneAnswer{
		URL: r.String(), Kept: append([]string{}, pruned.Kept...), Removed: append([]string{}, pruned.Removed...),
		RemovedFiles: pruned.Files, RemovedBytes: pruned.Bytes,
	}
	return p.Answer(nil, a, func(page *terminal.Page) {
		page.Fields("kept", humanize.Plural(len(a.Kept), "snapshot"), "removed", humanize.Plural(len(a.Removed), "snapshot"),
			"files removed", a.RemovedFiles, "freed", humanize.Bytes(a.RemovedBytes))
	})
}
