package cli

import (
	"errors"
	"slices"
	"sync/atomic"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:        "check",
		Usage:       "check the database for internal consistency",
		Category:    building,
		Description: "Reads every row and changes nothing. The exit status is 1 if there are inconsistencies.",
		Flags:       slices.Concat(databaseFlags(), profileFlags()),
		Action:      profiled(p.check),
	}
}

func (p *program) check(c *cli.Context) (err error) {
	db, err := p.openReading(c, core.Options{Damaged: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return p.checked(db, "check", func(progress func(done, total uint64)) (*check.Result, error) {
		return db.Check(c.Context, check.Options{Progress: progress})
	})
}

// checked runs a check of a database and prints its result.
func (p *program) checked(db *daemon.Database, what string, check func(progress func(done, total uint64)) (*check.Result, error)) error {
	var done, total atomic.Uint64
	pace := progress.NewPace("rows", p.now)
	stop := p.watch(what, func() progress.Reading { return pace.Reading(done.Load(), total.Load()) })
	defer stop()
	a, err := check(func(d, t uint64) {
		done.Store(d)
		total.Store(t)
	})
	if err != nil {
		return err
	}
	stop()
	if err := p.answer(db.Chain(), a, func(pg *page) { pg.check(a) }); err != nil {
		return err
	}
	if !a.OK {
		return model.Errorf(model.Internal, "faults_found", "the check found %s", plural(len(a.Problems), "problem"))
	}
	return nil
}

func (p *page) check(a *check.Result) {
	verdict := cell{"no inconsistencies found", green}
	if !a.OK {
		verdict = cell{"inconsistencies found", red}
	}
	fields := []field{{"check", verdict}}
	if a.Blocks > 0 { // a check of one index reads no blocks
		fields = append(fields, field{"blocks", text(count(a.Blocks))})
	}
	p.fields(append(fields, field{"rows", text(count(a.Rows))})...)
	if len(a.Problems) == 0 {
		return
	}
	p.heading(plural(len(a.Problems), "problem"))
	var rows [][]cell
	for _, f := range a.Problems {
		rows = append(rows, []cell{text(f.Family), {f.Key, faint}, {f.Problem, red}})
	}
	p.table([]column{{name: "family"}, {name: "key"}, {name: "problem"}}, rows)
}
