package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/model"
)

func (p *program) syncCommand() *cli.Command {
	return &cli.Command{
		Name:     "sync",
		Usage:    "index blocks from a source up to its tip; creates the database if needed",
		Category: building,
		Flags: slices.Concat(
			command.SourceFlags("`URI` of the source: http://node, p2p://peer, tcp://relay:3001, "+
				"unix:///path/node.socket, file:///path/blocks"),
			[]cli.Flag{
				command.String("to-height", "stop after block `H`"),
				command.Bool("follow", "continue at the tip and follow the source"),
				command.String("serve", "also serve the database over HTTP at `ADDRESS` until the sync ends"),
			}, command.WriteFlags(), command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.sync),
	}
}

func (p *program) sync(c *cli.Context) (err error) {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	to, err := command.Height(c, "to-height")
	if err != nil {
		return err
	}
	h := p.Host(c)
	var server *daemon.Server // nil: none
	if c.IsSet("serve") {
		if server, err = h.Listen(p.Settings, c.String("serve")); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		if err := daemon.ReserveMempool(set); err != nil {
			return err
		}
		if err := set.ReserveWatch(); err != nil {
			return err
		}
	}
	blocks := h.NewBlockSync(set, to, c.Bool("follow"))
	blocks.Served = server != nil
	opened := p.Watch("sync", blocks.Reading)
	err = blocks.Open(c.Context)
	opened()
	if ended := c.Context.Err(); ended != nil && errors.Is(err, ended) {
		return model.Errorf(model.BadSource, "stopped", "interrupted before the source answered")
	}
	if err != nil {
		return err
	}
	db := blocks.DB
	defer func() { err = errors.Join(err, blocks.Close(), db.Close()) }()
	if err := h.LogSettings(c.Context, set, db); err != nil {
		return err
	}
	if set.Origin("db") == "" {
		fmt.Fprintln(p.Stderr, "birthmark: the database is in", db.Dir)
	}
	before := db.Tip()
	s := h.NewSession(set, db, blocks.Run)
	s.SyncProgress = blocks.Progress
	defer func() { err = errors.Join(err, s.Close()) }()
	stop := p.Watch("sync", blocks.Reading)
	defer stop()
	if server != nil {
		err = server.ServeDuring(c.Context, s, blocks)
	} else {
		err = s.Run(c.Context)
	}
	stopped := err != nil && c.Context.Err() != nil && errors.Is(err, c.Context.Err())
	if err != nil && !stopped {
		return err
	}
	stop()
	return p.answerSync(db, blocks.Total(), before, to, stopped)
}

type syncAnswer struct {
	Chain    string           `json:"chain"`
	Network  string           `json:"network"`
	Tip      *query.TipAnswer `json:"tip"` // null: no block yet
	Blocks   uint64           `json:"blocks"`
	Txs      uint64           `json:"txs"`
	Entities uint64           `json:"entities"`
	Seconds  float64          `json:"seconds"`
	Stopped  bool             `json:"stopped"` // interrupted by a signal
}

func (p *program) answerSync(
	db *daemon.Database, did core.Progress, before model.Point, to *model.HeightPk, stopped bool,
) error {
	tip, err := tipOf(db)
	if err != nil {
		return err
	}
	a := syncAnswer{
		Chain: db.Chain().Name(), Network: db.Chain().Network(), Tip: tip,
		Blocks: did.Blocks, Txs: did.Txs, Entities: did.Entities, Seconds: did.Elapsed.Seconds(), Stopped: stopped,
	}
	note := ""
	switch {
	case stopped:
		note = "interrupted; run the same command to resume"
	case to != nil && before.Height > *to:
		note = fmt.Sprintf("the database is already above block %s; birthmark rollback removes blocks", humanize.Count(*to))
	case to != nil && (tip == nil || tip.Height < uint32(*to)):
		note = fmt.Sprintf("the source has no block %s yet", humanize.Count(*to))
	}
	if note != "" {
		fmt.Fprintln(p.Stderr, "birthmark:", note)
	}
	return p.Answer(db.Chain(), a, func(page *terminal.Page) {
		if did.Blocks == 0 && note == "" {
			page.Fields("chain", terminal.Green(a.Chain+" "+a.Network), "tip", command.TipCell(tip), "blocks", "none: already at the tip of the source")
			return
		}
		page.Fields(
			"chain", terminal.Green(a.Chain+" "+a.Network),
			"tip", command.TipCell(tip),
			"blocks", terminal.Rate(did.Blocks, did.Elapsed),
			"transactions", terminal.Rate(did.Txs, did.Elapsed),
			"entities", terminal.Rate(did.Entities, did.Elapsed),
			"time", did.Elapsed.Round(time.Millisecond).String(),
		)
	})
}

// tipOf returns the tip of the database, also after an interrupt.
func tipOf(db *daemon.Database) (*query.TipAnswer, error) {
	status, err := db.Status(context.Background())
	if err != nil {
		return nil, err
	}
	return status.Tip, nil
}
