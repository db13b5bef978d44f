package pending

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/database"
	_ "github.com/btcsuite/btcd/database/ffldb"
	"github.com/btcsuite/btcd/mining"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// anyoneCanSpend is an output script.
var anyoneCanSpend = []byte{txscript.OP_TRUE}

// miner is btcd with a chain and a mempool. It is a [mining.TxSource].
type miner struct {
	chain   *bitcointest.Chain
	own     *blockchain.BlockChain
	coins   []wire.OutPoint // confirmed, each of coinValue
	txs     []*mining.TxDesc
	known   map[chainhash.Hash]bool
	version time.Time
}

const (
	coinValue  = 200_000 // satoshis
	coinsPerTx = 25_000
)

func (m *miner) LastUpdated() time.Time                    { return m.version }
func (m *miner) MiningDescs() []*mining.TxDesc             { return m.txs }
func (m *miner) HaveTransaction(hash *chainhash.Hash) bool { return m.known[*hash] }

// newMiner returns a miner with count confirmed outputs.
func newMiner(t *testing.T, count int) *miner {
	t.Helper()
	params := chaincfg.RegressionNetParams
	db, err := database.Create("ffldb", filepath.Join(t.TempDir(), "btcd"), params.Net)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	own, err := blockchain.New(&blockchain.Config{DB: db, ChainParams: &params, TimeSource: blockchain.NewMedianTime(),
		UtxoCacheMaxSize: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	m := &miner{chain: bitcointest.NewChain(), own: own, known: map[chainhash.Hash]bool{}}
	m.chain.PayTo, m.chain.Start = anyoneCanSpend, time.Unix(1_600_000_000, 0) // after BIP 16, which BIP 141 needs
	m.chain.MineEmpty(int(params.CoinbaseMaturity) + (count+coinsPerTx-1)/coinsPerTx)
	for i := 1; len(m.coins) < count; i++ {
		tx := bitcointest.Spend(m.chain.Blocks()[i].Transactions[0], 0)
		for range coinsPerTx {
			tx.AddTxOut(wire.NewTxOut(coinValue, anyoneCanSpend))
		}
		m.chain.Mine(tx)
		id := tx.TxHash()
		for n := range coinsPerTx {
			m.coins = append(m.coins, wire.OutPoint{Hash: id, Index: uint32(n)})
		}
	}
	for _, b := range m.chain.Blocks()[1:] {
		m.connect(t, b)
	}
	return m
}

func (m *miner) connect(t *testing.T, b *wire.MsgBlock) {
	t.Helper()
	if main, orphan, err := m.own.ProcessBlock(btcutil.NewBlock(b), blockchain.BFNone); err != nil || orphan || !main {
		t.Fatalf("btcd rejects a block: %v (main chain %t, orphan %t)", err, main, orphan)
	}
}

// fill adds count unconfirmed transactions, of which a quarter spend the one before them. rate returns the fee rate of a
// transaction; parent is that of the transaction that it spends, 0: it spends confirmed outputs.
func (m *miner) fill(count int, rng *rand.Rand, rate func(parent float64) float64) {
	last := 0.0
	for i := range count {
		tx, in, parent := wire.NewMsgTx(2), int64(0), 0.0
		spend := func(out wire.OutPoint, value int64) {
			tx.AddTxIn(wire.NewTxIn(&out, nil, nil))
			in += value
		}
		spend(m.coins[2*i], coinValue)
		if i > 0 && rng.IntN(4) == 0 {
			before := m.txs[i-1].Tx
			spend(wire.OutPoint{Hash: *before.Hash()}, before.MsgTx().TxOut[0].Value)
			parent = last
		} else {
			spend(m.coins[2*i+1], coinValue)
		}
		tx.AddTxOut(wire.NewTxOut(0, anyoneCanSpend))
		tx.AddTxOut(wire.NewTxOut(0, append([]byte{txscript.OP_RETURN}, make([]byte, rng.IntN(400))...)))
		vsize := int64(tx.SerializeSize())
		fee := min(in, int64(rate(parent)*float64(vsize)))
		tx.TxOut[0].Value = in - fee
		last = float64(fee) / float64(vsize)
		m.known[tx.TxHash()] = true
		m.txs = append(m.txs, &mining.TxDesc{Tx: btcutil.NewTx(tx), Added: time.Unix(int64(i), 0), Fee: fee, FeePerKB: fee * 1000 / vsize})
	}
}

// overlay returns the overlay of a pool of the miner's transactions.
func (m *miner) overlay(t *testing.T) (*Overlay, model.Chain) {
	t.Helper()
	chain, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	decoded := func(blocks []*wire.MsgBlock, first int) (all []*model.Block) {
		for i, b := range blocks {
			for block, err := range chain.Decode(t.Context(), bytes.NewReader(bitcointest.Bytes(b)), nil, model.HeightPk(first+i)) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, block)
			}
		}
		return all
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, CacheBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), decoded(m.chain.Blocks(), 0)); err != nil {
		t.Fatal(err)
	}
	height := m.chain.Height()
	var txs []*model.Unconfirmed
	for part := range slices.Chunk(m.txs, 5000) { // decoded as a block
		var list []*wire.MsgTx
		for _, d := range part {
			list = append(list, d.Tx.MsgTx())
		}
		block := m.chain.Fork(height).Mine(list...)
		for i, tx := range decoded([]*wire.MsgBlock{block}, height+1)[0].Txs[1:] {
			tx.Raw = nil
			u := &model.Unconfirmed{Tx: tx, Size: list[i].SerializeSize(), Weight: 4 * list[i].SerializeSize()}
			u.VSize = u.Size
			txs = append(txs, u)
		}
	}
	pool := NewPool(chain.Traits(), 1<<40, time.Now)
	if err := db.From(t.Context(), func(q *query.Query) error { return pool.Enter(q, txs) }); err != nil {
		t.Fatal(err)
	}
	if pool.Count() != len(m.txs) {
		t.Fatalf("%d of %d transactions entered", pool.Count(), len(m.txs))
	}
	return pool.Overlay(), chain
}

