package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"birthmark/bench"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/internal/daemon"

	"github.com/urfave/cli/v2"
)

func (p *program) benchDecodeCommand() *cli.Command {
	return &cli.Command{
		Name:  "decode",
		Usage: "compare the speed of decoding with other libraries",
		Description: "Compares Cardano with gouroboros, Bitcoin with btcd's wire, and Ergo with encoding/json, which validates nothing. Blocks are\n" +
			"generated or read from --source: an immutable database or chunk of Cardano, a block file of Bitcoin, a file of full blocks\n" +
			"of Ergo.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "source", Usage: "`FILE` or folder of blocks, or its file:// URI", DefaultText: "generated blocks"},
			&cli.StringFlag{Name: "txs", Usage: "generate `N` transactions", DefaultText: "20000"},
			&cli.StringFlag{Name: "block-txs", Usage: "mean number `N` of transactions per generated block", DefaultText: "as on mainnet"},
			&cli.StringFlag{Name: "seed", Usage: "`SEED` of the generator", DefaultText: "1"},
			&cli.StringFlag{Name: "mb", Usage: "read at most `N` MB of blocks from --source", DefaultText: "64"},
			indexFlag(),
		}, chainFlags(), profileFlags(), commonFlags()),
		Action: profiled(p.benchDecode),
	}
}

// benchDecodeAnswer is the document of bench decode.
type benchDecodeAnswer struct {
	Chain   string   `json:"chain"`
	Network string   `json:"network"`
	Indexes []string `json:"indexes"`
	*bench.DecodeResult
}

func (p *program) benchDecode(c *cli.Context) error {
	numbers, err := benchNumbers(c, map[string]uint64{"txs": 20_000, "seed": 1, "block-txs": 0, "mb": 64})
	if err != nil {
		return err
	}
	set, err := p.one(c)
	if err != nil {
		return err
	}
	name, network := cmp.Or(set.Chain, cardano.Name), set.Network
	if set.Source == "" { // these are of one network
		network = cmp.Or(network, map[string]string{ergo.Name: generatedErgo, bitcoin.Name: generatedBitcoin}[name])
	}
	chain, err := p.host(c).MakeChain(set, name, network)
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
	result, err := bench.Decode(c.Context, chain, indexes, blocks)
	if err != nil {
		return err
	}
	a := benchDecodeAnswer{chain.Name(), chain.Network(), indexes, result}
	return p.answer(nil, a, func(pg *page) { pg.benchDecode(&a) })
}

func (p *page) benchDecode(a *benchDecodeAnswer) {
	p.fields(
		field{"chain", cell{a.Chain + " " + a.Network, green}},
		field{"blocks", text(count(uint64(a.Blocks)))},
		field{"transactions", text(count(uint64(a.Txs)))},
		field{"size", text(byteSize(a.Bytes))},
		field{"ratio", cell{fmt.Sprintf("%.1f", a.Ratio), bold}},
		field{"ratio of CPU", text(fmt.Sprintf("%.1f", a.CPURatio))},
	)
	var rows [][]cell
	for _, name := range slices.Sorted(maps.Keys(a.Runs)) {
		r := a.Runs[name]
		rows = append(rows, []cell{
			{name, green}, {count(uint64(r.TxsPerSecond)), bold}, text(count(uint64(r.BlocksPerSecond))),
			text(fmt.Sprintf("%.1f", r.MBPerSecond)), text(fmt.Sprintf("%.2f", r.CPUMicrosPerTx)),
		})
	}
	p.heading("on one goroutine")
	p.table([]column{{name: "decoder"}, {"txs/s", true}, {"blocks/s", true}, {"MB/s", true}, {"CPU µs/tx", true}}, rows)
}
