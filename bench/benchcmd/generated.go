package benchcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/chains/bitcoin"
	"birthmark/internal/cli/command"
	"birthmark/internal/config"
	"birthmark/model"
)

func generatedFlags() []cli.Flag {
	return []cli.Flag{
		command.StringDefault("chain", "`CHAIN` to generate: "+strings.Join(bench.ChainNames(), ", "), bitcoin.Name),
		command.StringDefault("indexes", "`INDEXES` to build", "address,script_hash; for other chains their defaults"),
		command.String("index-file", "indexes to build, with options and custom indexes, from a settings `FILE`"),
		command.String("hot-outputs", "bitcoin: give one address `N` additional outputs"),
		command.Bool("hot-unspent", "never spend --hot-outputs; by default most are spent"),
		command.Bool("runes", "bitcoin: 14% of the outputs are messages of runes"),
		command.Bool("raw", "also store raw transactions; bitcoin blocks are then generated in serialized form"),
		command.StringDefault("block-txs", "mean number `N` of transactions per block", "2000; for other chains as on mainnet"),
		command.StringDefault("seed", "`SEED` of the generator", "1"),
		command.StringDefault("dir", "`DIR` for temporary folders", "the system default"),
	}
}

// generatedChain returns the chain that the flags of c describe, without its number of transactions. perBlock is the
// default number of transactions in a block of Bitcoin.
func generatedChain(c *cli.Context, perBlock uint64) (bench.Chain, error) {
	chain, err := describedChain(c, perBlock)
	if err != nil {
		return chain, err
	}
	return chain.Resolve(c.Context)
}

// walletBlockTxs is the default number of transactions in a block of the wallet protocols' benchmarks.
const walletBlockTxs = 2000

// walletChain returns the chain that the flags of c describe, with the indexes, options and raw transactions that the
// wallet protocols need. perBlock is the default number of transactions in a block.
func walletChain(c *cli.Context, txs, perBlock uint64) (bench.Chain, error) {
	if name := cmp.Or(c.String("chain"), bitcoin.Name); name != bitcoin.Name {
		return bench.Chain{}, command.BadValue(c, "chain", "bitcoin: the wallet protocols are those of Bitcoin")
	}
	chain, err := describedChain(c, perBlock)
	if err != nil {
		return chain, err
	}
	chain.Txs, chain.Raw, chain.Serialized = int(txs), true, true
	if chain.Keep == nil {
		chain.Keep = map[string]model.IndexOptions{}
	}
	chain.Keep["script_hash"] = model.IndexOptions{Balance: true, Unspent: true, History: true}
	return chain.Resolve(c.Context)
}

func describedChain(c *cli.Context, perBlock uint64) (bench.Chain, error) {
	name := cmp.Or(c.String("chain"), bitcoin.Name)
	if !slices.Contains(bench.ChainNames(), name) {
		return bench.Chain{}, command.BadValue(c, "chain", "%s", strings.Join(bench.ChainNames(), ", "))
	}
	if name != bitcoin.Name {
		perBlock = 0
	}
	numbers, err := readNumbers(c, map[string]uint64{"block-txs": perBlock, "seed": 1, "hot-outputs": 0})
	if err != nil {
		return bench.Chain{}, err
	}
	if err := command.Exclusive(c, "indexes", "index-file"); err != nil {
		return bench.Chain{}, err
	}
	chain := bench.Chain{
		Name: name, TxsPerBlock: int(numbers["block-txs"]), Seed: numbers["seed"], Raw: c.Bool("raw"),
		HotOutputs: int(numbers["hot-outputs"]), HotUnspent: c.Bool("hot-unspent"), Runes: c.Bool("runes"),
	}
	switch {
	case c.IsSet("index-file"):
		if err := readIndexFile(c.String("index-file"), &chain); err != nil {
			return chain, err
		}
	case c.IsSet("indexes"):
		chain.Indexes = strings.Split(c.String("indexes"), ",")
	case name == bitcoin.Name:
		chain.Indexes = []string{"address", "script_hash"}
	}
	if chain.Raw && name == bitcoin.Name {
		chain.Serialized = true
	}
	return chain, nil
}

// record generates the blocks of a chain in a folder and reports progress.
func (b *commands) record(ctx context.Context, dir string, chain bench.Chain) (*bench.Recording, error) {
	advance, stop := b.WatchCount("generate", "txs")
	defer stop()
	return bench.Record(ctx, dir, chain, func(txs int) { advance(uint64(txs), uint64(chain.Txs)) })
}

