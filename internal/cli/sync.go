package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/model"
	"birthmark/storage/memory"

	"github.com/urfave/cli/v2"
)

func (p *program) syncCommand() *cli.Command {
	return &cli.Command{
		Name:     "sync",
		Usage:    "bring a database to the tip of a source, making it where there is none",
		Category: building,
		Description: "Goes on where it stopped. SIGINT and SIGTERM end it at the end of a window of blocks, the second one at once;\n" +
			"the database is whole either way. Indexes that are being added or dropped are gone on with beside the blocks.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "source", Usage: "where blocks come from, a `URI`: http://node, p2p://peer, tcp://relay:3001, unix:///path/node.socket, file:///path/blocks"},
			&cli.StringFlag{Name: "password-file", Usage: "`FILE` with the source's password, or user:password as a node's cookie has it"},
			&cli.StringFlag{Name: "to-height", Usage: "end with block `H`"},
			&cli.BoolFlag{Name: "follow", DisableDefaultText: true, Usage: "stay at the tip and follow the source"},
			&cli.StringFlag{Name: "serve", Usage: "answer over HTTP at `ADDRESS` meanwhile, as birthmark serve does, until the sync ends"},
			&cli.StringFlag{Name: "wal", Usage: "write-ahead log, `on|off`; off is faster, and a crash then falls back to an earlier block", DefaultText: "on"},
			compressionFlag(),
			indexFlag(), rawFlag(),
		}, databaseFlags(), profileFlags()),
		Action: profiled(p.sync),
	}
}

func (p *program) sync(c *cli.Context) (err error) {
	set, err := p.one(c)
	if err != nil {
		return err
	}
	to, err := heightFlag(c, "to-height")
	if err != nil {
		return err
	}
	var at *server // nil: none
	if c.IsSet("serve") {
		if at, err = p.listen(c.String("serve")); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, at.close()) }()
	}
	blocks := &blockSync{program: p, set: set, to: to, follow: c.Bool("follow")}
	err = blocks.open(c)
	if ended := c.Context.Err(); ended != nil && errors.Is(err, ended) {
		return model.Errorf(model.BadSource, "stopped", "stopped before the source answered")
	}
	if err != nil {
		return err
	}
	db := blocks.db
	defer func() { err = errors.Join(err, blocks.Close(), db.Close()) }()
	if err := p.tellOfSettings(c.Context, set, db); err != nil {
		return err
	}
	before := db.Tip()
	blocks.last.Store(&core.Progress{Height: before.Height})
	run := func(s *session) error { return s.run(c.Context) }
	if at != nil {
		run = func(s *session) error { return at.beside(c.Context, s, blocks) }
	}
	s := p.newSession(c, set, db, blocks.run)
	defer func() { err = errors.Join(err, s.Close()) }()
	stop := p.watch("sync", func() reading { return syncReading(blocks.last.Load()) })
	defer stop()
	err = run(s)
	stopped := err != nil && c.Context.Err() != nil && errors.Is(err, c.Context.Err())
	if err != nil && !stopped {
		return err
	}
	stop()
	return p.syncAnswer(db, &blocks.did, before, to, stopped)
}

// blockSync brings blocks into a database. It may be interrupted and go on, with another source for other indexes.
type blockSync struct {
	*program
	set     *config.Chain
	db      *database
	src     model.Source // nil: to be opened
	has     []string     // the indexes it was opened with
	to      *model.HeightPk
	follow  bool
	patient bool                  // the source is waited for, whatever it fails for
	shown   atomic.Pointer[shown] // where the database is served; nil: nowhere
	last    atomic.Pointer[core.Progress]
	did     core.Progress // in all runs so far: counts and time
}

func (b *blockSync) run(ctx context.Context) (err error) {
	if b.src == nil {
		if b.src, err = b.source(ctx); err != nil {
			return err
		}
	}
	b.last.Store(&core.Progress{Height: b.db.Tip().Height, Target: b.last.Load().Target})
	err = core.Sync(ctx, b.db.DB, b.src, core.SyncOptions{
		Indexes:     b.has,
		To:          b.to,
		WindowBytes: config.Divide(b.set.Memory).WindowBytes(),
		Progress:    b.come,
		Log:         b.log,
	})
	now := b.last.Load()
	b.did.Blocks += now.Blocks
	b.did.Txs += now.Txs
	b.did.Entities += now.Entities
	b.did.Elapsed += now.Elapsed
	return errors.Join(err, b.Close())
}

// come is told how far the blocks are.
func (b *blockSync) come(now core.Progress) {
	b.last.Store(&now)
	if s := b.shown.Load(); s != nil {
		s.came(now)
	}
}

// waits is told of what the source waits out.
func (b *blockSync) waits(err error) {
	if s := b.shown.Load(); s != nil {
		s.fails(err)
	}
}

// source opens the source anew, for the indexes the database has by now.
func (b *blockSync) source(ctx context.Context) (model.Source, error) {
	known, err := b.db.Locator(ctx)
	if err != nil {
		return nil, err
	}
	b.has = b.db.Indexes()
	return b.openSource(ctx, b.set, b.db.chain, model.SourceOptions{
		Indexes: b.has, Raw: b.db.KeepsRaw(), Known: known, Header: b.db.Header, To: b.to, Follow: b.follow, Outage: b.waits,
	})
}

// Close closes the source, where one is open.
func (b *blockSync) Close() error {
	if b.src == nil {
		return nil
	}
	err := b.src.Close()
	b.src = nil
	return err
}

