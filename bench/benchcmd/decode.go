package benchcmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/bench/generate"
	"birthmark/chains/cardano"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
)

func (b *commands) decodeCommand() *cli.Command {
	return &cli.Command{
		Name:  "decode",
		Usage: "compare the speed of decoding with other libraries",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("source", "`FILE` or folder of blocks, or its file:// URI", "generated blocks"),
			command.StringDefault("txs", "generate `N` transactions", "20000"),
			command.StringDefault("block-txs", "mean number `N` of transactions per generated block", "as on mainnet"),
			command.StringDefault("seed", "`SEED` of the generator", "1"),
			command.StringDefault("mb", "read at most `N` MB of blocks from --source", "64"),
			command.IndexFlag(),
		}, command.ChainFlags(), command.ProfileFlags(), command.CommonFlags()),
		Action: command.Profiled(b.decode),
	}
}

// DecodeAnswer is the document of bench decode.
type DecodeAnswer struct {
	Chain   string   `json:"chain"`
	Network string   `json:"network"`
	Indexes []string `json:"indexes"`
	*bench.DecodeResult
}

func (b *commands) decode(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{"txs": 20_000, "seed": 1, "block-txs": 0, "mb": 64})
	if err != nil {
		return err
	}
	set, err := b.One(c)
	if err != nil {
		return err
	}
	name, network := cmp.Or(set.Chain, cardano.Name), set.Network
	if set.Source == "" {
		network = cmp.Or(network, generate.Networks[name])
	}
	chain, err := b.Host(c).MakeChain(set, name, network)
	if err != nil {
		return err
	}
	names, err := daemon.IndexesOf(set, chain)
	if err != nil {
		return err
	}
	indexes := daemon.Chosen(chain, names)
	var blocks [][]byte
	if set.Source != "" {
		blocks, err = bench.ReadBlocks(c.Context, chain.Name(), set.Source, int64(numbers["mb"])*1_000_000)
	} else {
		blocks, err = bench.GeneratedBlocks(chain.Name(), numbers["seed"], float64(numbers["block-txs"]), int(numbers["txs"]))
	}
	if err != nil {
		return err
	}
	result, err := bench.Decode(c.Context, chain, indexes, blocks, cmp.Or(b.Turn, bench.MinTurn))
	if err != nil {
		return err
	}
	a := &DecodeAnswer{chain.Name(), chain.Network(), indexes, result}
	return b.Answer(nil, a, func(page *terminal.Page) { showDecode(page, a) })
}

func showDecode(p *terminal.Page, a *DecodeAnswer) {
	p.Fields(
		"chain", terminal.Green(a.Chain+" "+a.Network),
		"blocks", a.Blocks,
		"transactions", a.Txs,
		"size", humanize.Bytes(a.Bytes),
		"ratio", terminal.Bold(a.Ratio),
		"ratio of CPU", a.CPURatio,
	)
	p.Heading("on one goroutine")
	columns := []string{"decoder", "txs/s", "blocks/s", "MB/s", "CPU µs/tx"}
	terminal.Table(p, slices.Sorted(maps.Keys(a.Runs)), columns, func(_ int, name string) terminal.Cells {
		r := a.Runs[name]
		return terminal.Cells{
			terminal.Green(name), terminal.Bold(uint64(r.TxsPerSecond)), uint64(r.BlocksPerSecond), r.MBPerSecond,
			terminal.Right(fmt.Sprintf("%.2f", r.CPUMicrosPerTx)),
		}
	})
}
