package bench

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/bench/generate/cardanogen"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
)

// supported is what benchmarks need of a chain.
type supported struct {
	adapter  func(network string) (model.Chain, error)                             // of generated blocks
	generate func(ctx context.Context, dir string, c Chain) (*generated, error)    // a chain in a folder
	blocks   func(seed uint64, perBlock float64, txs int) [][]byte                 // for [GeneratedBlocks]
	read     func(ctx context.Context, path string, limit int64) ([][]byte, error) // for [ReadBlocks]
	peer     string                                                                // name of the other decoder for [Decode]
	decode   func(raw []byte) (txs int, err error)                                 // the other decoder
}

// chains is the only place where the package lists chains.
func chains() map[string]supported {
	return map[string]supported{
		bitcoin.Name: {bitcoinAdapter, generateBitcoin, bitcoinBlocks, readBlockFile, "btcd", decodeWithBtcd},
		cardano.Name: {cardano.New, generateCardano, cardanoBlocks, readChunks, "gouroboros", decodeWithGouroboros},
		ergo.Name:    {ergo.New, generateErgo, ergoBlocks, readFullBlocks, "encoding/json", decodeWithEncodingJSON},
	}
}

// ChainNames returns the names of the chains that benchmarks support.
func ChainNames() []string { return slices.Sorted(maps.Keys(chains())) }

// chainNamed returns an error of kind [model.Usage] if the chain is not supported.
func chainNamed(name string) (supported, error) {
	s, ok := chains()[name]
	if !ok {
		return s, model.Errorf(model.Usage, "unknown_chain", "unsupported chain %q: expected %s", name, strings.Join(ChainNames(), ", "))
	}
	return s, nil
}

// generated is a generated chain: blocks in memory, generated on demand, or serialized blocks in files.
type generated struct {
	adapter model.Chain
	network string
	open    func(ctx context.Context, indexes []string) (model.Source, error)
	files   []string // not needed after the blocks were decoded
}

// clear removes the files.
func (g *generated) clear() error {
	var errs []error
	for _, name := range g.files {
		errs = append(errs, os.RemoveAll(name))
	}
	return errors.Join(errs...)
}

// Resolve fills in defaults, including the indexes of a database of the chain. Its errors are of kind [model.Usage] if
// the chain or an index is unknown.
func (c Chain) Resolve(ctx context.Context) (Chain, error) {
	c = c.withDefaults()
	if _, err := chainNamed(c.Name); err != nil {
		return c, err
	}
	if err := c.checkHot(); err != nil {
		return c, err
	}
	adapter, err := c.adapter("") // all networks have the same indexes
	if err != nil {
		return c, err
	}
	if c.generated() && c.Indexes != nil {
		if _, err := NewGenerator(c); err != nil {
			return c, err
		}
	}
	store := memory.New()
	defer store.Close()
	db, err := core.Open(ctx, store, core.Options{Chain: adapter, Indexes: c.Indexes, Keep: c.Keep})
	if err != nil {
		return c, err
	}
	c.Indexes = db.Indexes()
	return c, nil
}

// adapter returns the chain of the blocks, with the custom indexes.
func (c *Chain) adapter(network string) (model.Chain, error) {
	s, err := chainNamed(c.Name)
	if err != nil {
		return nil, err
	}
	return c.define(s.adapter(network))
}

// define adds the custom indexes to adapter. It takes the result of a constructor.
func (c *Chain) define(adapter model.Chain, err error) (model.Chain, error) {
	if err != nil || len(c.Definitions) == 0 {
		return adapter, err
	}
	return adapter.Define(c.Definitions)
}

const (
	unserializedBitcoin = "mainnet" // network of blocks of a [Generator]
	serializedBitcoin   = "regtest" // network of serialized blocks
	ergoNetwork         = "testnet" // the first block of mainnet has a known id
)

func bitcoinAdapter(network string) (model.Chain, error) {
	adapter, err := bitcoin.New(network)
	if network == unserializedBitcoin {
		return unchecked{adapter}, err
	}
	return adapter, err
}

// unchecked hides that a chain implements [model.HeaderChecker], which would reject the headers of a [Generator].
type unchecked struct{ model.Chain }

