package cli

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testnode/ouroborostest"
)

// soakChain is a chain that changes while a server follows it.
type soakChain struct {
	chain, network, source string
	short                  string // name of the network, if network is a folder
	db, presets            string
	index                  string // added and dropped
	indexFlags             []string
	change                 func(rng *rand.Rand, n int)
	tip                    func() string // hash
	height                 func() int

	// paths of requests by protocol, with {address}, {tx}, {block} and {height} of the chain. After a space is a body.
	paths map[string][]string

	mu     sync.Mutex
	values map[string][]string // of the names in paths
}

// name is the name in paths.
func (c *soakChain) name() string { return c.chain + "-" + cmp.Or(c.short, c.network) }

// Requests of every chain.
var (
	soakV1 = []string{
		"balance/address/{address}?mempool=include", "history/address/{address}?limit=20", "tx/{tx}", "block/{height}",
		"mempool", "blocks",
	}
	soakPages = []string{"", "/address/{address}", "/tx/{tx}", "/block/{height}", "/mempool", "/charts"}
)

func (c *soakChain) syncTo(db string) []string {
	return []string{"sync", "--chain", c.chain, "--network", c.network, "--source", c.source, "--db", db}
}

const soakScripts = 500

// soakScript returns one of the scripts that transactions pay to.
func soakScript(i int) []byte { // P2WPKH
	return append([]byte{0, 20}, chainhash.HashB(fmt.Append(nil, i))[:20]...)
}

// soakBitcoin is a node whose mempool has about 1,500 transactions.
func soakBitcoin(t *testing.T, rng *rand.Rand) *soakChain {
	n := coretest.Start(t)
	coins := n.Coins(t, 4000)
	send := func(rng *rand.Rand) {
		spent := make([]coretest.Coin, 2)
		for i := range spent {
			k := rng.IntN(len(coins))
			spent[i], coins[k] = coins[k], coins[len(coins)-1]
			coins = coins[:len(coins)-1]
		}
		value := (spent[0].Value + spent[1].Value - 500 - rng.Int64N(5000)) / 2
		to := func() *wire.TxOut { return wire.NewTxOut(value, soakScript(rng.IntN(soakScripts))) }
		tx := coretest.Pay(spent, to(), to())
		if n.TrySend(tx) == nil {
			coins = append(coins, coretest.Outputs(tx)...)
		} else {
			coins = append(coins, spent...) // of an orphaned or evicted transaction, or with too many ancestors
		}
	}
	for range 400 {
		send(rng)
	}
	for range 10 {
		n.Mine(t)
	}
	return &soakChain{
		chain: "bitcoin", network: "regtest", source: n.URL(), presets: "wallet,explorer", index: "script_type",
		height: func() int { return int(n.Tip().Height) }, tip: func() string { return displayed(n.Tip().Hash) },
		change: func(rng *rand.Rand, k int) {
			pool := n.Mempool()
			for range (1500-min(1500, len(pool)))/20 + rng.IntN(20) {
				send(rng)
			}
			switch {
			case k%40 == 39:
				depth := 1 + rng.IntN(3)
				n.Fork(t, depth, depth+1)
			case k%4 == 3:
				n.MineOnly(t, pool[:min(len(pool), 50+rng.IntN(100))]...)
			case len(pool) > 0:
				n.Evict(coretest.ID(pool[rng.IntN(len(pool))]))
			}
		},
		paths: map[string][]string{
			"/v1": slices.Concat(soakV1, []string{
				"mempool/blocks", "find/address/{address}?unspent=true", "stats/fees?by=day", "richest/address",
			}),
			"pages": slices.Concat(soakPages, []string{"/charts/feerates", "/richest/address", "/producers"}),
			"esplora": {
				"/api/address/{address}", "/api/address/{address}/utxo", "/api/tx/{tx}", "/api/block/{block}/txs",
				"/api/mempool/recent", "/api/fee-estimates",
			},
			"blockbook": {
				"/blockbook/api/v2/address/{address}?details=txs", "/blockbook/api/v2/tx/{tx}",
				"/blockbook/api/v2/utxo/{address}", "/blockbook/api/v2/block/{height}",
			},
		},
	}
}

