package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) statsCommand() *cli.Command {
	by := &cli.StringFlag{Name: "by", Value: "day", Usage: "the numbers of each `block|day|week|month` (UTC; a week begins on Monday)"}
	c := cli.Command{
		Name:      "stats",
		Usage:     "list the numbers of a series of statistics, or without SERIES the series of the database",
		ArgsUsage: "[SERIES]",
		Flags:     slices.Concat([]cli.Flag{by}, shortRangeFlags(), command.OrderedPageFlags("numbers")),
	}
	numbers := listCommand(p, c, func(r *request) (*query.StatisticsAnswer, error) {
		if unit := r.String("by"); !slices.Contains(query.StatisticsUnits, unit) {
			return nil, command.BadValue(r.Context, "by", "%s", strings.Join(query.StatisticsUnits, ", "))
		}
		return r.queries.Statistics(r.ctx, r.arg(0), r.String("by"), r.blocks, r.page)
	}, showStatistics, func(a *query.StatisticsAnswer) ([]query.StatisticAnswer, *string) { return a.Values, a.Next })
	names := listCommand(p, c, func(r *request) (*query.StatisticsNamesAnswer, error) {
		return r.queries.StatisticsNames(r.ctx)
	}, showSeries, func(a *query.StatisticsNamesAnswer) ([]query.StatisticsNameAnswer, *string) { return a.Series, nil })
	list := numbers.Action
	numbers.Action = func(c *cli.Context) error {
		if c.NArg() == 0 {
			return names.Action(c)
		}
		return list(c)
	}
	return numbers
}

// shortRangeFlags are the flags of a range, of which those of times have short names.
func shortRangeFlags() []cli.Flag {
	flags := command.RangeFlags()
	for _, f := range flags {
		if s, ok := f.(*cli.StringFlag); ok && strings.HasPrefix(s.Name, "time-") {
			s.Aliases = append(s.Aliases, strings.TrimPrefix(s.Name, "time-"))
		}
	}
	return flags
}

func showSeries(p *terminal.Page, a *query.StatisticsNamesAnswer) {
	if len(a.Series) == 0 {
		p.Printf("the database has no statistics: add them with birthmark index add statistics\n")
		return
	}
	p.Heading("series")
	terminal.Table(p, a.Series, []string{"series", "unit", "description"}, func(_ int, s query.StatisticsNameAnswer) terminal.Cells {
		return terminal.Cells{terminal.Green(s.Name), s.Unit, s.Description}
	})
}

func showStatistics(p *terminal.Page, a *query.StatisticsAnswer) {
	p.Fields("series", terminal.Green(a.Name), "unit", a.Unit)
	p.Heading(a.By)
	p.IfNone(len(a.Values), "none")
	columns := []string{"from", a.Name}
	if a.By == "block" {
		columns = []string{"block", "time", a.Name}
	}
	terminal.Table(p, a.Values, columns, func(_ int, v query.StatisticAnswer) terminal.Cells {
		var number any = terminal.Faint(terminal.Right("unknown"))
		switch {
		case v.Value == nil:
		case a.Unit == "amount":
			number = terminal.Right(p.Amount(*v.Value))
		default:
			number = terminal.Right(*v.Value)
		}
		if v.Height != nil {
			return terminal.Cells{*v.Height, humanize.Clock(v.From), number}
		}
		return terminal.Cells{time.Unix(v.From, 0).UTC().Format(time.DateOnly), number}
	})
	p.More(a.Next)
}
