package cli

import (
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"birthmark/core/schema"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) upgradeCommand() *cli.Command {
	return &cli.Command{
		Name:     "upgrade",
		Usage:    "bring a database of an earlier release to the format of this one",
		Category: building,
		Flags:    slices.Concat(command.DatabaseFlags(), command.ProgressFlags()),
		Action:   command.Profiled(p.upgrade),
	}
}

// upgradeAnswer is the answer of upgrade.
type upgradeAnswer struct {
	From int `json:"from"` // the format that the database had
	To   int `json:"to"`
}

func (p *program) upgrade(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	advance, stop := p.WatchCount("upgrade", "rows")
	defer stop()
	from, err := p.Host(c).Upgrade(c.Context, set, advance)
	if err != nil {
		if c.Context.Err() != nil {
			p.Log.Warn("interrupted; run the same command to resume")
		}
		return err
	}
	stop()
	a := upgradeAnswer{From: from, To: schema.FormatVersion}
	return p.Answer(nil, a, func(page *terminal.Page) {
		if from == a.To {
			page.Fields("format", a.To, "state", "nothing to do: the database has the format of this program")
			return
		}
		page.Fields("upgraded from", from, "format", terminal.Green(strconv.Itoa(a.To)))
	})
}