// Define implements [model.Chain].
func (c unchecked) Define(ds []model.Definition) (model.Chain, error) {
	defined, err := c.Chain.Define(ds)
	return unchecked{defined}, err
}

func generateBitcoin(ctx context.Context, dir string, c Chain) (*generated, error) {
	if c.Serialized {
		return serializeBitcoin(ctx, dir, c)
	}
	adapter, err := bitcoinAdapter(unserializedBitcoin)
	if err != nil {
		return nil, err
	}
	open := func(_ context.Context, indexes []string) (model.Source, error) {
		c.Indexes = indexes
		return NewSource(c)
	}
	return &generated{adapter: adapter, network: unserializedBitcoin, open: open}, nil
}

// serializedFolder is the subfolder for the output of [bitcoingen.Write], whose name of a folder is one of a file of a
// [Recording].
const serializedFolder = "serialized"

func serializeBitcoin(ctx context.Context, dir string, c Chain) (*generated, error) {
	dir, err := filepath.Abs(filepath.Join(dir, serializedFolder))
	if err != nil {
		return nil, err
	}
	o := bitcoingen.Options{Seed: c.Seed, Txs: c.Txs, TxsPerBlock: float64(c.TxsPerBlock)}
	if _, err := bitcoingen.Write(ctx, dir, o, nil); err != nil {
		return nil, err
	}
	g, err := c.fromFile(serializedBitcoin, filepath.Join(dir, bitcoingen.BlocksFolder))
	if err != nil {
		return nil, err
	}
	g.files = []string{dir}
	return g, nil
}

func generateCardano(ctx context.Context, dir string, c Chain) (*generated, error) {
	o := cardanogen.Options{Seed: c.Seed, TxsPerBlock: float64(c.TxsPerBlock)}
	if _, err := cardanogen.Write(ctx, dir, o, c.Txs, nil); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir) // the adapter reads genesis files if the network's name is a path
	if err != nil {
		return nil, err
	}
	return c.fromFile(filepath.Join(dir, cardanogen.GenesisFolder), filepath.Join(dir, cardanogen.ImmutableFolder))
}

func generateErgo(ctx context.Context, dir string, c Chain) (*generated, error) {
	o := ergogen.Options{Seed: c.Seed, TxsPerBlock: float64(c.TxsPerBlock)}
	if _, err := ergogen.Write(ctx, dir, o, c.Txs, nil); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return c.fromFile(ergoNetwork, filepath.Join(dir, ergogen.BlocksFile))
}

func (c *Chain) fromFile(network, path string) (*generated, error) {
	adapter, err := c.adapter(network)
	if err != nil {
		return nil, err
	}
	open := func(ctx context.Context, indexes []string) (model.Source, error) {
		return adapter.Open(ctx, model.SourceOptions{URI: "file://" + path, Indexes: indexes, Raw: c.Raw})
	}
	return &generated{adapter: adapter, network: network, files: []string{path}, open: open}, nil
}

// GeneratedBlocks returns generated blocks of a chain in the format of [Decode], with at least that many transactions
// and perBlock of them per block on average; with 0 as many as mainnet has.
func GeneratedBlocks(chain string, seed uint64, perBlock float64, txs int) ([][]byte, error) {
	s, err := chainNamed(chain)
	if err != nil {
		return nil, err
	}
	return s.blocks(seed, perBlock, txs), nil
}

func bitcoinBlocks(seed uint64, perBlock float64, txs int) (blocks [][]byte) {
	c := bitcoingen.New(bitcoingen.Options{Seed: seed, Txs: txs, TxsPerBlock: perBlock})
	for c.Made().Txs < txs {
		blocks = append(blocks, c.Next().Record)
	}
	return blocks
}

func cardanoBlocks(seed uint64, perBlock float64, txs int) (blocks [][]byte) {
	c := cardanogen.New(cardanogen.Options{Seed: seed, TxsPerBlock: perBlock})
	for c.Made().Txs < txs {
		blocks = append(blocks, c.Next().Raw)
	}
	return blocks
}

func ergoBlocks(seed uint64, perBlock float64, txs int) (blocks [][]byte) {
	c := ergogen.New(ergogen.Options{Seed: seed, TxsPerBlock: perBlock})
	for c.Made().Txs < txs {
		blocks = append(blocks, append(c.Next().JSON, '\n'))
	}
	return blocks
}
