package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/humanize"
	"birthmark/internal/progress"
	"birthmark/model"
)

func (p *program) rawCommand() *cli.Command {
	return &cli.Command{
		Name:     "raw",
		Usage:    "add the places of raw transactions in the block files of a node",
		Category: building,
		Flags: slices.Concat([]cli.Flag{
			command.Bool("add", "add the places of all blocks that have none"),
			command.Bool("again", "with --add: find the places of all blocks again, after the files were replaced"),
		}, command.SourceFlags("`URI` of the block files: file:///path/blocks"), command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.raw),
	}
}

// rawAnswer is the answer of raw --add.
type rawAnswer struct {
	Chain   string `json:"chain"`
	Network string `json:"network"`
	Added   int    `json:"added"`   // places of blocks
	Missing int    `json:"missing"` // blocks that the files do not have
	Stopped bool   `json:"stopped"` // interrupted by a signal
}

func (p *program) raw(c *cli.Context) (err error) {
	if !c.Bool("add") {
		return command.UsageError("missing_flag", "missing --add: birthmark raw --add is the only form; birthmark tx --raw prints a transaction")
	}
	set, err := p.One(c)
	if err != nil {
		return err
	}
	if set.Source == "" || strings.Contains(set.Source, "://") && !strings.HasPrefix(set.Source, "file://") {
		return command.UsageError("missing_flag", "missing --source URI, the block files of the node, such as file:///var/lib/bitcoind/blocks")
	}
	set.Indexes, set.Raw = nil, config.RawOff // open the database with its stored options
	h := p.Host(c)
	db, err := h.OpenWriting(c.Context, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	var at atomic.Uint64
	tip := db.Tip().Height
	pace := progress.NewPace("blocks", p.Now)
	stop := p.Watch("raw", func() progress.Reading { return pace.Reading(at.Load(), uint64(tip)) })
	defer stop()
	added, err := h.AddRawFiles(c.Context, set, db, c.Bool("again"), func(height model.HeightPk) { at.Store(uint64(height)) })
	stopped := err != nil && c.Context.Err() != nil && errors.Is(err, c.Context.Err())
	if err != nil && !stopped {
		return err
	}
	stop()
	status, err := db.Status(context.WithoutCancel(c.Context))
	if err != nil {
		return err
	}
	a := rawAnswer{Chain: db.Chain().Name(), Network: db.Chain().Network(), Added: added, Stopped: stopped}
	places, err := db.Places(context.WithoutCancel(c.Context))
	if err != nil {
		return err
	}
	a.Missing = int(status.Totals.Blocks - places)
	if stopped {
		p.Log.Warn("interrupted; run the same command to resume")
	}
	return p.Answer(db.Chain(), a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain+" "+a.Network),
			"places added", humanize.Plural(a.Added, "block"),
			"without a place", humanize.Plural(a.Missing, "block"),
		)
	})
}
