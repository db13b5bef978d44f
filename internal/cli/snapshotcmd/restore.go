package snapshotcmd

import (
	"fmt"
	"slices"
	"time"

	"birthmark/core/schema"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/internal/snapshot"

	"github.com/urfave/cli/v2"
)

func (p *program) restoreCommand() *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "restore a snapshot into a new database",
		ArgsUsage: "[URL]",
		Flags: slices.Concat([]cli.Flag{
			command.TrustFlag(),
			command.Bool("check", "also check the database for internal consistency before it appears"),
			command.Bool("digest", "also compare the digest of all rows with that of the snapshot"),
			jobsFlag(),
		}, command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.restore),
	}
}

type restoreAnswer struct {
	Chain           string       `json:"chain"`
	Network         string       `json:"network"`
	Snapshot        string       `json:"snapshot"`
	DB              string       `json:"db"`
	Tip             snapshot.Tip `json:"tip"`
	Files           int          `json:"files"`
	Bytes           int64        `json:"bytes"`
	DownloadedFiles int          `json:"downloaded_files"` // others were there already
	DownloadedBytes int64        `json:"downloaded_bytes"`
	SignedBy        string       `json:"signed_by,omitempty"` // the key of --trust; absent: not verified
	Checked         bool         `json:"checked"`             // by --check
	Digest          bool         `json:"digest"`              // compared by --digest
	UpgradedFrom    int          `json:"upgraded_from,omitempty"`
	Seconds         float64      `json:"seconds"`
}

func (p *program) restore(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	url, which, err := address(c, set, set.Bootstrap, set.Snapshots.To)
	if err != nil {
		return err
	}
	o := daemon.RestoreSnapshot{From: url, Which: which, Check: c.Bool("check"), Digest: c.Bool("digest")}
	if o.Jobs, err = jobs(c); err != nil {
		return err
	}
	began := p.Now()
	advance, stop := p.transfer("snapshot restore")
	defer func() { stop() }()
	var rows func(done, total uint64)
	o.Progress = advance
	o.Rows = func(done, total uint64) {
		if rows == nil { // the transfer is complete
			stop()
			rows, stop = p.WatchCount("check", "rows")
		}
		rows(done, total)
	}
	s, restored, err := p.Host(c).RestoreSnapshot(c.Context, set, o)
	if err != nil {
		stop()
		return interrupted(c, err, "no database was created; run the same command to resume: it does not download again what is in "+
			set.DB+snapshot.UnfinishedSuffix)
	}
	stop()
	a := restoreAnswer{
		Chain: s.Chain, Network: s.Network, Snapshot: s.Name, DB: set.DB, Tip: s.Tip, Files: len(s.Files), Bytes: s.Bytes,
		DownloadedFiles: restored.DownloadedFiles, DownloadedBytes: restored.DownloadedBytes, SignedBy: s.SignedBy, Checked: o.Check,
		Digest: o.Digest, Seconds: p.Now().Sub(began).Seconds(),
	}
	if s.Format != schema.FormatVersion {
		a.UpgradedFrom = s.Format
	}
	if set.Trust == "" {
		fmt.Fprintln(p.Stderr, "birthmark: the signature was not verified: --trust KEY requires one; birthmark verify --source compares "+
			"the database with your node")
	}
	return p.Answer(nil, a, func(page *terminal.Page) {
		page.Fields(
			"snapshot", terminal.Green(a.Snapshot),
			"chain", a.Chain+" "+a.Network,
			"tip", tipCell(a.Tip),
			"database", a.DB,
			"files", a.Files,
			"size", humanize.Bytes(a.Bytes),
			"downloaded", humanize.Plural(a.DownloadedFiles, "file")+", "+humanize.Bytes(a.DownloadedBytes),
			"signed by", a.SignedBy,
			"check", done(a.Checked, "no inconsistencies found"),
			"digest", done(a.Digest, "equal"),
			"upgraded", done(a.UpgradedFrom != 0, fmt.Sprintf("from format %d to %d", a.UpgradedFrom, schema.FormatVersion)),
			"time", p.Now().Sub(began).Round(time.Millisecond).String(),
		)
	})
}

func done(b bool, text string) string {
	if b {
		return text
	}
	return ""
}
