package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"birthmark/bench"
	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

func (p *program) benchRollbackCommand() *cli.Command {
	return &cli.Command{
		Name:  "rollback",
		Usage: "measure rollbacks of databases of several sizes",
		Description: "Creates and compacts databases of generated blocks in temporary folders, removes the last blocks of each, and appends the\n" +
			"same blocks again as near the tip. The time of a rollback should not depend on the size of the database.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "txs", Usage: "sizes of the databases in transactions, `N,N`", DefaultText: "500000,2000000"},
			&cli.StringFlag{Name: "blocks", Usage: "remove `N` blocks", DefaultText: "1000"},
		}, generatedFlags(), memoryFlags(), profileFlags(), commonFlags()),
		Action: p.benchRollback,
	}
}

// rollbackTxs is the default mean number of transactions in a block of Bitcoin, so that 1,000 blocks are a small part.
const rollbackTxs = 100

// benchRollbackAnswer is the document of bench rollback.
type benchRollbackAnswer struct {
	Chain   string                      `json:"chain"`
	Indexes map[string]config.IndexView `json:"indexes"`
	Memory  int64                       `json:"memory"` // bytes
	Sizes   []*bench.RollbackResult     `json:"sizes"`
}

func (p *program) benchRollback(c *cli.Context) error {
	numbers, err := benchNumbers(c, map[string]uint64{"blocks": 1000})
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
	if err := p.load(c); err != nil {
		return err
	}
	chain.Txs = slices.Max(sizes)
	a := benchRollbackAnswer{Chain: chain.Name, Indexes: benchIndexes(&chain), Memory: int64(p.settings.Memory)}
	err = p.onRecording(c, chain, "bench rollback", func(made *bench.Recording, dir func() bench.Options) error {
		for _, txs := range sizes {
			r, err := bench.Rollback(c.Context, made, txs, int(numbers["blocks"]), dir())
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
	return p.answer(nil, a, func(pg *page) { pg.benchRollback(&a) })
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
			return nil, badValue(c, "txs", "numbers from 1 to %d", uint64(bench.MaxTxs))
		}
		sizes = append(sizes, int(n))
	}
	return sizes, nil
}

func (p *page) benchRollback(a *benchRollbackAnswer) {
	p.fields(
		field{"chain", cell{a.Chain, green}},
		field{"indexes", text(indexesLine(a.Indexes))},
	)
	p.heading("rolled back")
	var rows [][]cell
	for _, r := range a.Sizes {
		number := func(f float64) cell { return text(count(uint64(f))) }
		rows = append(rows, []cell{
			text(count(uint64(r.Txs))), text(count(uint64(r.Blocks))), text(count(uint64(r.RemovedTxs))), {count(uint64(r.TxsPerSecond)), bold},
			text(fmt.Sprintf("%.1f", r.CPUMicrosPerTx)), number(r.AppendTxsPerSecond), text(fmt.Sprintf("%.2f", r.Ratio)),
			number(r.BulkTxsPerSecond), text(fmt.Sprintf("%.2f", r.BulkRatio)),
		})
	}
	p.table([]column{{"txs before", true}, {"blocks", true}, {"txs removed", true}, {"txs/s", true}, {"CPU µs/tx", true},
		{"appended again, txs/s", true}, {"ratio", true}, {"built in bulk, txs/s", true}, {"ratio", true}}, rows)
}
