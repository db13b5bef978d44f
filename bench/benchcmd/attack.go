package benchcmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench/attack"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (b *commands) attackCommand() *cli.Command {
	return &cli.Command{
		Name:  "attack",
		Usage: "measure a server under requests that cost most, from clients that do not read",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("program", "`FILE` of the program birthmark", "birthmark beside this program"),
			command.StringDefault("dir", "create databases of about 2 GB in `DIR`, or reuse those in it", "a temporary folder"),
			command.StringDefault("txs", "give a script of bitcoin `N` transactions", "310000"),
			command.StringDefault("unconfirmed", "and `N` unconfirmed ones", "66000"),
			command.StringDefault("cardano-txs", "generate `N` transactions of cardano", "300000"),
			command.StringDefault("ergo-txs", "generate `N` transactions of ergo", "20000"),
			command.Bool("prepare", "create the databases, and attack nothing"),
			command.String("costs", "instead of attacks: write a table of what their requests cost to `FILE`, as Markdown"),
			command.String("only", "attacks whose name contains `TEXT`, such as electrum or R3"),
			command.StringDefault("seconds", "attack for `N` seconds", "10"),
			command.String("visits", "instead of attacks: let `N` clients of each protocol ask, subscribe and leave"),
			command.MemoryFlag(),
		}, command.CommonFlags()),
		Action: b.attack,
	}
}

// AttackAnswer is the document of bench attack.
type AttackAnswer struct {
	Memory  string           `json:"memory"`
	Attacks []*attack.Result `json:"attacks,omitempty"`
	Visits  []*attack.Visit  `json:"visits,omitempty"`
	Costs   []*attack.Cost   `json:"costs,omitempty"`
}

func (b *commands) attack(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{
		"txs": 310_000, "unconfirmed": 66_000, "cardano-txs": 300_000, "ergo-txs": 20_000, "seconds": 10, "visits": 0,
	})
	if err != nil {
		return err
	}
	for _, flag := range []string{"visits", "prepare", "costs"} {
		if err := command.Exclusive(c, flag, "seconds"); err != nil {
			return err
		}
	}
	if err := b.Load(c); err != nil {
		return err
	}
	program := c.String("program")
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program = filepath.Join(filepath.Dir(self), "birthmark")
	}
	o := attack.Options{
		Program: []string{program}, Log: b.Stderr, Txs: int(numbers["txs"]), Unconfirmed: int(numbers["unconfirmed"]),
		Cardano: int(numbers["cardano-txs"]), Ergo: int(numbers["ergo-txs"]), Memory: cmp.Or(c.String("memory"), "512MiB"),
		Costs: c.IsSet("costs"),
	}
	a := &AttackAnswer{Memory: o.Memory}
	run := func(dir string) error {
		o.Dir = dir
		return b.attackServer(c, a, o, int(numbers["visits"]), time.Duration(numbers["seconds"])*time.Second)
	}
	if dir := c.String("dir"); dir != "" {
		err = run(dir)
	} else {
		err = inTemporaryFolder(c, run)
	}
	if err != nil {
		return err
	}
	if err := b.Answer(nil, a, func(page *terminal.Page) { showAttack(page, a) }); err != nil {
		return err
	}
	return a.failed()
}

