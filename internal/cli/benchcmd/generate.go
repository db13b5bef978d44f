package benchcmd

import (
	"cmp"
	"context"
	"encoding/hex"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/bench/generate/cardanogen"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (b *commands) generateCommand() *cli.Command {
	return &cli.Command{
		Name:      "generate",
		Usage:     "write a generated chain to files, for bench sync and experiments",
		ArgsUsage: "DIR",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("chain", "`CHAIN` to generate: cardano, bitcoin or ergo", "cardano"),
			command.StringDefault("txs", "generate `N` transactions", "1000000"),
			command.StringDefault("block-txs", "mean number `N` of transactions per block", "as on mainnet"),
			command.StringDefault("seed", "`SEED` of the generator", "1"),
		}, command.ProfileFlags(), command.CommonFlags()),
		Action: command.Profiled(b.generate),
	}
}

// GenerateAnswer is the document of bench generate: the flags to sync the chain, its counts, and its most frequent
// values.
type GenerateAnswer struct {
	Chain   string `json:"chain"`
	Network string `json:"network"` // of Cardano: the folder of the genesis files
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

// generatedNetworks are the networks of generated blocks. Cardano has its own genesis files. Block 1 of Ergo's mainnet
// is known by its id.
var generatedNetworks = map[string]string{bitcoin.Name: "regtest", ergo.Name: "testnet"}

// generation are the arguments of a generator.
type generation struct {
	dir      string
	seed     uint64
	txs      int
	perBlock float64
	progress func(txs int)
}

func (b *commands) generate(c *cli.Context) error {
	write := map[string]func(context.Context, generation) (*GenerateAnswer, error){
		cardano.Name: generateCardano, bitcoin.Name: generateBitcoin, ergo.Name: generateErgo,
	}[cmp.Or(c.String("chain"), cardano.Name)]
	if write == nil {
		return command.BadValue(c, "chain", "%s, %s or %s", cardano.Name, bitcoin.Name, ergo.Name)
	}
	numbers, err := readNumbers(c, map[string]uint64{"txs": 1_000_000, "seed": 1, "block-txs": 0})
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Args().First())
	if err != nil {
		return err
	}
	started := time.Now()
	advance, stop := b.WatchCount("bench generate", "txs")
	defer stop()
	a, err := write(c.Context, generation{
		dir: dir, seed: numbers["seed"], txs: int(numbers["txs"]), perBlock: float64(numbers["block-txs"]),
		progress: func(txs int) { advance(uint64(txs), numbers["txs"]) },
	})
	if err != nil {
		return err
	}
	stop()
	took := time.Since(started)
	a.Seconds, a.TxsPerSecond = took.Seconds(), float64(a.Txs)/took.Seconds()
	return b.Answer(nil, a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain+" "+a.title),
			"blocks", a.Blocks,
			"transactions", terminal.Rate(uint64(a.Txs), took),
			"size", humanize.Bytes(a.Bytes),
			"address", a.Address,
			"asset", a.Asset,
			"to sync it", "birthmark sync --chain "+a.Chain+" --network "+a.Network+" --source "+a.Source+" --db DIR",
		)
	})
}

func generateCardano(ctx context.Context, g generation) (*GenerateAnswer, error) {
	o := cardanogen.Options{Seed: g.seed, TxsPerBlock: g.perBlock}
	chain, err := cardanogen.Write(ctx, g.dir, o, g.txs, func(n cardanogen.Counts) { g.progress(n.Txs) })
	if err != nil {
		return nil, err
	}
	genesis := filepath.Join(g.dir, cardanogen.GenesisFolder)
	adapter, err := cardano.New(genesis)
	if err != nil {
		return nil, err
	}
	n := chain.Made()
	return &GenerateAnswer{
		Chain: cardano.Name, Network: genesis, title: adapter.Network(), Source: fileURI(g.dir, cardanogen.ImmutableFolder),
		Blocks: n.Blocks, Txs: n.Txs, Inputs: n.Inputs, Outputs: n.Outputs, Assets: n.Assets, Bytes: int64(n.Bytes),
		Address: adapter.Indexes()[0].Format(chain.HotAddress()), Asset: adapter.FormatAsset(chain.HotAsset()),
	}, nil
}

func generateErgo(ctx context.Context, g generation) (*GenerateAnswer, error) {
	o := ergogen.Options{Seed: g.seed, TxsPerBlock: g.perBlock}
	chain, err := ergogen.Write(ctx, g.dir, o, g.txs, func(n ergogen.Counts) { g.progress(n.Txs) })
	if err != nil {
		return nil, err
	}
	n, token, network := chain.Made(), chain.HotToken(), generatedNetworks[ergo.Name]
	return &GenerateAnswer{
		Chain: ergo.Name, Network: network, title: network, Source: fileURI(g.dir, ergogen.BlocksFile),
		Blocks: n.Blocks, Txs: n.Txs, Inputs: n.Inputs, Outputs: n.Outputs, Assets: n.Tokens, Bytes: int64(n.Bytes),
		Asset: hex.EncodeToString(token[:]),
	}, nil
}

func generateBitcoin(ctx context.Context, g generation) (*GenerateAnswer, error) {
	o := bitcoingen.Options{Seed: g.seed, Txs: g.txs, TxsPerBlock: g.perBlock}
	chain, err := bitcoingen.Write(ctx, g.dir, o, func(n bitcoingen.Counts) { g.progress(n.Txs) })
	if err != nil {
		return nil, err
	}
	n, network := chain.Made(), generatedNetworks[bitcoin.Name]
	return &GenerateAnswer{
		Chain: bitcoin.Name, Network: network, title: network, Source: fileURI(g.dir, bitcoingen.BlocksFolder),
		Blocks: n.Blocks, Txs: n.Txs, Inputs: n.Inputs, Outputs: n.Outputs, Bytes: int64(n.Bytes),
		Address: chain.HotAddress(),
	}, nil
}

func fileURI(dir, name string) string { return "file://" + filepath.Join(dir, name) }
