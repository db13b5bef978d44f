//go:build bench

package wallet_test

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"birthmark/api/compat/wallet"
	"birthmark/bench/generate/bitcoingen"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/rocks"
)

// benchmarked is a generated chain in RocksDB, shared by all benchmarks.
type benchmarked struct {
	wallet *wallet.Chain
	keys   []wallet.Key
	hot    wallet.Key
	ids    []model.Hash
	blocks [][2]int // height and number of transactions
}

// ordinary is the largest number of transactions of an ordinary script.
const ordinary = 20

var shared struct {
	sync.Once
	benchmarked
}

// benchmark returns a chain of 200,000 transactions.
func benchmark(b *testing.B) *benchmarked {
	b.Helper()
	shared.Do(func() {
		dir, err := os.MkdirTemp("", "wallet-bench")
		if err != nil {
			b.Fatal(err)
		}
		ctx := context.Background()
		made, err := bitcoingen.Write(ctx, dir, bitcoingen.Options{Seed: 1, Txs: 200_000}, func(bitcoingen.Counts) {})
		if err != nil {
			b.Fatal(err)
		}
		o := options(b)
		o.CacheBytes = 256 << 20
		store, err := rocks.Open(dir+"/db", rocks.Options{WAL: true, BlockCache: 256 << 20, WriteBuffers: 64 << 20, Holder: b.Name()})
		if err != nil {
			b.Fatal(err)
		}
		db := open(b, store, o) // not closed: later benchmarks use it
		src, err := db.Chain().Open(ctx, model.SourceOptions{URI: "file://" + dir + "/blocks", Indexes: db.Indexes(), Raw: true})
		if err != nil {
			b.Fatal(err)
		}
		defer src.Close()
		if err := core.Sync(ctx, db, src, core.SyncOptions{}); err != nil {
			b.Fatal(err)
		}
		s := &shared.benchmarked
		s.wallet = newChain(b, serve(db))
		script, err := s.wallet.ScriptOfAddress(made.HotAddress())
		if err != nil {
			b.Fatal(err)
		}
		s.hot = wallet.KeyOf(script)
		rng := rand.New(rand.NewPCG(1, 2))
		view(b, s.wallet, func(v *wallet.View) {
			for range 300 {
				h := 101 + rng.Uint32N(uint32(v.Tip.Height)-100)
				block, err := v.Block(h)
				if err != nil {
					b.Fatal(err)
				}
				txs, err := v.BlockTxs(h, rng.IntN(block.TxCount), 20)
				if err != nil {
					b.Fatal(err)
				}
				s.blocks = append(s.blocks, [2]int{int(h), block.TxCount})
				for _, tx := range txs {
					s.ids = append(s.ids, tx.ID)
					for _, o := range tx.Msg.TxOut {
						script, err := v.Script(wallet.KeyOf(o.PkScript))
						if err != nil {
							b.Fatal(err)
						}
						if stats, _, err := script.Stats(); err != nil {
							b.Fatal(err)
						} else if stats.Txs > 0 && stats.Txs <= ordinary {
							s.keys = append(s.keys, wallet.KeyOf(o.PkScript))
						}
					}
				}
			}
		})
	})
	return &shared.benchmarked
}

func each(b *testing.B, fn func(s *benchmarked, v *wallet.View, i int) error) {
	s := benchmark(b)
	b.ReportAllocs()
	began := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		if err := s.wallet.View(b.Context(), func(v *wallet.View) error { return fn(s, v, i) }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N), "cpu-ns/op")
}

// cpuTime returns the processor time of this process: other processes do not distort it, unlike the time of a clock.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func balance(v *wallet.View, key wallet.Key) error {
	script, err := v.Script(key)
	if err == nil {
		_, _, err = script.Stats()
	}
	return err
}

func history(v *wallet.View, key wallet.Key) error {
	script, err := v.Script(key)
	if err != nil {
		return err
	}
	for _, err := range script.History(nil, false) {
		if err != nil {
			return err
		}
	}
	return nil
}

func BenchmarkView(b *testing.B) { each(b, func(*benchmarked, *wallet.View, int) error { return nil }) }

func BenchmarkBalance(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error { return balance(v, s.keys[i%len(s.keys)]) })
}

func BenchmarkBalanceOfHotScript(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error { return balance(v, s.hot) })
}

func BenchmarkHistory(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error { return history(v, s.keys[i%len(s.keys)]) })
}

func BenchmarkHistoryOfHotScript(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error { return history(v, s.hot) })
}

func BenchmarkStatus(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error {
		script, err := v.Script(s.keys[i%len(s.keys)])
		if err == nil {
			_, _, _, err = script.Status(nil)
		}
		return err
	})
}

func BenchmarkUnspent(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error {
		script, err := v.Script(s.keys[i%len(s.keys)])
		if err != nil {
			return err
		}
		for _, err := range script.Unspent() {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkMerkleBranch(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error {
		block := s.blocks[i%len(s.blocks)]
		_, err := v.MerkleBranch(uint32(block[0]), i%block[1])
		return err
	})
}

func BenchmarkTx(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error {
		_, err := v.Tx(s.ids[i%len(s.ids)])
		return err
	})
}

func BenchmarkRawTx(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error {
		_, _, err := v.RawTx(s.ids[i%len(s.ids)])
		return err
	})
}

func BenchmarkBlockTxs(b *testing.B) {
	each(b, func(s *benchmarked, v *wallet.View, i int) error {
		_, err := v.BlockTxs(uint32(s.blocks[i%len(s.blocks)][0]), 0, 25)
		return err
	})
}