// Setup is the generated chain of a benchmark and the memory limit.
type Setup struct {
	Chain   string                      `json:"chain"`
	Indexes map[string]config.IndexView `json:"indexes"`
	Memory  int64                       `json:"memory"` // bytes
}

func (b *commands) setup(chain *bench.Chain) Setup {
	return Setup{chain.Name, indexViews(chain), int64(b.Settings.Memory)}
}

// usualTxs is more than the mean number of transactions in blocks of Cardano and Ergo.
const usualTxs = 8

// withRecording calls measure with the recorded blocks of a chain. next returns the options of a new database in the
// same temporary folder.
func (b *commands) withRecording(
	c *cli.Context, chain bench.Chain, what string, measure func(blocks *bench.Recording, next func() bench.Options) error,
) error {
	return inTemporaryFolder(c, func(dir string) error {
		blocks, err := b.record(c.Context, filepath.Join(dir, "blocks"), chain)
		if err != nil {
			return err
		}
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(config.Divide(b.Settings.Memory).Go()))
		databases, stop := 0, func() {}
		defer func() { stop() }()
		return command.Profile(c, func() error {
			return measure(blocks, func() (o bench.Options) {
				stop()
				databases++
				o, stop = b.watched(what, databaseOptions(filepath.Join(dir, fmt.Sprint("db", databases)), b.Settings.Memory))
				return o
			})
		})
	})
}

// Content of a folder with a generated database: the database, and its blocks while it is created or if some of them are
// missing in it.
const (
	DatabaseFolder = "db"
	blocksFolder   = "blocks"
)

// withGeneratedDatabase calls do with a generated database of the chain that the flags describe. It is in --reuse-db,
// or in a temporary folder.
func (b *commands) withGeneratedDatabase(
	c *cli.Context, txs uint64, do func(set *config.Chain, recording *bench.Recording) error,
) error {
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	chain.Txs = int(txs)
	return b.withDatabaseOf(c, chain, do)
}

// withDatabaseOf calls do with a generated database of a chain. It is in --reuse-db, or in a temporary folder.
func (b *commands) withDatabaseOf(
	c *cli.Context, chain bench.Chain, do func(set *config.Chain, recording *bench.Recording) error,
) error {
	in := func(dir string) error {
		recording, err := b.generateDatabase(c, dir, chain, 0)
		if err != nil {
			return err
		}
		// The database stores its chain and network.
		set := &config.Chain{DB: filepath.Join(dir, DatabaseFolder), Indexes: configured(&chain), Memory: b.Settings.Memory}
		return do(set, recording)
	}
	if dir := c.String("reuse-db"); dir != "" {
		return in(dir)
	}
	return inTemporaryFolder(c, in)
}

// generateDatabase creates and compacts a database of generated blocks in dir, or reuses the one that was created with
// the same flags. If missing is not 0, the database has all but the last missing blocks, and all blocks stay in dir.
func (b *commands) generateDatabase(c *cli.Context, dir string, chain bench.Chain, missing int) (*bench.Recording, error) {
	folder := filepath.Join(dir, blocksFolder)
	if recording, err := bench.OpenRecording(dir); err == nil {
		if !reflect.DeepEqual(recording.Chain, chain) {
			return nil, model.Errorf(model.Refused, "not_empty",
				"%s contains a generated database of %s with %d transactions, created with other flags: use another folder",
				dir, recording.Chain.Name, recording.Chain.Txs)
		}
		if missing > 0 {
			return bench.OpenRecording(folder)
		}
		return recording, nil
	}
	if found, err := os.ReadDir(dir); len(found) > 0 {
		return nil, model.Errorf(model.Refused, "not_empty",
			"%s is not empty and contains no generated database: use another folder", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	blocks, err := b.record(c.Context, folder, chain)
	if err != nil {
		return nil, err
	}
	txs := chain.Txs
	if missing > 0 {
		if txs, err = blocks.Before(0, missing); err != nil {
			return nil, err
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(config.Divide(b.Settings.Memory).Go()))
	o, stop := b.watched("build database", databaseOptions(filepath.Join(dir, DatabaseFolder), b.Settings.Memory))
	defer stop()
	if err := bench.Build(c.Context, blocks, txs, o); err != nil {
		return nil, err
	}
	if missing == 0 {
		if err := os.RemoveAll(folder); err != nil {
			return nil, err
		}
	}
	return blocks, blocks.Save(dir)
}
