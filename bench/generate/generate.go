// Package generate writes generated chains to files, by the name of the chain. The packages below it make the blocks:
// bitcoingen, coingen (other coins of Bitcoin's kind), cardanogen and ergogen; skeleton and distribution have what these
// share.
package generate

import (
	"context"
	"encoding/hex"
	"maps"
	"path/filepath"
	"slices"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/bench/generate/cardanogen"
	"birthmark/bench/generate/coingen"
	"birthmark/bench/generate/ergogen"
	"birthmark/bench/generate/skeleton"
	"birthmark/chains/bitcoin"
	"birthmark/chains/cardano"
	"birthmark/chains/ergo"
)

// Options configure a chain.
type Options struct {
	Seed        uint64 // the same seed makes the same blocks
	Txs         int
	TxsPerBlock float64 // mean; 0: as on mainnet

	HotOutputs, NewOutputs float64 // Bitcoin: shares of the outputs to the hot address, and to new ones; 0: as on mainnet
	Holders                int     // Cardano: at least that many addresses hold the hot asset
	AllParts               bool    // Cardano, Bitcoin: blocks have entries of every kind, for tests
	Crowded                bool    // Cardano, with AllParts: an action with all votes, and large committees
	Large                  int     // coins of Bitcoin's kind: transactions of one large block; 0: none
}

func (o *Options) bitcoin() bitcoingen.Options {
	return bitcoingen.Options{Seed: o.Seed, Txs: o.Txs, TxsPerBlock: o.TxsPerBlock, HotOutputs: o.HotOutputs, NewOutputs: o.NewOutputs, AllParts: o.AllParts}
}

func (o *Options) cardano() cardanogen.Options {
	return cardanogen.Options{Seed: o.Seed, TxsPerBlock: o.TxsPerBlock, Holders: o.Holders, AllParts: o.AllParts, Crowded: o.Crowded}
}

// Files is a chain that was written.
type Files struct {
	skeleton.Counts
	Network string // Cardano: the folder of the genesis files
	Title   string // name of the network
	Path    string // of the blocks

	Address string // that the most outputs pay to; empty for Ergo
	Asset   string // that the most outputs hold; empty without assets
}

type generator struct {
	write  func(ctx context.Context, dir string, o Options, progress func(skeleton.Counts)) (Files, error)
	blocks func(o Options) (next func() []byte, made func() skeleton.Counts)
}

var generators = map[string]generator{
	bitcoin.Name: {writeBitcoin, func(o Options) (func() []byte, func() skeleton.Counts) {
		c := bitcoingen.New(o.bitcoin())
		return func() []byte { return c.Next().Record }, c.Made
	}},
	cardano.Name: {writeCardano, func(o Options) (func() []byte, func() skeleton.Counts) {
		c := cardanogen.New(o.cardano())
		return func() []byte { return c.Next().Raw }, c.Made
	}},
	ergo.Name: {writeErgo, func(o Options) (func() []byte, func() skeleton.Counts) {
		c := ergogen.New(ergogen.Options{Seed: o.Seed, TxsPerBlock: o.TxsPerBlock})
		return func() []byte { return append(c.Next().JSON, '\n') }, c.Made
	}},
}

func init() {
	for _, c := range coingen.Coins {
		generators[c.Spec.Name] = generator{coinWriter(c), func(o Options) (func() []byte, func() skeleton.Counts) {
			made := coingen.New(c, coingen.Options{Seed: o.Seed, TxsPerBlock: o.TxsPerBlock})
			return func() []byte { return made.Record(made.Next()) }, made.Made
		}}
		Networks[c.Spec.Name] = c.Network
	}
}

// Networks are the networks of generated chains. That of Cardano is the folder of its genesis files. Ergo's is not mainnet,
// whose block 1 has a known id.
var Networks = map[string]string{bitcoin.Name: "regtest", ergo.Name: "testnet"}

// Chains returns the names of the chains that can be generated.
func Chains() []string { return slices.Sorted(maps.Keys(generators)) }

// Write writes a chain of [Chains] with o.Txs transactions to files in a folder, which must have none of them. progress,
// which may be nil, is called after each block.
func Write(ctx context.Context, chain, dir string, o Options, progress func(skeleton.Counts)) (f Files, err error) {
	if dir, err = filepath.Abs(dir); err != nil { // Cardano reads genesis files if the network's name is a path
		return f, err
	}
	return generators[chain].write(ctx, dir, o, progress)
}

// Blocks returns serialized blocks of a chain of [Chains] in the format of its Decode, with at least o.Txs transactions.
func Blocks(chain string, o Options) (blocks [][]byte) {
	next, made := generators[chain].blocks(o)
	for made().Txs < o.Txs {
		blocks = append(blocks, next())
	}
	return blocks
}

func writeBitcoin(ctx context.Context, dir string, o Options, progress func(skeleton.Counts)) (Files, error) {
	c, err := bitcoingen.Write(ctx, dir, o.bitcoin(), progress)
	if err != nil {
		return Files{}, err
	}
	network := Networks[bitcoin.Name]
	return Files{Counts: c.Made(), Network: network, Title: network, Path: filepath.Join(dir, bitcoingen.BlocksFolder), Address: c.HotAddress()}, nil
}

func coinWriter(coin *coingen.Coin) func(context.Context, string, Options, func(skeleton.Counts)) (Files, error) {
	return func(ctx context.Context, dir string, o Options, progress func(skeleton.Counts)) (Files, error) {
		c := coingen.New(coin, coingen.Options{Seed: o.Seed, TxsPerBlock: o.TxsPerBlock, Large: o.Large})
		err := bitcoingen.WriteFiles(dir, func(record func([]byte) error) error { return c.Write(ctx, o.Txs, record, progress) })
		if err != nil {
			return Files{}, err
		}
		return Files{Counts: c.Made(), Network: coin.Network, Title: coin.Network, Path: filepath.Join(dir, bitcoingen.BlocksFolder),
			Address: c.HotAddress(), Asset: c.HotAsset()}, nil
	}
}

func writeCardano(ctx context.Context, dir string, o Options, progress func(skeleton.Counts)) (f Files, err error) {
	c, err := cardanogen.Write(ctx, dir, o.cardano(), o.Txs, progress)
	if err != nil {
		return f, err
	}
	f = Files{Counts: c.Made(), Network: filepath.Join(dir, cardanogen.GenesisFolder), Path: filepath.Join(dir, cardanogen.ImmutableFolder)}
	adapter, err := cardano.New(f.Network)
	if err != nil {
		return f, err
	}
	f.Title = adapter.Network()
	f.Address, f.Asset = adapter.Indexes()[0].Format(c.HotAddress()), adapter.FormatAsset(c.HotAsset())
	return f, nil
}

func writeErgo(ctx context.Context, dir string, o Options, progress func(skeleton.Counts)) (Files, error) {
	c, err := ergogen.Write(ctx, dir, ergogen.Options{Seed: o.Seed, TxsPerBlock: o.TxsPerBlock}, o.Txs, progress)
	if err != nil {
		return Files{}, err
	}
	network, token := Networks[ergo.Name], c.HotToken()
	return Files{Counts: c.Made(), Network: network, Title: network, Path: filepath.Join(dir, ergogen.BlocksFile), Asset: hex.EncodeToString(token[:])}, nil
}
