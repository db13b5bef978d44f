package benchcmd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/chains/bitcoin"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

// TipTxs is the number of transactions in each block of Bitcoin that bench tip appends.
const TipTxs = 2500

func (b *commands) tipCommand() *cli.Command {
	return &cli.Command{
		Name:  "tip",
		Usage: "measure appending single blocks to a large database",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("txs", "initial database size of `N` transactions", "1000000"),
			command.StringDefault("blocks", "append `N` blocks", "200"),
			command.Bool("segments", "also record each block as a segment for replicas"),
		}, commonFlags()),
		Action: b.tip,
	}
}

// TipAnswer is the document of bench tip.
type TipAnswer struct {
	Setup
	*bench.TipResult
}

func (b *commands) tip(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{"txs": 1_000_000, "blocks": 200})
	if err != nil {
		return err
	}
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	txs, blocks := int(numbers["txs"]), int(numbers["blocks"])
	if chain.Name == bitcoin.Name && !chain.Serialized {
		chain.TipBlocks, chain.TipTxs = blocks, TipTxs
	}
	chain.Txs = txs + blocks*max(chain.TipTxs, chain.TxsPerBlock, usualTxs)
	a := TipAnswer{Setup: b.setup(&chain)}
	err = b.withRecording(c, chain, "bench tip", func(recording *bench.Recording, next func() bench.Options) (err error) {
		o := next()
		o.Segments = c.Bool("segments")
		a.TipResult, err = bench.Tip(c.Context, recording, blocks, o)
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
			"transactions per block", a.BlockTxs,
			"CPU per block", fmt.Sprintf("%.1f ms", a.CPU),
			"bytes per segment", int64(a.SegmentBytes),
		)
		page.Heading("milliseconds per block")
		latencies := maps.Clone(a.Parts)
		latencies["block"] = a.Millis
		showLatencies(page, append([]string{"block"}, bench.Parts...), latencies)
	})
}
