package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"birthmark/chains/cardano"
	"birthmark/chains/cardano/generate"

	"github.com/urfave/cli/v2"
)

func (p *program) benchGenerateCommand() *cli.Command {
	return &cli.Command{
		Name:      "generate",
		Usage:     "write a generated chain, for bench sync and for trying things",
		ArgsUsage: "DIR",
		Description: "A chain of cardano in the shape of mainnet's Conway: a node's immutable database in DIR/immutable and genesis\n" +
			"files in DIR/genesis. Only what a node alone checks is filler: keys, signatures, scripts.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "chain", Usage: "`CHAIN` to generate: cardano", DefaultText: "cardano"},
			&cli.StringFlag{Name: "txs", Usage: "generate `N` transactions", DefaultText: "1000000"},
			&cli.StringFlag{Name: "block-txs", Usage: "`N` transactions in a block, in the mean", DefaultText: "6.5, as mainnet has"},
			&cli.StringFlag{Name: "seed", Usage: "the same `SEED` makes the same blocks", DefaultText: "1"},
		}, profileFlags(), commonFlags()),
		Action: profiled(p.benchGenerate),
	}
}

// generateAnswer is the document of bench generate: how to sync the chain, what is in it, and what there is most of.
type generateAnswer struct {
	Chain   string `json:"chain"`
	Network string `json:"network"` // the folder of the genesis files
	Source  string `json:"source"`

	Blocks  int   `json:"blocks"`
	Txs     int   `json:"txs"`
	Inputs  int   `json:"inputs"`
	Outputs int   `json:"outputs"`
	Assets  int   `json:"assets"`
	Bytes   int64 `json:"bytes"`

	Address string `json:"address"`
	Asset   string `json:"asset"`

	Seconds      float64 `json:"seconds"`
	TxsPerSecond float64 `json:"txs_per_s"`
}

func (p *program) benchGenerate(c *cli.Context) error {
	if name := c.String("chain"); name != "" && name != cardano.Name {
		return badValue(c, "chain", cardano.Name)
	}
	numbers, err := benchNumbers(c, map[string]uint64{"txs": 1_000_000, "seed": 1, "block-txs": 0})
	if err != nil {
		return err
	}
	if err := p.load(c); err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Args().First())
	if err != nil {
		return err
	}
	txs, started := numbers["txs"], time.Now()
	var made atomic.Int64
	stop := p.watch("bench generate", func() reading {
		done := uint64(made.Load())
		return reading{done: done, total: txs, rates: []rate{{"txs", float64(done) / time.Since(started).Seconds()}}}
	})
	defer stop()
	o := generate.Options{Seed: numbers["seed"], TxsPerBlock: float64(numbers["block-txs"])}
	chain, err := generate.Write(c.Context, dir, o, int(txs), func(n generate.Counts) { made.Store(int64(n.Txs)) })
	if err != nil {
		return err
	}
	stop()
	n, seconds := chain.Made(), time.Since(started).Seconds()
	a := generateAnswer{
		Chain: cardano.Name, Network: filepath.Join(dir, generate.GenesisFolder), Source: "file://" + filepath.Join(dir, generate.ImmutableFolder),
		Blocks: n.Blocks, Txs: n.Txs, Inputs: n.Inputs, Outputs: n.Outputs, Assets: n.Assets, Bytes: int64(n.Bytes),
		Seconds: seconds, TxsPerSecond: float64(n.Txs) / seconds,
	}
	adapter, err := cardano.New(a.Network)
	if err != nil {
		return err
	}
	a.Address = adapter.Indexes()[0].Format(chain.HotAddress())
	a.Asset = adapter.FormatAsset(chain.HotAsset())
	return p.answer(nil, a, func(pg *page) {
		pg.fields(
			field{"chain", cell{a.Chain + " " + adapter.Network(), green}},
			field{"blocks", text(count(uint64(a.Blocks)))},
			field{"transactions", text(count(uint64(a.Txs)) + perSecond(uint64(a.Txs), time.Duration(seconds*float64(time.Second))))},
			field{"size", text(byteSize(a.Bytes))},
			field{"address", text(a.Address)},
			field{"asset", text(a.Asset)},
			field{"to sync it", text(fmt.Sprintf("birthmark sync --chain cardano --network %s --source %s --db FOLDER", a.Network, a.Source))},
		)
	})
}
