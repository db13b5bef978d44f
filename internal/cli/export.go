package cli

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/export"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/internal/progress"
	"birthmark/model"
)

func (p *program) exportCommand() *cli.Command {
	return &cli.Command{
		Name:     "export",
		Usage:    "write the database as tables for analysts: Parquet, CSV or NDJSON",
		Category: querying,
		Flags: slices.Concat([]cli.Flag{
			command.String("out", "write to `DIR`, a folder that is empty or has an earlier export, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME"),
			command.StringDefault("tables", "comma-separated `TABLES`", strings.Join(export.Tables, ",")),
			command.StringDefault("from", "the first block `H`", "0"),
			command.StringDefault("to", "the last block `H`", "the tip"),
			command.StringDefault("format", "format of the files, `parquet|csv|ndjson`", "parquet"),
			command.StringDefault("partition", "`N` blocks per folder", "10000; 100000 on cardano and ergo"),
			command.StringDefault("confirmations", "files are final if their last block has `N` blocks after it",
				strconv.Itoa(export.DefaultConfirmations)),
			command.StringDefault("hashes", "hashes as text or as 32 bytes, `hex|binary`", export.HashesHex),
			command.Bool("follow", "continue with new blocks that another process adds, until Ctrl-C"),
			command.StringDefault("jobs", "write `N` parts at the same time", "one per two processors and 512 MiB of memory"),
		}, command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.export),
	}
}

// exportOptions returns the options that the flags select.
func exportOptions(c *cli.Context) (o export.Options, err error) {
	if c.IsSet("tables") {
		o.Tables = strings.Split(c.String("tables"), ",")
	}
	from, err := command.Height(c, "from")
	if err != nil {
		return o, err
	}
	if from != nil {
		o.From = *from
	}
	if o.To, err = command.Height(c, "to"); err != nil {
		return o, err
	}
	o.Format, o.Hashes = c.String("format"), c.String("hashes")
	partition, err := command.Number(c, "partition", 0, 1, model.MaxHeight)
	if err != nil {
		return o, err
	}
	confirmations, err := command.Number(c, "confirmations", export.DefaultConfirmations, 0, model.MaxHeight)
	if err != nil {
		return o, err
	}
	jobs, err := command.Number(c, "jobs", 0, 1, math.MaxUint16)
	o.Partition, o.Confirmations, o.Jobs = int(partition), int(confirmations), int(jobs)
	return o, err
}

func (p *program) export(c *cli.Context) (err error) {
	o, err := exportOptions(c)
	if err != nil {
		return err
	}
	if c.String("out") == "" {
		return command.UsageError("missing_flag", "missing --out DIR, the folder for the files")
	}
	set, err := p.One(c)
	if err != nil {
		return err
	}
	folder, release, err := p.Host(c).OpenTables(set, c.String("out"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if o.Jobs == 0 {
		o.Jobs = config.ExportJobs(set.Memory)
	}
	var heap int64
	set.Memory, o.Memory, heap = config.DivideExport(set.Memory, o.Jobs)
	defer daemon.RaiseMemory(heap)()
	began := p.Now()
	result, err := p.exportOnce(c, set, folder, o)
	if err == nil && c.Bool("follow") {
		err = p.followExport(c, set, folder, o, result)
	}
	if err != nil {
		if c.Context.Err() != nil && errors.Is(err, context.Canceled) {
			return model.Errorf(model.Internal, "interrupted", "interrupted: the finished files are listed in %s; run the same "+
				"command to continue", export.ManifestName)
		}
		return err
	}
	a := exportAnswer{Result: result, Out: c.String("out"), Seconds: p.Now().Sub(began).Seconds()}
	return p.Answer(nil, a, func(page *terminal.Page) { showExport(page, &a) })
}

// exportOnce exports up to the tip and shows the progress.
func (p *program) exportOnce(c *cli.Context, set *config.Chain, folder export.Folder, o export.Options) (result *export.Result, err error) {
	var last atomic.Pointer[export.Progress]
	last.Store(&export.Progress{})
	o.Progress = func(now export.Progress) { last.Store(&now) }
	began := p.Now()
	stop := p.Watch("export", func() progress.Reading { return exportReading(last.Load(), p.Now().Sub(began)) })
	defer stop()
	opened := *set // opening adds the definitions stored in the database
	err = p.ReadChain(c, &opened, core.Options{}, func(db *daemon.Database) error {
		result, err = db.Export(c.Context, folder, o)
		return err
	})
	return result, err
}

// exportPoll is how often the files of the database are checked with --follow.
const exportPoll = time.Second

// followExport exports after each change of the database, until Ctrl-C. result gets the last result.
func (p *program) followExport(c *cli.Context, set *config.Chain, folder export.Folder, o export.Options, result *export.Result) error {
	dir, err := daemon.ExistingFolder(set)
	if err != nil {
		return err
	}
	seen := ""
	for {
		now, err := daemon.Written(dir)
		if err != nil {
			return err
		}
		pause := exportPoll
		if now != seen {
			began := p.Now()
			r, err := p.exportOnce(c, set, folder, o)
			if err != nil {
				if c.Context.Err() != nil {
					return nil // the next run continues
				}
				return err
			}
			if seen = now; r.Written > 0 {
				p.Log.Info("exported", "height", r.Tip.Height, "rows", r.Rows, "parts", r.Written)
			}
			*result = *r
			pause = max(pause, daemon.ReopenPart*p.Now().Sub(began))
		}
		select {
		case <-time.After(pause):
		case <-c.Context.Done():
			return nil
		}
	}
}

// exportReading returns the progress of an export.
func exportReading(now *export.Progress, since time.Duration) progress.Reading {
	r := progress.Reading{Done: now.Txs, Total: now.AllTxs}
	seconds := since.Seconds()
	if seconds <= 0 || now.Rows == 0 {
		return r
	}
	r.Rates = []progress.Rate{{Name: "rows", PerSecond: float64(now.Rows) / seconds}}
	if left := now.AllTxs - min(now.AllTxs, now.Txs); left > 0 && now.Txs > now.Skipped {
		r.Left = time.Duration(float64(left) / float64(now.Txs-now.Skipped) * float64(since))
	}
	return r
}

// exportAnswer is the answer of export.
type exportAnswer struct {
	*export.Result
	Out     string  `json:"out"`
	Seconds float64 `json:"seconds"`
}

func showExport(p *terminal.Page, a *exportAnswer) {
	tip := "none: the database has no blocks yet"
	if a.Tip != nil {
		tip = humanize.Count(a.Tip.Height) + "  " + a.Tip.Hash + "  " + humanize.Clock(a.Tip.Time)
	}
	p.Fields(
		"exported to", terminal.Green(a.Out),
		"chain", a.Chain+" "+a.Network,
		"tip", tip,
		"written", humanize.Plural(a.Rows, "row")+", "+humanize.Bytes(int64(a.Bytes)),
		"seconds", strconv.FormatFloat(a.Seconds, 'f', 1, 64),
	)
	p.Heading("tables")
	terminal.Table(p, a.Tables, []string{"table", "files", "rows", "size"}, func(_ int, t export.TableSize) terminal.Cells {
		return terminal.Cells{terminal.Green(t.Table), t.Files, t.Rows, humanize.Bytes(int64(t.Bytes))}
	})
}
