package benchcmd

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench/generate"
	"birthmark/bench/generate/coingen"
	"birthmark/bench/generate/skeleton"
	"birthmark/chains/cardano"
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
			command.StringDefault("chain", "`CHAIN` to generate: "+strings.Join(generate.Chains(), ", "), "cardano"),
			command.StringDefault("txs", "generate `N` transactions", "1000000"),
			command.StringDefault("block-txs", "mean number `N` of transactions per block", "as on mainnet"),
			command.StringDefault("seed", "`SEED` of the generator", "1"),
			command.StringDefault("hot-percent", "bitcoin: pay `N`% of the outputs to one address", "9.5 as on mainnet"),
			command.StringDefault("new-percent", "bitcoin: pay `N`% of the outputs to new addresses", "41.5 as on mainnet"),
			command.String("large-block", "coins of Bitcoin's kind: give block "+strconv.Itoa(coingen.LargeHeight)+" `N` transactions"),
			command.String("holders", "cardano: give one asset `N` holders"),
		}, command.ProgressFlags(), command.CommonFlags()),
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

	Seconds      float64 `json:"seconds"`
	TxsPerSecond float64 `json:"txs_per_s"`
}

func (b *commands) generate(c *cli.Context) error {
	chain := cmp.Or(c.String("chain"), cardano.Name)
	if !slices.Contains(generate.Chains(), chain) {
		return command.BadValue(c, "chain", "%s", strings.Join(generate.Chains(), ", "))
	}
	numbers, err := readNumbers(c, map[string]uint64{
		"txs": 1_000_000, "seed": 1, "block-txs": 0, "hot-percent": 0, "new-percent": 0, "holders": 0, "large-block": 0,
	})
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	started := time.Now()
	advance, stop := b.WatchCount("bench generate", "txs")
	defer stop()
	o := generate.Options{
		Seed: numbers["seed"], Txs: int(numbers["txs"]), TxsPerBlock: float64(numbers["block-txs"]), Holders: int(numbers["holders"]),
		Large:      int(numbers["large-block"]),
		HotOutputs: float64(numbers["hot-percent"]) / 100, NewOutputs: float64(numbers["new-percent"]) / 100,
	}
	f, err := generate.Write(c.Context, chain, c.Args().First(), o, func(n skeleton.Counts) { advance(uint64(n.Txs), numbers["txs"]) })
	if err != nil {
		return err
	}
	stop()
	took := time.Since(started)
	a := &GenerateAnswer{
		Chain: chain, Network: f.Network, Source: "file://" + f.Path,
		Blocks: f.Blocks, Txs: f.Txs, Inputs: f.Inputs, Outputs: f.Outputs, Assets: f.Assets, Bytes: int64(f.Bytes),
		Address: f.Address, Asset: f.Asset, Seconds: took.Seconds(), TxsPerSecond: float64(f.Txs) / took.Seconds(),
	}
	return b.Answer(nil, a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain+" "+f.Title),
			"blocks", a.Blocks,
			"transactions", terminal.Rate(uint64(a.Txs), took),
			"size", humanize.Bytes(a.Bytes),
			"address", a.Address,
			"asset", a.Asset,
			"to sync it", "birthmark sync --chain "+a.Chain+" --network "+a.Network+" --source "+a.Source+" --db DIR",
		)
	})
}
