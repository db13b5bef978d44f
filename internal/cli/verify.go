package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/verify"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"
	"birthmark/model"
)

func (p *program) verifyCommand() *cli.Command {
	return &cli.Command{
		Name:     "verify",
		Usage:    "compare the index with a source, sampling blocks",
		Category: building,
		Description: "Checks that the tip is on the chain of the source, compares the first, the last and random blocks completely, and compares\n" +
			"the unspent outputs if the node counts them. Changes nothing and can run during a sync. The exit status is 1 if there are\n" +
			"differences.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "source", Usage: "`URI` of the source, such as http://127.0.0.1:8332 or file:///path/blocks"},
			&cli.StringFlag{Name: "password-file", Usage: "`FILE` with the password of the source, or user:password: a node's .cookie file"},
			&cli.StringFlag{Name: "sample", Usage: "compare `N` random blocks", DefaultText: strconv.Itoa(verify.DefaultSample)},
			&cli.StringFlag{Name: "seed", Usage: "`SEED` of the random choice", DefaultText: "random"},
		}, databaseFlags(), profileFlags()),
		Action: profiled(p.verify),
	}
}

func (p *program) verify(c *cli.Context) (err error) {
	o := verify.Options{Sample: verify.DefaultSample, Seed: uint64(rand.Uint32())}
	if c.IsSet("sample") {
		if o.Sample, err = strconv.Atoi(c.String("sample")); err != nil || o.Sample < 0 || o.Sample > model.MaxHeight {
			return badValue(c, "sample", "a number from 0 to %d", model.MaxHeight)
		}
	}
	if c.IsSet("seed") {
		if o.Seed, err = strconv.ParseUint(c.String("seed"), 10, 64); err != nil {
			return badValue(c, "seed", "a number from 0 to %d", uint64(1<<64-1))
		}
	}
	set, err := p.one(c)
	if err != nil {
		return err
	}
	if set.Source == "" {
		return usageError("missing_flag", "missing --source URI to compare with (or source in the settings, or BIRTHMARK_SOURCE)")
	}
	db, err := p.host(c).OpenReading(c.Context, set, core.Options{Damaged: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// The source gets no blocks of the database: it must determine the chain independently.
	src, err := p.host(c).OpenSource(c.Context, set, db.Chain(), model.SourceOptions{Indexes: db.Indexes(), Raw: db.KeepsRaw()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	a, err := p.compare(c.Context, db, src, o)
	if err != nil {
		return err
	}
	if err := p.answer(db.Chain(), a, func(pg *page) { pg.verify(a) }); err != nil {
		return err
	}
	if !a.OK {
		return model.Errorf(model.Internal, "differences_found", "the database differs from the source: %s", plural(uint64(len(a.Differences))+a.More, "difference"))
	}
	return nil
}

func (p *program) compare(ctx context.Context, db *daemon.Database, src model.Source, o verify.Options) (*verify.Result, error) {
	var done, total atomic.Uint64
	o.Progress = func(d, t uint64) {
		done.Store(d)
		total.Store(t)
	}
	pace := progress.NewPace("blocks", p.now)
	stop := p.watch("verify", func() progress.Reading { return pace.Reading(done.Load(), total.Load()) })
	defer stop()
	return db.DB.Verify(ctx, src, o)
}

func (p *page) verify(a *verify.Result) {
	verdict := cell{"OK: the index matches the source", green}
	if !a.OK {
		verdict = cell{"differences found", red}
	}
	pointText := func(at verify.Point) cell { return text(fmt.Sprintf("%s  %s", count(at.Height), at.Hash)) }
	note := ""
	switch {
	case a.PartsAt != nil:
		note = fmt.Sprintf("the chains differ from block %s: only the blocks below were compared", count(*a.PartsAt))
	case a.Behind > 0:
		note = fmt.Sprintf("the source is %s ahead", plural(a.Behind, "block"))
	case a.Ahead > 0:
		note = fmt.Sprintf("the source ends %s below the tip: these blocks were not compared", plural(a.Ahead, "block"))
	}
	p.fields(
		field{"verify", verdict},
		field{"chain", text(a.Chain + " " + a.Network)},
		field{"tip", pointText(a.Tip)},
		field{"source's tip", pointText(a.SourceTip)},
		field{"note", cell{note, yellow}},
		field{"blocks", text(count(a.Blocks) + "  (seed " + strconv.FormatUint(a.Seed, 10) + ")")},
		field{"transactions", text(count(a.Txs))},
		field{"inputs", text(count(a.Inputs))},
		field{"outputs", text(count(a.Outputs))},
		field{"unspent", text(p.unspent(a.Unspent))},
	)
	if len(a.Differences) == 0 {
		return
	}
	p.heading(plural(uint64(len(a.Differences))+a.More, "difference"))
	var rows [][]cell
	for _, d := range a.Differences {
		what := d.What
		if d.Tx != "" && !strings.Contains(d.Source, d.Tx) {
			what += " of " + d.Tx
		}
		rows = append(rows, []cell{text(count(d.Height)), text(what), text(orNone(d.Source)), {orNone(d.Database), red}})
	}
	p.table([]column{{"block", true}, {name: "what"}, {name: "source"}, {name: "database"}}, rows)
	if a.More > 0 {
		p.printf("and %s more\n", count(a.More))
	}
}

// unspent returns the comparison of unspent outputs in one line.
func (p *page) unspent(u *verify.Unspent) string {
	switch {
	case u == nil:
		return "not compared: the source does not count them"
	case !u.Compared:
		return "not compared: " + u.Reason
	}
	side := func(s *verify.Count) string {
		return plural(s.Outputs, "output") + ", " + p.unit.Amount(s.Value)
	}
	line := side(u.Source) + " according to the source"
	switch {
	case u.More.Outputs < 0 || strings.HasPrefix(u.More.Value, "-"):
		line += "; the database has only " + side(u.Database)
	case u.More.Outputs > 0 || u.More.Value != "0":
		line += "; " + side(u.More) + " more in the database: nodes omit outputs that can never be spent"
	}
	return line
}

// orNone returns a side of a difference, or none if it is empty.
func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