// failed returns an error if a bound is exceeded.
func (a *AttackAnswer) failed() error {
	var names []string
	for _, r := range a.Attacks {
		if len(r.Above) > 0 {
			names = append(names, r.Name)
		}
	}
	for _, v := range a.Visits {
		if !v.Withstood() {
			names = append(names, v.Protocol)
		}
	}
	for _, one := range a.Costs {
		if one.Above {
			names = append(names, one.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	all := len(a.Attacks) + len(a.Visits) + len(a.Costs)
	return fmt.Errorf("%d of %d exceed a bound: %s", len(names), all, strings.Join(names, ", "))
}

// attackServer starts a server, and another one after an attack whose memory the server keeps.
func (b *commands) attackServer(
	c *cli.Context, a *AttackAnswer, o attack.Options, visits int, least time.Duration,
) error {
	if err := attack.Prepare(c.Context, o); err != nil || c.Bool("prepare") {
		return err
	}
	s, err := attack.Start(c.Context, o)
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	if visits > 0 {
		a.Visits, err = s.Visit(c.Context, visits)
		return err
	}
	if file := c.String("costs"); file != "" {
		if a.Costs, err = s.Costs(c.Context, c.String("only")); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(attack.Markdown(a.Costs)), 0o644)
	}
	for _, one := range s.Attacks() {
		if !strings.Contains(one.Name, c.String("only")) {
			continue
		}
		if s.Swollen(c.Context) {
			if err := s.Stop(); err != nil {
				return err
			}
			if s, err = attack.Start(c.Context, o); err != nil {
				return err
			}
		}
		r, err := s.Run(c.Context, one, least)
		if err != nil {
			return err
		}
		a.Attacks = append(a.Attacks, r)
		b.Log.Info("attack", "name", r.Name, "above", strings.Join(r.Above, ", "),
			"rss", humanize.Bytes(r.RSS), "healthz_p99", r.Health.P99,
			"other_p50", r.Other.P50, "quiet_p50", r.Quiet.P50, "cpu_s", r.CPU, "seconds", r.Seconds,
			"bytes", humanize.Bytes(r.Bytes), "answers", r.Answers)
	}
	return nil
}

func showAttack(page *terminal.Page, a *AttackAnswer) {
	page.Fields("memory", a.Memory)
	if len(a.Attacks) > 0 {
		columns := []string{
			"attack", "clients", "peak memory", "CPU s", "healthz p99 ms", "other p50 ms", "quiet p50 ms", "bytes", "answers",
			"descriptors", "after", "goroutines", "after", "heap", "after", "above",
		}
		terminal.Table(page, a.Attacks, columns, func(_ int, r *attack.Result) terminal.Cells {
			var answers []string
			for status, n := range r.Answers {
				answers = append(answers, fmt.Sprintf("%d %s", n, status))
			}
			slices.Sort(answers)
			return terminal.Cells{
				terminal.Green(r.Name), r.Clients, terminal.Bold(terminal.Right(humanize.Bytes(r.RSS))), r.CPU,
				r.Health.P99, r.Other.P50, r.Quiet.P50, terminal.Right(humanize.Bytes(r.Bytes)), strings.Join(answers, ", "),
				r.Before.Descriptors, r.After.Descriptors, r.Before.Goroutines, r.After.Goroutines,
				terminal.Right(humanize.Bytes(r.Before.Heap)), terminal.Right(humanize.Bytes(r.After.Heap)),
				strings.Join(r.Above, ", "),
			}
		})
	}
	if len(a.Costs) > 0 {
		columns := []string{
			"operation", "requests", "refused", "units", "points", "rows", "bytes", "CPU ms", "CPU s per unit", "",
		}
		terminal.Table(page, a.Costs, columns, func(_ int, c *attack.Cost) terminal.Cells {
			return terminal.Cells{
				terminal.Green(c.Name), c.Requests, c.Refused, c.Units, c.Points, c.Rows, c.Bytes, c.CPU, c.PerUnit,
				aboveIf(c.Above),
			}
		})
	}
	if len(a.Visits) > 0 {
		columns := []string{
			"protocol", "clients", "refused", "descriptors", "after", "goroutines", "after", "heap", "after", "",
		}
		terminal.Table(page, a.Visits, columns, func(_ int, v *attack.Visit) terminal.Cells {
			return terminal.Cells{
				terminal.Green(v.Protocol), v.Clients, v.Refused, v.Before.Descriptors, v.After.Descriptors,
				v.Before.Goroutines, v.After.Goroutines,
				terminal.Right(humanize.Bytes(v.Before.Heap)), terminal.Right(humanize.Bytes(v.After.Heap)), verdict(v),
			}
		})
	}
}

func aboveIf(above bool) string {
	if above {
		return "above"
	}
	return ""
}

func verdict(v *attack.Visit) string {
	if v.Withstood() {
		return "equal within 10%"
	}
	return "more than 10% above"
}