// soakCardano is a node whose mempool has the transactions of its next block.
func soakCardano(t *testing.T, rng *rand.Rand) *soakChain {
	b := &branch{chain: cardanogen.New(cardanogen.Options{Seed: rng.Uint64(), TxsPerBlock: 6})}
	b.mine(t, 31)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, b.blocks[:30])
	have := 30 // blocks of the node; b has the next one
	network := b.network(t)
	chain, err := cardano.New(network)
	if err != nil {
		t.Fatal(err)
	}
	return &soakChain{
		chain: "cardano", network: network, short: chain.Network(), source: n.Unix(),
		presets: "kupo,blockfrost,explorer", index: "creation_number",
		indexFlags: []string{"--config", soakIndex(t, "cardano", network, "creation_number: { value: output.index }")},
		height:     func() int { return int(n.Tip().Number) },
		tip:        func() string { tip := n.Tip(); return fmt.Sprintf("%x", tip.Hash[:]) },
		change: func(rng *rand.Rand, k int) {
			switch {
			case k%40 == 39:
				n.Extend(b.blocks[have])
				other, common, depth := b.fork(rng.Uint64()), have+1, 1+rng.IntN(3)
				b.mine(t, depth)
				n.Extend(b.blocks[common:]...)
				other.mine(t, depth+2)
				b, have = other, common+depth+1
				n.Switch(common, b.blocks[common:have]...)
			case k%2 == 1:
				n.Extend(b.blocks[have])
				have++
				b.mine(t, 1)
			default:
				txs, err := b.blocks[have].Txs()
				if err != nil {
					t.Error(err)
				}
				n.SetMempool(txs...)
			}
		},
		paths: map[string][]string{
			"/v1":   slices.Concat(soakV1, []string{"assets"}),
			"pages": slices.Concat(soakPages, []string{"/assets", "/producers"}),
			"kupo":  {"/kupo/matches/{address}?unspent", "/kupo/matches/*@{tx}", "/kupo/checkpoints", "/kupo/health"},
			"blockfrost": {
				"/api/v0/addresses/{address}", "/api/v0/addresses/{address}/utxos", "/api/v0/txs/{tx}",
				"/api/v0/txs/{tx}/utxos", "/api/v0/blocks/latest", "/api/v0/blocks/{block}/txs", "/api/v0/assets",
			},
			"ogmios": {`/ogmios {"jsonrpc":"2.0","method":"queryNetwork/tip","id":1}`},
		},
	}
}

// soakErgo is a node whose mempool has the transactions of its next block.
func soakErgo(t *testing.T, rng *rand.Rand) *soakChain {
	f := newForking(rand.New(rand.NewPCG(rng.Uint64(), 0)))
	next := ergotest.Made(f.chain, 1)
	return &soakChain{
		chain: "ergo", network: "testnet", source: f.Start(t), presets: "ergo_node,explorer", index: "creation_number",
		indexFlags: []string{"--config", soakIndex(t, "ergo", "testnet", "creation_number: { value: output.index }")},
		height:     func() int { return int(f.Tip().Height) },
		tip:        func() string { h := f.Tip().Hash; return h.String() },
		change: func(rng *rand.Rand, k int) {
			switch {
			case k%40 == 39:
				f.is(append(f.best[:len(f.best):len(f.best)], next...))
				f.Extend(next...)
				f.fork(1 + rng.IntN(3))
				next = ergotest.Made(f.chain, 1)
			case k%2 == 1:
				f.is(append(f.best[:len(f.best):len(f.best)], next...))
				f.Extend(next...)
				next = ergotest.Made(f.chain, 1)
			default:
				f.SetPool(ergotest.Txs(next[0])...)
			}
		},
		paths: map[string][]string{
			"/v1":   slices.Concat(soakV1, []string{"assets"}),
			"pages": slices.Concat(soakPages, []string{"/assets"}),
			"node": {
				"/node/info", "/node/blocks/{block}", "/node/blockchain/transaction/byId/{tx}",
				"/node/blockchain/balance {address}", "/node/blockchain/box/unspent/byAddress {address}",
			},
			"explorer": {
				"/explorer/api/v1/addresses/{address}/balance/total", "/explorer/api/v1/transactions/{tx}",
				"/explorer/api/v1/blocks/{block}", "/explorer/api/v1/boxes/unspent/byAddress/{address}",
			},
			"graphql": {`/graphql {"query":"{boxes(address:\"{address}\",take:20){boxId value} state{height}}"}`},
		},
	}
}

// soakIndex writes settings with an index that can be added.
func soakIndex(t *testing.T, chain, network, index string) (file string) {
	file = filepath.Join(t.TempDir(), "index.yaml")
	write(t, file, fmt.Sprintf("chain: %s\nnetwork: %s\nindexes:\n  %s\n", chain, network, index))
	return file
}
