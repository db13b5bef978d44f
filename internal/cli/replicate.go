package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/internal/replica"
	"birthmark/internal/textfile"
	"birthmark/model"
)

func (p *program) replicateCommand() *cli.Command {
	return &cli.Command{
		Name:     "replicate",
		Usage:    "keep a copy of another server's database up to date from its segments, without a node",
		Category: building,
		Flags: slices.Concat([]cli.Flag{
			command.String("from", "`URL` of the chain on the primary, http://HOST:PORT/v1/CHAIN, or the folder or bucket of its segments.to"),
			command.String("key-file", "`FILE` with the API key of the primary"),
			command.String("serve", "also serve the replica over HTTP at `ADDRESS`"),
			command.String("bootstrap", "restore a missing database from the snapshots of the primary at `URL`"), command.TrustFlag(),
			command.Bool("once", "apply the segments that exist, then exit"),
			command.Bool("promote", "make the replica a database of its own, which can be synced from a source"),
			command.StringDefault("wal", "write-ahead log, `on|off`; off is faster, but a crash loses the newest segments, which are applied again", "on"),
			command.CompressionFlag(),
		}, command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.replicate),
	}
}

type replicateAnswer struct {
	Chain    string           `json:"chain"`
	Network  string           `json:"network"`
	Tip      *query.TipAnswer `json:"tip"` // null: no block yet
	Primary  string           `json:"primary"`
	Seq      uint64           `json:"seq"`      // the last update
	Segments uint64           `json:"segments"` // applied by this run
	Stopped  bool             `json:"stopped"`  // interrupted by a signal
}

// promoteAnswer is the answer of --promote.
type promoteAnswer struct {
	Lineage string `json:"lineage"`
	Seq     uint64 `json:"seq"` // the first update of the lineage
}

func (p *program) replicate(c *cli.Context) (err error) {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	set.Source, set.Segments.To = "", ""
	h := p.Host(c)
	if c.Bool("promote") {
		return p.promote(c, h, set)
	}
	from := c.String("from")
	if from == "" {
		return command.UsageError("missing_flag", "missing --from URL, where the segments come from")
	}
	if c.Bool("once") && c.IsSet("serve") {
		return command.UsageError("bad_value", "--once with --serve: a replica that is served follows its primary")
	}
	feed, err := p.feed(c, set, from)
	if err != nil {
		return err
	}
	var server *daemon.Server // nil: none
	if c.IsSet("serve") {
		if server, err = h.Listen(p.Settings, c.String("serve")); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
		if err := daemon.ReserveMempool(set); err != nil {
			return err
		}
	}
	r, err := h.OpenReplica(c.Context, set, from, feed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	control, err := r.Control()
	if err != nil {
		p.Log.Warn("cannot create the control socket: birthmark status will not show the lag", "error", err)
	} else {
		defer func() { err = errors.Join(err, control.Close()) }()
	}
	stop := p.Watch("replicate", r.Reading)
	defer stop()
	if server != nil {
		err = server.ServeReplica(c.Context, r)
	} else {
		err = r.Run(c.Context, !c.Bool("once"))
	}
	stopped := err != nil && c.Context.Err() != nil && errors.Is(err, c.Context.Err())
	if err != nil && !stopped {
		return err
	}
	stop()
	return p.answerReplicate(r, stopped)
}

// feed opens the source of the segments.
func (p *program) feed(c *cli.Context, set *config.Chain, from string) (replica.Feed, error) {
	key := ""
	if path := c.String("key-file"); path != "" {
		text, err := textfile.Read(path)
		if err != nil {
			return nil, command.UsageError("bad_value", "--key-file: %w", err)
		}
		key = string(text)
	}
	feed, err := daemon.OpenFeed(set, from, key)
	if err != nil {
		return nil, daemon.At("--from", err)
	}
	return feed, nil
}

func (p *program) answerReplicate(r *daemon.Replica, stopped bool) error {
	status, err := r.DB.Status(context.Background()) // also after an interrupt
	if err != nil {
		return err
	}
	state := r.State()
	a := replicateAnswer{
		Chain: r.DB.Chain().Name(), Network: r.DB.Chain().Network(), Tip: status.Tip, Primary: state.Primary, Seq: state.Seq,
		Segments: r.Applied(), Stopped: stopped,
	}
	if stopped {
		fmt.Fprintln(p.Stderr, "birthmark: interrupted; run the same command to resume")
	}
	return p.Answer(r.DB.Chain(), a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain+" "+a.Network),
			"tip", command.TipCell(status.Tip),
			"primary", a.Primary,
			"update", humanize.Count(a.Seq),
			"segments", humanize.Count(a.Segments),
		)
	})
}

// promote turns a replica into an independent database.
func (p *program) promote(c *cli.Context, h *daemon.Host, set *config.Chain) error {
	for _, flag := range []string{"from", "serve", "once"} {
		if c.IsSet(flag) {
			return command.UsageError("bad_value", "--promote with --%s: promote the replica first", flag)
		}
	}
	at, err := h.PromoteReplica(c.Context, set)
	if err != nil {
		return err
	}
	a := promoteAnswer{fmt.Sprintf("%x", at.Lineage[:]), at.Seq}
	return p.Answer(model.Chain(nil), a, func(page *terminal.Page) {
		page.Fields("lineage", a.Lineage, "update", humanize.Count(a.Seq))
	})
}
