package bench

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"birthmark/bench/generate"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/runes"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
)

// supported is what benchmarks need of a chain.
type supported struct {
	adapter func(network string) (model.Chain, error)                             // of generated blocks
	read    func(ctx context.Context, path string, limit int64) ([][]byte, error) // for [ReadBlocks]
	peer    string                                                                // name of the other decoder for [Decode]
	decode  func(raw []byte) (txs int, err error)                                 // the other decoder
}

// chains is the only place where the package lists chains.
func chains() map[string]supported {
	return map[string]supported{
		bitcoin.Name: {bitcoinAdapter, readBlockFile, "btcd", decodeWithBtcd},
		cardano.Name: {cardano.New, readChunks, "gouroboros", decodeWithGouroboros},
		ergo.Name:    {ergo.New, readFullBlocks, "encoding/json", decodeWithEncodingJSON},
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
	blocks  func(ctx context.Context, indexes []string) iter.Seq2[*model.Block, error]
	encode  func(to []byte, b *model.Block) []byte // encodes the newest of blocks for a recording
	file    string                                 // or folder, not needed after the blocks were decoded; empty: none
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
	for _, name := range c.Indexes {
		if c.generated() && valueSizes[name] == 0 {
			return c, model.Errorf(model.Usage, "unknown_index", "unsupported index %q of generated blocks: expected address or script_hash", name)
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
	unserializedRunes   = "runes"   // network of such blocks with runes: regtest, which has them from block 0
)

func bitcoinAdapter(network string) (model.Chain, error) {
	if network == unserializedRunes {
		adapter, err := bitcoin.New("regtest")
		if err == nil {
			adapter, err = adapter.(model.TokenChain).WithTokens(runes.TokensName)
		}
		return unchecked{adapter}, err
	}
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

// generate generates the chain, in a folder unless a [Generator] makes the blocks on demand.
func (c Chain) generate(ctx context.Context, dir string) (*generated, error) {
	if c.generated() {
		network := unserializedBitcoin
		if c.Runes {
			network = unserializedRunes
		}
		adapter, err := bitcoinAdapter(network)
		var g *Generator
		blocks := func(ctx context.Context, indexes []string) iter.Seq2[*model.Block, error] {
			c.Indexes = indexes
			g = NewGenerator(c)
			return g.Blocks(ctx)
		}
		encode := func(to []byte, _ *model.Block) []byte { return appendOutline(to, &g.last) }
		return &generated{adapter: adapter, network: network, blocks: blocks, encode: encode}, err
	}
	f, err := generate.Write(ctx, c.Name, dir, generate.Options{Seed: c.Seed, Txs: c.Txs, TxsPerBlock: float64(c.TxsPerBlock)}, nil)
	if err != nil {
		return nil, err
	}
	adapter, err := c.adapter(f.Network)
	blocks := func(ctx context.Context, indexes []string) iter.Seq2[*model.Block, error] {
		return func(yield func(*model.Block, error) bool) {
			src, err := adapter.Open(ctx, model.SourceOptions{URI: "file://" + f.Path, Indexes: indexes, Raw: c.Raw})
			if err != nil {
				yield(nil, err)
				return
			}
			defer src.Close()
			for e, err := range src.Follow(ctx, nil) {
				if !yield(e.Block, err) {
					return
				}
			}
		}
	}
	return &generated{adapter: adapter, network: f.Network, file: f.Path, blocks: blocks, encode: appendBlock}, err
}

// GeneratedBlocks returns generated blocks of a chain in the format of [Decode], with at least that many transactions
// and perBlock of them per block on average; with 0 as many as mainnet has.
func GeneratedBlocks(chain string, seed uint64, perBlock float64, txs int) ([][]byte, error) {
	if _, err := chainNamed(chain); err != nil {
		return nil, err
	}
	return generate.Blocks(chain, generate.Options{Seed: seed, Txs: txs, TxsPerBlock: perBlock}), nil
}
