package snapshotcmd

import (
	"time"

	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
	"birthmark/internal/snapshot"

	"github.com/urfave/cli/v2"
)

func (p *program) listCommand() *cli.Command {
	return &cli.Command{
		Name:      "list",
		Usage:     "list the snapshots of a storage",
		ArgsUsage: "[URL]",
		Flags:     chainFlags(),
		Action:    p.list,
	}
}

type listAnswer struct {
	URL       string      `json:"url"`
	Snapshots []listEntry `json:"snapshots"` // newest first
}

type listEntry struct {
	Snapshot string       `json:"snapshot"`
	Latest   bool         `json:"latest"`
	Chain    string       `json:"chain"`
	Network  string       `json:"network"`
	Format   int          `json:"format"`
	Tip      snapshot.Tip `json:"tip"`
	MadeAt   time.Time    `json:"made_at"`
	Indexes  []string     `json:"indexes"`
	Files    int          `json:"files"`
	Bytes    int64        `json:"bytes"`
	Signed   bool         `json:"signed"`
	Digest   string       `json:"digest,omitempty"`
}

func (p *program) list(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	url, which, err := address(c, set, set.Snapshots.To, set.Bootstrap)
	if err != nil {
		return err
	}
	if which != "" {
		return command.UsageError("bad_value", "list takes the URL of a storage, not of one snapshot")
	}
	r, _, err := p.Host(c).FindSnapshots(c.Context, set, url)
	if err != nil {
		return err
	}
	all, newest, err := r.List(c.Context)
	if err != nil {
		return err
	}
	a := listAnswer{URL: r.String(), Snapshots: []listEntry{}}
	for _, s := range all {
		e := listEntry{
			Snapshot: s.Name, Latest: s.Name == newest, Chain: s.Chain, Network: s.Network, Format: s.Format, Tip: s.Tip, MadeAt: s.Made.At,
			Indexes: []string{}, Files: len(s.Files), Bytes: s.Bytes, Signed: s.Signed,
		}
		for _, ix := range s.Indexes {
			e.Indexes = append(e.Indexes, ix.Name)
		}
		if s.Digest != nil {
			e.Digest = s.Digest.SHA256
		}
		a.Snapshots = append(a.Snapshots, e)
	}
	return p.Answer(nil, a, func(page *terminal.Page) {
		columns := []string{"snapshot", "chain", "block", "created", "files", "size", "signed", ""}
		terminal.Table(page, a.Snapshots, columns, func(_ int, e listEntry) terminal.Cells {
			mark := ""
			if e.Latest {
				mark = "latest"
			}
			return terminal.Cells{e.Snapshot, e.Chain + " " + e.Network, e.Tip.Height, humanize.Clock(e.MadeAt.Unix()), e.Files,
				terminal.Right(humanize.Bytes(e.Bytes)), yes(e.Signed), terminal.Green(mark)}
		})
	})
}