// The first projected block has the fees of btcd's own template within 1%, and btcd accepts it as a block. If
// transactions pay for their parents, which btcd's template ignores, the projected block has at least as much.
func TestFeesOfTheTemplateAreThoseOfBtcd(t *testing.T) {
	count := testrun.Amount(50_000, 8000)
	for name, c := range map[string]struct {
		rate   func(rng *rand.Rand) func(float64) float64
		exact  bool
		better float64 // least excess over btcd
	}{
		"parents pay more": {func(rng *rand.Rand) func(float64) float64 {
			return func(parent float64) float64 {
				if parent > 0 {
					return parent * (0.3 + 0.7*rng.Float64())
				}
				return math.Exp(rng.Float64() * 5)
			}
		}, true, -0.01},
		"few pay for their parents": {func(rng *rand.Rand) func(float64) float64 {
			return func(parent float64) float64 {
				if parent > 0 && rng.IntN(20) > 0 {
					return parent * (0.3 + 0.7*rng.Float64())
				}
				return math.Exp(rng.Float64() * 5)
			}
		}, true, -0.01},
		"children pay for their parents": {func(rng *rand.Rand) func(float64) float64 {
			return func(parent float64) float64 {
				if parent > 0 {
					return 300
				}
				return math.Exp(rng.Float64() * 4)
			}
		}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rng := testseed.Rand(t)
			m := newMiner(t, 2*count)
			m.fill(count, rng, c.rate(rng))
			policy := &mining.Policy{BlockMaxWeight: blockchain.MaxBlockWeight, BlockMaxSize: blockchain.MaxBlockBaseSize}
			params := chaincfg.RegressionNetParams
			generator := mining.NewBlkTmplGenerator(policy, &params, m, m.own, blockchain.NewMedianTime(), nil, nil)
			theirs, err := generator.NewBlockTemplate(nil)
			if err != nil {
				t.Fatal(err)
			}
			want := float64(-theirs.Fees[0])
			o, chain := m.overlay(t)
			ours := o.template(chain.Traits().BlockVSize)
			more := float64(ours.Blocks[0].Fees)/want - 1
			t.Logf("btcd: %d transactions, fees %.0f; projected: %d, %d, %+.3f%%", len(theirs.Fees)-1, want, ours.Blocks[0].Count,
				ours.Blocks[0].Fees, 100*more)
			if more < c.better || c.exact && more > 0.01 {
				t.Errorf("the projected block has fees of %d, btcd's template %.0f: %+.2f%%", ours.Blocks[0].Fees, want, 100*more)
			}
			m.connect(t, m.chain.Mine(m.block(o, ours)...))
		})
	}
}

// block returns the transactions of the first projected block, parents first.
func (m *miner) block(o *Overlay, template *Template) (txs []*wire.MsgTx) {
	type placed struct {
		tx        *wire.MsgTx
		ancestors int
	}
	var list []placed
	for _, d := range m.txs {
		tx := o.Tx(model.Hash(*d.Tx.Hash()))
		if block, _, ok := template.Place(tx); ok && block == 0 {
			list = append(list, placed{d.Tx.MsgTx(), o.Ancestors(tx).Count})
		}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.ancestors, b.ancestors) })
	for _, p := range list {
		txs = append(txs, p.tx)
	}
	return txs
}
