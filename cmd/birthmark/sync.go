package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"birthmark/cmd/birthmark/settings"
	"birthmark/core"
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
	db, src, err := p.openSync(c, set, to)
	if ended := c.Context.Err(); ended != nil && errors.Is(err, ended) {
		return model.Errorf(model.BadSource, "stopped", "stopped before the source answered")
	}
	if err != nil {
		return err
	}
	blocks := &blockSync{program: p, c: c, set: set, db: db, src: src, has: db.Indexes(), to: to}
	defer func() { err = errors.Join(err, blocks.Close(), db.Close()) }()
	if !set.WAL {
		p.log.Warn("the write-ahead log is off: faster, and a crash or a power cut takes the database back to an earlier block, whole, from which the next sync goes on")
	}
	if err := p.tellOfOthers(c.Context, set, db); err != nil {
		return err
	}
	before := db.Tip()
	blocks.last.Store(&core.Progress{Height: before.Height})
	s := p.newSession(c, set, db, blocks.run)
	defer func() { err = errors.Join(err, s.Close()) }()
	stop := p.watch("sync", func() reading { return syncReading(blocks.last.Load()) })
	defer stop()
	err = s.run(c.Context)
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
	c    *cli.Context
	set  *settings.Chain
	db   *database
	src  model.Source // nil: to be opened
	has  []string     // the indexes it was opened with
	to   *model.HeightPk
	last atomic.Pointer[core.Progress]
	did  core.Progress // in all runs so far: counts and time
}

func (b *blockSync) run(ctx context.Context) (err error) {
	if b.src == nil {
		if b.src, err = b.source(ctx); err != nil {
			return err
		}
	}
	b.last.Store(&core.Progress{Height: b.db.Tip().Height})
	err = core.Sync(ctx, b.db.DB, b.src, core.SyncOptions{
		Indexes:     b.has,
		To:          b.to,
		WindowBytes: settings.Divide(b.settings.Memory).WindowBytes(),
		Progress:    func(now core.Progress) { b.last.Store(&now) },
		Log:         b.log,
	})
	now := b.last.Load()
	b.did.Blocks += now.Blocks
	b.did.Txs += now.Txs
	b.did.Entities += now.Entities
	b.did.Elapsed += now.Elapsed
	return errors.Join(err, b.Close())
}

// source opens the source anew, for the indexes the database has by now.
func (b *blockSync) source(ctx context.Context) (model.Source, error) {
	known, err := b.db.Locator(ctx)
	if err != nil {
		return nil, err
	}
	b.has = b.db.Indexes()
	return b.openSource(ctx, b.set, b.db.chain, model.SourceOptions{
		Indexes: b.has, Raw: b.db.KeepsRaw(), Known: known, To: b.to, Follow: b.c.Bool("follow"),
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

// openSync opens database and source. A database is made only once its source has answered, so that a wrong source
// leaves nothing behind.
func (p *program) openSync(c *cli.Context, set *settings.Chain, to *model.HeightPk) (*database, model.Source, error) {
	dir, err := folder(set)
	if err != nil {
		return nil, nil, err
	}
	if set.Source == "" {
		return nil, nil, usageError("missing_flag", "missing --source URI, where blocks come from (or source in the settings, or BIRTHMARK_SOURCE)")
	}
	found, err := holdsDatabase(dir)
	if err != nil {
		return nil, nil, err
	}
	if found {
		db, err := p.write(c, set, dir)
		if err != nil {
			return nil, nil, err
		}
		src, err := (&blockSync{program: p, c: c, set: set, db: db, to: to}).source(c.Context)
		if err != nil {
			return nil, nil, errors.Join(err, db.Close())
		}
		return db, src, nil
	}

	chain, err := p.chainOf(set)
	if err != nil {
		return nil, nil, err
	}
	names, err := indexesOf(set, chain)
	if err != nil {
		return nil, nil, err
	}
	blank, err := core.Open(c.Context, memory.New(), core.Options{Chain: chain, Indexes: names, Keep: set.IndexOptions(), Raw: set.Raw})
	if err != nil {
		return nil, nil, err
	}
	src, err := p.openSource(c.Context, set, chain, model.SourceOptions{Indexes: blank.Indexes(), Raw: set.Raw, To: to, Follow: c.Bool("follow")})
	if err != nil {
		return nil, nil, err
	}
	db, err := func() (*database, error) {
		if _, err := src.Tip(c.Context); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, cannotOpen(err)
		}
		return p.write(c, set, dir)
	}()
	if err != nil {
		return nil, nil, errors.Join(err, src.Close())
	}
	return db, src, nil
}

// openSource opens the source that is set, for what o says besides.
func (p *program) openSource(ctx context.Context, set *settings.Chain, chain model.Chain, o model.SourceOptions) (model.Source, error) {
	if _, err := set.ReadPassword(); err != nil {
		return nil, err
	}
	o.URI, o.Password = set.Source, set.ReadPassword
	if o.Memory == 0 {
		o.Memory = settings.Divide(p.settings.Memory).Source
	}
	src, err := chain.Open(ctx, o)
	if err != nil {
		return nil, err // not a source that is a nil of its chain's type
	}
	return src, nil
}

func syncReading(now *core.Progress) reading {
	return reading{
		done: uint64(now.Height), total: uint64(max(now.Target, now.Height)), left: now.Left, bottleneck: now.Bottleneck,
		rates: []rate{{"blocks", now.BlocksPerSecond}, {"txs", now.TxsPerSecond}, {"entities", now.EntitiesPerSecond}},
	}
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
		note = "stopped before its end, as asked: the next sync goes on from here"
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
