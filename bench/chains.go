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

// ergoNetwork is the network that generated blocks of Ergo are of: block 1 of mainnet is known by its id.
const ergoNetwork = "testnet"

// generated is a chain that was made: blocks in memory as they are asked for, or serialized in files.
type generated struct {
	adapter model.Chain
	network string
	open    func(ctx context.Context, indexes []string) (model.Source, error)
	files   []string // that are of no use once the blocks were decoded
}

// generators make chains in a folder, by the name of the chain.
var generators = map[string]func(ctx context.Context, dir string, c Chain) (*generated, error){
	bitcoin.Name: generateBitcoin, cardano.Name: generateCardano, ergo.Name: generateErgo,
}

// ChainNames are the chains that are generated.
func ChainNames() []string { return slices.Sorted(maps.Keys(generators)) }

// Resolve fills in what is left to the chain: its indexes as a database of it has them. An error of kind [model.Usage]
// where there is no such chain or index.
func (c Chain) Resolve(ctx context.Context) (Chain, error) {
	c = c.withDefaults()
	if generators[c.Name] == nil {
		return c, model.Errorf(model.Usage, "unknown_chain", "blocks of %q are not generated: expected %s", c.Name, strings.Join(ChainNames(), ", "))
	}
	if err := c.checkHot(); err != nil {
		return c, err
	}
	// Networks of a chain have the same indexes.
	adapter, err := c.define(adapterOf(c.Name, ""))
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

// define is a chain that knows the chain's own indexes.
func (c *Chain) define(adapter model.Chain, err error) (model.Chain, error) {
	if err != nil || len(c.Definitions) == 0 {
		return adapter, err
	}
	return adapter.Define(c.Definitions)
}

// clear removes the files.
func (g *generated) clear() error {
	var errs []error
	for _, name := range g.files {
		errs = append(errs, os.RemoveAll(name))
	}
	return errors.Join(errs...)
}

// adapterOf is the chain of generated blocks.
func adapterOf(name, network string) (model.Chain, error) {
	switch name {
	case cardano.Name:
		return cardano.New(network)
	case ergo.Name:
		return ergo.New(network)
	}
	adapter, err := bitcoin.New(network)
	if network == bitcoinNetwork {
		return unchecked{adapter}, err
	}
	return adapter, err
}

// unchecked is a chain whose blocks have made-up headers: what [model.HeaderChecker] would refuse is taken.
type unchecked struct{ model.Chain }

// Define implements [model.Chain].
func (c unchecked) Define(ds []model.Definition) (model.Chain, error) {
	defined, err := c.Chain.Define(ds)
	return unchecked{defined}, err
}

// bitcoinNetwork is what generated blocks of Bitcoin are said to be of. They are not serialized, so nobody can tell.
const bitcoinNetwork = "mainnet"

// serializedBitcoin is the network of those that are.
const serializedBitcoin = "regtest"

func generateBitcoin(ctx context.Context, dir string, c Chain) (*generated, error) {
	if c.Serialized {
		return serializeBitcoin(ctx, dir, c)
	}
	adapter, err := bitcoin.New(bitcoinNetwork)
	if err != nil {
		return nil, err
	}
	open := func(_ context.Context, indexes []string) (model.Source, error) {
		c.Indexes = indexes
		return NewSource(c)
	}
	return &generated{adapter: unchecked{adapter}, network: bitcoinNetwork, open: open}, nil
}

// serializedFolder is where their files are: a recording has a file of the name that [bitcoingen.Write] gives their folder.
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
	adapter, err := c.define(bitcoin.New(serializedBitcoin))
	if err != nil {
		return nil, err
	}
	made := fromFile(adapter, c.Raw, serializedBitcoin, filepath.Join(dir, bitcoingen.BlocksFolder))
	made.files = []string{dir}
	return made, nil
}

func generateCardano(ctx context.Context, dir string, c Chain) (*generated, error) {
	o := cardanogen.Options{Seed: c.Seed, TxsPerBlock: float64(c.TxsPerBlock)}
	if _, err := cardanogen.Write(ctx, dir, o, c.Txs, nil); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir) // a network with a separator in its name is a folder
	if err != nil {
		return nil, err
	}
	network := filepath.Join(dir, cardanogen.GenesisFolder)
	adapter, err := c.define(cardano.New(network))
	if err != nil {
		return nil, err
	}
	return fromFile(adapter, c.Raw, network, filepath.Join(dir, cardanogen.ImmutableFolder)), nil
}

func generateErgo(ctx context.Context, dir string, c Chain) (*generated, error) {
	o := ergogen.Options{Seed: c.Seed, TxsPerBlock: float64(c.TxsPerBlock)}
	if _, err := ergogen.Write(ctx, dir, o, c.Txs, nil); err != nil {
		return nil, err
	}
	adapter, err := c.define(ergo.New(ergoNetwork))
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	return fromFile(adapter, c.Raw, ergoNetwork, filepath.Join(dir, ergogen.BlocksFile)), err
}

func fromFile(adapter model.Chain, raw bool, network, path string) *generated {
	return &generated{adapter: adapter, network: network, files: []string{path}, open: func(ctx context.Context, indexes []string) (model.Source, error) {
		return adapter.Open(ctx, model.SourceOptions{URI: "file://" + path, Indexes: indexes, Raw: raw})
	}}
}
