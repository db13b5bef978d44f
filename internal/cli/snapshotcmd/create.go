package snapshotcmd

import (
	"slices"
	"time"

	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/internal/snapshot"

	"github.com/urfave/cli/v2"
)

func (p *program) createCommand() *cli.Command {
	return &cli.Command{
		Name:  "create",
		Usage: "store a snapshot of the database, also while another process syncs it",
		Flags: slices.Concat([]cli.Flag{
			command.String("to", "`URL` of the storage: a folder or s3://BUCKET/PREFIX?endpoint=URL&region=NAME"),
			command.Bool("digest", "also store the digest of all rows, which takes as long as birthmark dump --digest"),
			command.String("sign", "sign with the secret key of minisign in `FILE`"),
			command.String("keep", "then remove all but the newest `N` snapshots"),
			command.Bool("force", "also if the latest snapshot there is of another branch of the chain, or of a newer copy of the database"),
			jobsFlag(),
		}, command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.create),
	}
}

type createAnswer struct {
	Chain         string       `json:"chain"`
	Network       string       `json:"network"`
	URL           string       `json:"url"`
	Snapshot      string       `json:"snapshot"`
	Tip           snapshot.Tip `json:"tip"`
	Files         int          `json:"files"`
	Bytes         int64        `json:"bytes"`
	UploadedFiles int          `json:"uploaded_files"`
	UploadedBytes int64        `json:"uploaded_bytes"`
	Signed        bool         `json:"signed"`
	Digest        string       `json:"digest,omitempty"`
	Removed       []string     `json:"removed,omitempty"` // by --keep
	Seconds       float64      `json:"seconds"`
}

func (p *program) create(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	if c.IsSet("sign") {
		set.Snapshots.Sign = c.String("sign")
	}
	o := daemon.CreateSnapshot{To: c.String("to"), Digest: c.Bool("digest"), Force: c.Bool("force")}
	if o.To == "" {
		o.To = set.Snapshots.To
	}
	if o.To == "" {
		return command.UsageError("missing_flag", "missing --to URL, a folder or s3://BUCKET/PREFIX (or snapshots.to in the settings)")
	}
	if o.Jobs, err = jobs(c); err != nil {
		return err
	}
	keep, err := command.Number(c, "keep", 0, 1, 10_000)
	if err != nil {
		return err
	}
	began := p.Now()
	advance, stop := p.transfer("snapshot create")
	defer stop()
	o.Progress = advance
	r, created, err := p.Host(c).CreateSnapshot(c.Context, set, o)
	if err != nil {
		stop()
		return interrupted(c, err, "no snapshot was created, and the latest one is unchanged; run the same command to resume: it does not "+
			"store again what is stored")
	}
	var removed []string
	if keep > 0 {
		pruned, err := r.Prune(c.Context, int(keep), p.Now())
		if err != nil {
			return err
		}
		removed = pruned.Removed
	}
	stop()
	m := created.Manifest
	a := createAnswer{
		Chain: m.Chain, Network: m.Network, URL: r.String(), Snapshot: created.Name, Tip: m.Tip, Files: len(m.Files), Bytes: m.Bytes,
		UploadedFiles: created.UploadedFiles, UploadedBytes: created.UploadedBytes, Signed: set.Snapshots.Sign != "", Removed: removed,
		Seconds: p.Now().Sub(began).Seconds(),
	}
	if m.Digest != nil {
		a.Digest = m.Digest.SHA256
	}
	return p.Answer(nil, a, func(page *terminal.Page) {
		page.Fields(
			"snapshot", terminal.Green(a.Snapshot),
			"chain", a.Chain+" "+a.Network,
			"tip", tipCell(a.Tip),
			"url", a.URL,
			"files", a.Files,
			"size", humanize.Bytes(a.Bytes),
			"uploaded", humanize.Plural(a.UploadedFiles, "file")+", "+humanize.Bytes(a.UploadedBytes),
			"signed", yes(a.Signed),
			"digest", a.Digest,
			"removed", removedCell(a.Removed),
			"time", p.Now().Sub(began).Round(time.Millisecond).String(),
		)
	})
}

func tipCell(t snapshot.Tip) string {
	return humanize.Count(t.Height) + "  " + t.Hash + "  " + humanize.Clock(t.Time)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// removedCell returns the number of removed snapshots; empty for none.
func removedCell(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return humanize.Plural(len(names), "snapshot")
}
