package cli

import (
	"fmt"
	"slices"

	"birthmark/bench"
	"birthmark/chains/bitcoin"
	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

// tipTxs are in each block of Bitcoin that bench tip appends.
const tipTxs = 2500

func (p *program) benchTipCommand() *cli.Command {
	return &cli.Command{
		Name:  "tip",
		Usage: "measure appending single blocks to a large database",
		Description: fmt.Sprintf("Creates and compacts a database of generated blocks in a temporary folder and appends more blocks as they arrive from the\n"+
			"network: one at a time, each durable before the next. Blocks of bitcoin have %d transactions, those of other chains as many\n"+
			"as usual.", tipTxs),
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "txs", Usage: "initial database size of `N` transactions", DefaultText: "1000000"},
			&cli.StringFlag{Name: "blocks", Usage: "append `N` blocks", DefaultText: "200"},
		}, generatedFlags(), memoryFlags(), profileFlags(), commonFlags()),
		Action: p.benchTip,
	}
}

// benchTipAnswer is the document of bench tip.
type benchTipAnswer struct {
	Chain   string                      `json:"chain"`
	Indexes map[string]config.IndexView `json:"indexes"`
	Memory  int64                       `json:"memory"` // bytes
	*bench.TipResult
}

func (p *program) benchTip(c *cli.Context) error {
	numbers, err := benchNumbers(c, map[string]uint64{"txs": 1_000_000, "blocks": 200})
	if err != nil {
		return err
	}
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	if err := p.load(c); err != nil {
		return err
	}
	txs, blocks := int(numbers["txs"]), int(numbers["blocks"])
	if chain.Name == bitcoin.Name && !chain.Serialized {
		chain.TipBlocks, chain.TipTxs = blocks, tipTxs
	}
	chain.Txs = txs + blocks*max(chain.TipTxs, chain.TxsPerBlock, usualTxs)
	a := benchTipAnswer{Chain: chain.Name, Indexes: benchIndexes(&chain), Memory: int64(p.settings.Memory)}
	err = p.onRecording(c, chain, "bench tip", func(made *bench.Recording, dir func() bench.Options) (err error) {
		a.TipResult, err = bench.Tip(c.Context, made, blocks, dir())
		return err
	})
	if err != nil {
		return err
	}
	return p.answer(nil, a, func(pg *page) {
		pg.fields(
			field{"chain", cell{a.Chain, green}},
			field{"indexes", text(indexesLine(a.Indexes))},
			field{"transactions before", text(count(uint64(a.Txs)))},
			field{"transactions a block", text(fmt.Sprintf("%.1f", a.BlockTxs))},
		)
		pg.heading("milliseconds a block")
		of := map[string]bench.Latencies{"block": a.Millis}
		for name, l := range a.Parts {
			of[name] = l
		}
		pg.latencies(append([]string{"block"}, bench.Parts...), of)
	})
}
