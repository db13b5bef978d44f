package benchcmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/bench/notify"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

// notifyFlag selects the measurement of notifications.
const notifyFlag = "notify"

// notifyFlags are the flags of bench electrum that belong to --notify.
func notifyFlags() []cli.Flag {
	return []cli.Flag{
		command.Bool(notifyFlag, "measure how soon clients are notified of blocks; --connections is 1000 then, --block-txs 2500"),
		command.StringDefault("unconfirmed", "with --notify: `N` transactions in the mempool", "100000"),
		command.StringDefault("subscriptions", "with --notify: `N` scripts per client", "50"),
		command.StringDefault("blocks", "with --notify: append `N` blocks", "5"),
	}
}

// NotifyAnswer is the document of bench electrum --notify.
type NotifyAnswer struct {
	Setup
	*notify.Result
}

// notify measures the notifications of blocks.
func (b *commands) notify(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{
		"txs": 1_000_000, "connections": 1000, "unconfirmed": 100_000, "subscriptions": 50, "blocks": 5, "seed": 1,
	})
	if err != nil {
		return err
	}
	if err := command.Exclusive(c, notifyFlag, "url", "db", "reuse-db", "seconds", "rps", "mix", "per-kind", "samples"); err != nil {
		return err
	}
	chain, err := walletChain(c, numbers["txs"], TipTxs)
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	o := notify.Options{
		Unconfirmed: int(numbers["unconfirmed"]), Clients: int(numbers["connections"]), Subscriptions: int(numbers["subscriptions"]),
		Blocks: int(numbers["blocks"]), Seed: numbers["seed"],
	}
	a := NotifyAnswer{Setup: b.setup(&chain)}
	err = b.withRecording(c, chain, "bench electrum", func(recording *bench.Recording, next func() bench.Options) (err error) {
		a.Result, err = notify.Run(c.Context, recording, o, next())
		return err
	})
	if err != nil {
		return err
	}
	return b.Answer(nil, a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain),
			"indexes", indexesLine(a.Indexes),
			"transactions before", a.Txs,
			"unconfirmed", a.Unconfirmed,
			"entered in", fmt.Sprintf("%.1f s", a.FillSeconds),
			"memory of the mempool", humanize.Bytes(a.Result.Memory),
			"memory of the process", humanize.Bytes(a.RSS),
			"clients", a.Clients,
			"subscriptions", a.Subscriptions,
		)
		page.Heading("milliseconds until clients are notified of a block")
		columns := []string{"block", "txs", "append", "tips", "last tip", "statuses", "median", "last status", "CPU s"}
		terminal.Table(page, a.Blocks, columns, func(i int, n notify.Block) terminal.Cells {
			return terminal.Cells{
				i + 1, n.Txs, n.Append, n.Headers.Count, n.Headers.Max, n.Statuses.Count, n.Statuses.P50, terminal.Bold(n.Statuses.Max), n.CPU,
			}
		})
	})
}
