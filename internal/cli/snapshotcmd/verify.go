package snapshotcmd

import (
	"slices"
	"strings"

	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/internal/snapshot"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "read every file of a snapshot and compare it with its checksum; with --db compare a database with the snapshot",
		ArgsUsage: "[URL]",
		Flags: slices.Concat([]cli.Flag{
			command.TrustFlag(),
			command.Bool("digest", "with --db: also compare the digest of all rows"),
			jobsFlag(),
		}, command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.verify),
	}
}

type verifyAnswer struct {
	OK       bool                     `json:"ok"`
	URL      string                   `json:"url"`
	Snapshot string                   `json:"snapshot,omitempty"` // absent: its manifest cannot be read
	Tip      *snapshot.Tip            `json:"tip,omitempty"`
	Files    int                      `json:"files"`
	Bytes    int64                    `json:"bytes"`
	SignedBy string                   `json:"signed_by,omitempty"` // the key of --trust; absent: not verified
	Problems []snapshot.Problem       `json:"problems"`
	Database *daemon.ComparedSnapshot `json:"database,omitempty"` // with --db
}

func (p *program) verify(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	url, which, err := address(c, set, set.Snapshots.To, set.Bootstrap)
	if err != nil {
		return err
	}
	n, err := jobs(c)
	if err != nil {
		return err
	}
	if c.Bool("digest") && !c.IsSet("db") {
		return command.UsageError("missing_flag", "--digest needs --db DIR, the database to compare with the snapshot")
	}
	r, key, err := p.Host(c).FindSnapshots(c.Context, set, url)
	a := &verifyAnswer{URL: url, Problems: []snapshot.Problem{}}
	if _, code := model.KindOf(err); code == "snapshot_damaged" {
		a.Problems = append(a.Problems, snapshot.Problem{File: "latest.json", Problem: err.Error()})
		return p.answerVerify(a)
	}
	if err != nil {
		return err
	}
	a.URL = r.String()
	problems, err := r.VerifyAll(c.Context, key)
	if err != nil {
		return err
	}
	a.Problems = append(a.Problems, problems...)
	s, err := r.Find(c.Context, which, key)
	if _, code := model.KindOf(err); len(problems) > 0 && (code == "snapshot_damaged" || code == "bad_signature") {
		return p.answerVerify(a) // it is among the problems
	}
	if err != nil {
		return err
	}
	a.Snapshot, a.Tip, a.Files, a.Bytes, a.SignedBy = s.Name, &s.Tip, len(s.Files), s.Bytes, s.SignedBy
	advance, stop := p.transfer("snapshot verify")
	defer stop()
	if problems, err = r.Verify(c.Context, s, n, advance); err != nil {
		stop()
		return interrupted(c, err, "not all files were read; run the same command to read them all again")
	}
	stop()
	a.Problems = append(a.Problems, problems...)
	if c.IsSet("db") {
		if a.Database, err = p.compare(c, set, s); err != nil {
			return err
		}
	}
	return p.answerVerify(a)
}

// compare compares the database of --db with a snapshot.
func (p *program) compare(c *cli.Context, set *config.Chain, s *snapshot.Snapshot) (*daemon.ComparedSnapshot, error) {
	advance, stop := p.WatchCount("snapshot verify", "rows")
	defer stop()
	return p.Host(c).CompareSnapshot(c.Context, set, s, c.Bool("digest"), advance)
}

func (p *program) answerVerify(a *verifyAnswer) error {
	faults := len(a.Problems)
	if a.Database != nil {
		faults += len(a.Database.Differences)
	}
	a.OK = faults == 0
	if err := p.Answer(nil, a, func(page *terminal.Page) { showVerify(page, a) }); err != nil {
		return err
	}
	if !a.OK {
		return model.Errorf(model.Internal, "faults_found", "the snapshot has %s", humanize.Plural(faults, "problem"))
	}
	return nil
}

func showVerify(page *terminal.Page, a *verifyAnswer) {
	verdict, tip, database := terminal.Green("all files are as stored"), "", ""
	if len(a.Problems) > 0 {
		verdict = terminal.Red("damaged")
	}
	if a.Tip != nil {
		tip = tipCell(*a.Tip)
	}
	if d := a.Database; d != nil {
		switch {
		case len(d.Differences) > 0:
			database = "differs: " + strings.Join(d.Differences, "; ")
		case d.Digest:
			database = "equal: all rows"
		case d.SameTip:
			database = "equal: tip, counts and checksum"
		default:
			database = "contains the tip of the snapshot, and more blocks"
		}
	}
	page.Fields("verify", verdict, "snapshot", a.Snapshot, "tip", tip, "files", a.Files, "size", humanize.Bytes(a.Bytes),
		"signed by", a.SignedBy, "database", database)
	if len(a.Problems) > 0 {
		page.Heading(humanize.Plural(len(a.Problems), "problem"))
	}
	terminal.Table(page, a.Problems, []string{"file", "problem"}, func(_ int, x snapshot.Problem) terminal.Cells {
		return terminal.Cells{x.File, terminal.Red(x.Problem)}
	})
}