// open opens database and source. A database is made only once its source has answered, or where it is patient could be, so that
// a wrong source leaves nothing behind.
func (b *blockSync) open(c *cli.Context) error {
	dir, err := folder(b.set)
	if err != nil {
		return err
	}
	if b.set.Source == "" {
		return usageError("missing_flag", "missing --source URI, where blocks come from (or source in the settings, or BIRTHMARK_SOURCE)")
	}
	found, err := holdsDatabase(dir)
	if err != nil {
		return err
	}
	if found {
		if b.db, err = b.write(c, b.set, dir); err != nil {
			return err
		}
		if b.src, err = b.source(c.Context); err != nil && !b.heals(err) {
			return errors.Join(err, b.db.Close())
		}
		return nil
	}

	chain, err := b.chainOf(b.set)
	if err != nil {
		return err
	}
	names, err := indexesOf(b.set, chain)
	if err != nil {
		return err
	}
	blank, err := core.Open(c.Context, memory.New(), core.Options{Chain: chain, Indexes: names, Keep: b.set.IndexOptions(), Raw: b.set.Raw})
	if err != nil {
		return err
	}
	b.has = blank.Indexes()
	b.src, err = b.openSource(c.Context, b.set, chain, model.SourceOptions{Indexes: b.has, Raw: b.set.Raw, To: b.to, Follow: b.follow, Outage: b.waits})
	if err != nil && !b.heals(err) {
		return err
	}
	b.db, err = func() (*database, error) {
		if !b.patient {
			if _, err := b.src.Tip(c.Context); err != nil {
				return nil, err
			}
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, cannotOpen(err)
		}
		return b.write(c, b.set, dir)
	}()
	if err != nil {
		return errors.Join(err, b.Close())
	}
	b.has = b.db.Indexes()
	return nil
}

// heals reports whether a source that failed for err is tried again.
func (b *blockSync) heals(err error) bool {
	kind, _ := core.Classify(err)
	return b.patient && kind == model.BadSource
}

// openSource opens the source that is set, for what o says besides.
func (p *program) openSource(ctx context.Context, set *config.Chain, chain model.Chain, o model.SourceOptions) (model.Source, error) {
	if _, err := set.ReadPassword(); err != nil {
		return nil, err
	}
	o.URI, o.Password = set.Source, set.ReadPassword
	if o.Memory == 0 {
		o.Memory = config.Divide(set.Memory).Source
	}
	src, err := chain.Open(ctx, o)
	if err != nil {
		return nil, err // not a source that is a nil of its chain's type
	}
	return src, nil
}

func syncReading(now *core.Progress) reading {
	r := reading{
		done: uint64(now.Height), total: uint64(max(now.Target, now.Height)), left: now.Left, bottleneck: now.Bottleneck,
		rates: []rate{{"blocks", now.BlocksPerSecond}, {"txs", now.TxsPerSecond}, {"entities", now.EntitiesPerSecond}},
	}
	switch {
	case now.Compacting:
		r.phase = "compacting the database (safe to interrupt)"
	case r.done == r.total && r.total > 0:
		r.phase = "at the tip"
	}
	return r
}

// syncAnswer is what a sync did.
type syncAnswer struct {
	Chain    string          `json:"chain"`
	Network  string          `json:"network"`
	Tip      *core.TipAnswer `json:"tip"` // null: no block yet
	Blocks   uint64          `json:"blocks"`
	Txs      uint64          `json:"txs"`
	Entities uint64          `json:"entities"`
	Seconds  float64         `json:"seconds"`
	Stopped  bool            `json:"stopped"` // by a signal, before its end
}

func (p *program) syncAnswer(db *database, did *core.Progress, before model.Point, to *model.HeightPk, stopped bool) error {
	tip, err := tipOf(db)
	if err != nil {
		return err
	}
	a := syncAnswer{
		Chain: db.chain.Name(), Network: db.chain.Network(), Tip: tip,
		Blocks: did.Blocks, Txs: did.Txs, Entities: did.Entities, Seconds: did.Elapsed.Seconds(), Stopped: stopped,
	}
	note := ""
	switch {
	case stopped:
		note = "interrupted; run the same command to resume"
	case to != nil && before.Height > *to:
		note = fmt.Sprintf("the database was above block %s already: birthmark rollback removes blocks", count(*to))
	case to != nil && (tip == nil || tip.Height < uint32(*to)):
		note = fmt.Sprintf("the source has no block %s yet", count(*to))
	}
	if note != "" {
		fmt.Fprintln(p.stderr, "birthmark:", note)
	}
	return p.answer(db.chain, a, func(pg *page) {
		pg.fields(append(tipFields(a.Chain, a.Network, tip),
			field{"blocks", text(count(a.Blocks) + perSecond(did.Blocks, did.Elapsed))},
			field{"transactions", text(count(a.Txs) + perSecond(did.Txs, did.Elapsed))},
			field{"entities", text(count(a.Entities) + perSecond(did.Entities, did.Elapsed))},
			field{"time", text(did.Elapsed.Round(time.Millisecond).String())},
		)...)
	})
}

func perSecond(n uint64, in time.Duration) string {
	if n == 0 || in <= 0 {
		return ""
	}
	return fmt.Sprintf("  (%s/s)", count(uint64(float64(n)/in.Seconds())))
}

// tipOf is the database's tip, also after the command was told to stop.
func tipOf(db *database) (*core.TipAnswer, error) {
	status, err := db.Status(context.Background())
	if err != nil {
		return nil, err
	}
	return status.Tip, nil
}

// tipFields are what a command that wrote says of the database first.
func tipFields(chain, network string, tip *core.TipAnswer) []field {
	return []field{{"chain", cell{chain + " " + network, green}}, {"tip", tipCell(tip)}}
}

func tipCell(tip *core.TipAnswer) cell {
	if tip == nil {
		return cell{"none: no block was synced yet", yellow}
	}
	return text(fmt.Sprintf("%s  %s  %s", count(tip.Height), tip.Hash, clock(tip.Time)))
}
