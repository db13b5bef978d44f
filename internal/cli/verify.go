package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/verify"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
	"birthmark/model"
)

func (p *program) verifyCommand() *cli.Command {
	return &cli.Command{
		Name:     "verify",
		Usage:    "compare the index with a source, sampling blocks",
		Category: building,
		Flags: slices.Concat(command.SourceFlags("`URI` of the source, such as http://127.0.0.1:8332 or file:///path/blocks"), []cli.Flag{
			command.StringDefault("sample", "compare `N` random blocks", strconv.Itoa(verify.DefaultSample)),
			command.StringDefault("seed", "`SEED` of the random choice", "random"),
		}, command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.verify),
	}
}

func (p *program) verify(c *cli.Context) (err error) {
	sample, err := command.Number(c, "sample", verify.DefaultSample, 0, model.MaxHeight)
	if err != nil {
		return err
	}
	seed, err := command.Number(c, "seed", uint64(rand.Uint32()), 0, math.MaxUint64)
	if err != nil {
		return err
	}
	set, err := p.One(c)
	if err != nil {
		return err
	}
	if set.Source == "" {
		return command.UsageError("missing_flag",
			"missing --source URI to compare with (or source in the settings, or BIRTHMARK_SOURCE)")
	}
	db, err := p.Host(c).OpenReading(c.Context, set, core.Options{Damaged: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// The source gets no blocks of the database: it must determine the chain independently.
	o := model.SourceOptions{Indexes: db.Indexes(), Raw: db.KeepsRaw()}
	src, err := p.Host(c).OpenSource(c.Context, set, db.Chain(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	advance, stop := p.WatchCount("verify", "blocks")
	defer stop()
	a, err := db.DB.Verify(c.Context, src, verify.Options{Sample: int(sample), Seed: seed, Progress: advance})
	if err != nil {
		return err
	}
	stop()
	if err := p.Answer(db.Chain(), a, func(page *terminal.Page) { showVerify(page, a) }); err != nil {
		return err
	}
	if !a.OK {
		return model.Errorf(model.Internal, "differences_found", "the database differs from the source: %s", differences(a))
	}
	return nil
}

func differences(a *verify.Result) string {
	return humanize.Plural(uint64(len(a.Differences))+a.More, "difference")
}

func showVerify(p *terminal.Page, a *verify.Result) {
	verdict := terminal.Green("OK: the index matches the source")
	if !a.OK {
		verdict = terminal.Red("differences found")
	}
	point := func(at verify.Point) string { return fmt.Sprintf("%s  %s", humanize.Count(at.Height), at.Hash) }
	note := ""
	switch {
	case a.PartsAt != nil:
		note = fmt.Sprintf("the chains differ from block %s: only the blocks below were compared", humanize.Count(*a.PartsAt))
	case a.Behind > 0:
		note = fmt.Sprintf("the source is %s ahead", humanize.Plural(a.Behind, "block"))
	case a.Ahead > 0:
		note = humanize.Plural(a.Ahead, "block") + " above the tip of the source were not compared"
	}
	p.Fields(
		"verify", verdict,
		"chain", a.Chain+" "+a.Network,
		"tip", point(a.Tip),
		"source's tip", point(a.SourceTip),
		"note", terminal.Yellow(note),
		"blocks", fmt.Sprintf("%s  (seed %d)", humanize.Count(a.Blocks), a.Seed),
		"transactions", a.Txs,
		"inputs", a.Inputs,
		"outputs", a.Outputs,
		"unspent", comparedUnspent(p, a.Unspent),
	)
	if len(a.Differences) == 0 {
		return
	}
	p.Heading(differences(a))
	columns := []string{"block", "what", "source", "database"}
	terminal.Table(p, a.Differences, columns, func(_ int, d verify.Difference) terminal.Cells {
		what := d.What
		if d.Tx != "" && !strings.Contains(d.Source, d.Tx) {
			what += " of " + d.Tx
		}
		return terminal.Cells{d.Height, what, cmp.Or(d.Source, "none"), terminal.Red(cmp.Or(d.Database, "none"))}
	})
	if a.More > 0 {
		p.Printf("and %s more\n", humanize.Count(a.More))
	}
}

// comparedUnspent returns the comparison of unspent outputs in one line.
func comparedUnspent(p *terminal.Page, u *verify.Unspent) string {
	switch {
	case u == nil:
		return "not compared: the source does not count them"
	case !u.Compared:
		return "not compared: " + u.Reason
	}
	side := func(s *verify.Count) string {
		return humanize.Plural(s.Outputs, "output") + ", " + p.Amount(s.Value)
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
