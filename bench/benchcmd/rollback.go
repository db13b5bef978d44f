package benchcmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (b *commands) rollbackCommand() *cli.Command {
	return &cli.Command{
		Name:  "rollback",
		Usage: "measure rollbacks of databases of several sizes",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("txs", "sizes of the databases in transactions, `N,N`", "500000,2000000"),
			command.StringDefault("blocks", "remove `N` blocks", "1000"),
		}, commonFlags()),
		Action: b.rollback,
	}
}

// rollbackTxs is the default mean number of transactions in a block of Bitcoin, so that 1,000 blocks are a small part.
const rollbackTxs = 100

// RollbackAnswer is the document of bench rollback.
type RollbackAnswer struct {
	Setup
	Sizes []*bench.RollbackResult `json:"sizes"`
}

func (b *commands) rollback(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{"blocks": 1000})
	if err != nil {
		return err
	}
	sizes, err := sizesOf(c)
	if err != nil {
		return err
	}
	chain, err := generatedChain(c, rollbackTxs)
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	chain.Txs = slices.Max(sizes)
	a := &RollbackAnswer{Setup: b.setup(&chain)}
	err = b.withRecording(c, chain, "bench rollback", func(recording *bench.Recording, next func() bench.Options) error {
		for _, txs := range sizes {
			r, err := bench.Rollback(c.Context, recording, txs, int(numbers["blocks"]), next())
			if err != nil {
				return err
			}
			a.Sizes = append(a.Sizes, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.Answer(nil, a, func(page *terminal.Page) { showRollback(page, a) })
}

// sizesOf reads --txs.
func sizesOf(c *cli.Context) ([]int, error) {
	if !c.IsSet("txs") {
		return []int{500_000, 2_000_000}, nil
	}
	var sizes []int
	for text := range strings.SplitSeq(c.String("txs"), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
		if err != nil || n < 1 || n > bench.MaxTxs {
			return nil, command.BadValue(c, "txs", "numbers from 1 to %d", uint64(bench.MaxTxs))
		}
		sizes = append(sizes, int(n))
	}
	return sizes, nil
}

func showRollback(p *terminal.Page, a *RollbackAnswer) {
	p.Fields("chain", terminal.Green(a.Chain), "indexes", indexesLine(a.Indexes))
	p.Heading("rolled back")
	columns := []string{
		"txs before", "blocks", "txs removed", "txs/s", "CPU µs/tx", "appended again, txs/s", "ratio", "built in bulk, txs/s", "ratio",
	}
	ratio := func(f float64) terminal.Cell { return terminal.Right(fmt.Sprintf("%.2f", f)) }
	terminal.Table(p, a.Sizes, columns, func(_ int, r *bench.RollbackResult) terminal.Cells {
		return terminal.Cells{
			r.Txs, r.Blocks, r.RemovedTxs, terminal.Bold(uint64(r.TxsPerSecond)), r.CPUMicrosPerTx,
			uint64(r.AppendTxsPerSecond), ratio(r.Ratio), uint64(r.BulkTxsPerSecond), ratio(r.BulkRatio),
		}
	})
}
