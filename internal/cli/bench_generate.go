package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/bench/generate/cardanogen"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/internal/progress"

	"github.com/urfave/cli/v2"
)

func (p *program) benchGenerateCommand() *cli.Command {
	return &cli.Command{
		Name:      "generate",
		Usage:     "write a generated chain to files, for bench sync and experiments",
		ArgsUsage: "DIR",
		Description: "The chain resembles mainnet. Cardano: an immutable database in DIR/immutable and genesis files in DIR/genesis. Ergo: full\n" +
			"blocks of testnet in DIR/blocks.jsonl. Bitcoin: block files of regtest in DIR/blocks. Data that only nodes validate is\n" +
			"filler: keys, signatures, scripts, and proofs of work except those of Bitcoin.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "chain", Usage: "`CHAIN` to generate: cardano, bitcoin or ergo", DefaultText: "cardano"},
			&cli.StringFlag{Name: "txs", Usage: "generate `N` transactions", DefaultText: "1000000"},
			&cli.StringFlag{Name: "block-txs", Usage: "mean number `N` of transactions per block", DefaultText: "as on mainnet"},
			&cli.StringFlag{Name: "seed", Usage: "`SEED` of the generator", DefaultText: "1"},
		}, profileFlags(), commonFlags()),
		Action: profiled(p.benchGenerate),
	}
}

// generateAnswer is the document of bench generate: how to sync the chain, what is in it, and what there is most of.
type generateAnswer struct {
	Chain   string `json:"chain"`
	Network string `json:"network"` // of Cardano the folder of the genesis files
	Source  string `json:"source"`

	Blocks  int   `json:"blocks"`
	Txs     int   `json:"txs"`
	Inputs  int   `json:"inputs"`
	Outputs int   `json:"outputs"`
	Assets  int   `json:"assets"`
	Bytes   int64 `json:"bytes"`

	Address string `json:"address,omitempty"`
	Asset   string `json:"asset,omitempty"`

	title string // of the network

	Seconds      float64 `json:"seconds"`
	TxsPerSecond float64 `json:"txs_per_s"`
}

// The networks that generated blocks are of.
const (
	generatedBitcoin = "regtest"
	generatedErgo    = "testnet" // block 1 of mainnet is known by its id
)

func (p *program) benchGenerate(c *cli.Context) error {
	write, known := map[string]func(context.Context, string, map[string]uint64, func(int)) (generateAnswer, error){
		"": generateCardano, cardano.Name: generateCardano, bitcoin.Name: generateBitcoin, ergo.Name: generateErgo,
	}[c.String("chain")]
	if !known {
		return badValue(c, "chain", "%s, %s or %s", cardano.Name, bitcoin.Name, ergo.Name)
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
	stop := p.watch("bench generate", func() progress.Reading {
		done := uint64(made.Load())
		return progress.Reading{Done: done, Total: txs, Rates: []progress.Rate{{Name: "txs", PerSecond: float64(done) / time.Since(started).Seconds()}}}
	})
	defer stop()
	a, err := write(c.Context, dir, numbers, func(txs int) { made.Store(int64(txs)) })
	if err != nil {
		return err
	}
	stop()
	took := time.Since(started)
	a.Seconds, a.TxsPerSecond = took.Seconds(), float64(a.Txs)/took.Seconds()
	return p.answer(nil, a, func(pg *page) {
		pg.fields(
			field{"chain", cell{a.Chain + " " + a.title, green}},
			field{"blocks", text(count(uint64(a.Blocks)))},
			field{"transactions", text(count(uint64(a.Txs)) + perSecond(uint64(a.Txs), took))},
			field{"size", text(byteSize(a.Bytes))},
			field{"address", text(a.Address)},
			field{"asset", text(a.Asset)},
			field{"to sync it", text(fmt.Sprintf("birthmark sync --chain %s --network %s --source %s --db FOLDER", a.Chain, a.Network, a.Source))},
		)
	})
}

func generateCardano(ctx context.Context, dir string, numbers map[string]uint64, made func(txs int)) (a generateAnswer, err error) {
	o := cardanogen.Options{Seed: numbers["seed"], TxsPerBlock: float64(numbers["block-txs"])}
	chain, err := cardanogen.Write(ctx, dir, o, int(numbers["txs"]), func(n cardanogen.Counts) { made(n.Txs) })
	if err != nil {
		return a, err
	}
	n := chain.Made()
	a = generateAnswer{
		Chain: cardano.Name, Network: filepath.Join(dir, cardanogen.GenesisFolder), Source: "file://" + filepath.Join(dir, cardanogen.ImmutableFolder),
		Blocks: n.Blocks, Txs: n.Txs, Inputs: n.Inputs, Outputs: n.Outputs, Assets: n.Assets, Bytes: int64(n.Bytes),
	}
	adapter, err := cardano.New(a.Network)
	if err != nil {
		return a, err
	}
	a.title = adapter.Network()
	a.Address = adapter.Indexes()[0].Format(chain.HotAddress())
	a.Asset = adapter.FormatAsset(chain.HotAsset())
	return a, nil
}

func generateErgo(ctx context.Context, dir string, numbers map[string]uint64, made func(txs int)) (a generateAnswer, err error) {
	o := ergogen.Options{Seed: numbers["seed"], TxsPerBlock: float64(numbers["block-txs"])}
	chain, err := ergogen.Write(ctx, dir, o, int(numbers["txs"]), func(n ergogen.Counts) { made(n.Txs) })
	if err != nil {
		return a, err
	}
	n, token := chain.Made(), chain.HotToken()
	return generateAnswer{
		Chain: ergo.Name, Network: generatedErgo, Source: "file://" + filepath.Join(dir, ergogen.BlocksFile),
		Blocks: n.Blocks, Txs: n.Txs, Inputs: n.Inputs, Outputs: n.Outputs, Assets: n.Tokens, Bytes: int64(n.Bytes),
		Asset: hex.EncodeToString(token[:]), title: generatedErgo,
	}, nil
}

func generateBitcoin(ctx context.Context, dir string, numbers map[string]uint64, made func(txs int)) (a generateAnswer, err error) {
	o := bitcoingen.Options{Seed: numbers["seed"], Txs: int(numbers["txs"]), TxsPerBlock: float64(numbers["block-txs"])}
	chain, err := bitcoingen.Write(ctx, dir, o, func(n bitcoingen.Counts) { made(n.Txs) })
	if err != nil {
		return a, err
	}
	n := chain.Made()
	return generateAnswer{
		Chain: bitcoin.Name, Network: generatedBitcoin, Source: "file://" + filepath.Join(dir, bitcoingen.BlocksFolder),
		Blocks: n.Blocks, Txs: n.Txs, Inputs: n.Inputs, Outputs: n.Outputs, Bytes: int64(n.Bytes),
		Address: chain.HotAddress(), title: generatedBitcoin,
	}, nil
}
