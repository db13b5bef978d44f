package onesat_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoinsv"
	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/coretest"
	"birthmark/core/pending"
	"birthmark/core/pending/answers"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/onesattest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// indexes are those of the preset onesat.
var indexes = []string{"address", "script_hash", "contract", "content_type", "parent", "symbol"}

var hot = model.IndexOptions{Balance: true, Unspent: true, History: true}

// chainWith returns regtest of BSV with derived assets.
func chainWith(t testing.TB, assets string) model.Chain {
	t.Helper()
	c, err := bitcoin.Open(bitcoinsv.Spec, "regtest")
	if err == nil {
		c, err = c.(model.TokenChain).WithTokens(assets)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func open(t testing.TB, c model.Chain, cache int64) *core.DB {
	t.Helper()
	db, err := core.Open(t.Context(), memory.New(), core.Options{
		Chain: c, Indexes: indexes, CacheBytes: cache, Keep: map[string]model.IndexOptions{"address": hot, "script_hash": hot},
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// decoded returns the blocks of a chain from a height on, decoded.
func decoded(t testing.TB, c model.Chain, chain *bitcointest.Chain, from int) (blocks []*model.Block) {
	t.Helper()
	file := bitcointest.BlockFile(wire.TestNet, chain.Blocks()[from:]...)
	height := model.HeightPk(from)
	for b, err := range c.Decode(t.Context(), bytes.NewReader(file), indexes, height) {
		if err != nil {
			t.Fatal(err)
		}
		b.Height = height
		blocks = append(blocks, b)
		height++
	}
	return blocks
}

// The rows are a function of the chain: batches, caches and reorganizations do not change them, and a rollback undoes an
// append, with assets of each kind.
func TestRowsAreAFunctionOfTheChain(t *testing.T) {
	t.Parallel()
	for _, assets := range []string{"1sat", "bsv21", "ordinals"} {
		t.Run(assets, func(t *testing.T) {
			t.Parallel()
			c := chainWith(t, assets)
			w := onesattest.NewWorld(testseed.Rand(t))
			for range testrun.Amount(60, 30) {
				w.Next(6)
			}
			blocks := decoded(t, c, w.Chain, 0)
			db := open(t, c, 1<<20)
			states := []coretest.Dumped{coretest.Dump(t, db)}
			for _, b := range blocks {
				coretest.AppendAll(t, db, []*model.Block{b}, 1)
				states = append(states, coretest.Dump(t, db))
			}
			coretest.Consistent(t, db)
			last := states[len(states)-1]
			for _, cut := range []struct {
				batch int
				cache int64
			}{{7, 2 << 10}, {500, 0}} {
				other := open(t, c, cut.cache)
				coretest.AppendAll(t, other, blocks, cut.batch)
				coretest.Same(t, "other batches and caches", coretest.Dump(t, other), last)
				coretest.Consistent(t, other)
			}
			half := len(blocks) / 2
			for i := len(blocks) - 1; i >= half; i-- {
				coretest.Rollback(t, db, blocks[i-1].Point())
				coretest.Same(t, "rolled back", coretest.Dump(t, db), states[i])
			}
			coretest.Consistent(t, db)
			fork := onesattest.NewWorld(testseed.Rand(t))
			fork.Chain = w.Chain.Fork(half - 1)
			for range 5 {
				fork.Next(4)
			}
			coretest.AppendAll(t, db, decoded(t, c, fork.Chain, half), 3)
			coretest.Consistent(t, db)
			coretest.Rollback(t, db, blocks[half-1].Point())
			coretest.AppendAll(t, db, blocks[half:], 5)
			coretest.Same(t, "after a fork", coretest.Dump(t, db), last)
		})
	}
}

// Every output of a database holds the amounts of the slow model.
func TestHoldingsEqualTheModel(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	held, moved := 0, 0
	for range testrun.Amount(8, 2) {
		c := chainWith(t, "1sat")
		w := onesattest.NewWorld(rng)
		for range testrun.Amount(150, 60) {
			w.Next(8)
		}
		db := open(t, c, 64<<10)
		coretest.AppendAll(t, db, decoded(t, c, w.Chain, 0), 9)
		coretest.Consistent(t, db)
		for _, b := range w.Blocks() {
			for _, tx := range b.Transactions {
				a, err := db.Tx(t.Context(), tx.TxHash().String())
				if err != nil {
					t.Fatal(err)
				}
				for i, o := range a.Outputs {
					got, want := onesattest.Holdings{}, w.Held[onesattest.Outpoint(tx, uint32(i))]
					for _, x := range o.Assets {
						n, err := strconv.ParseUint(x.Amount, 10, 64)
						if err != nil {
							t.Fatal(err)
						}
						got[x.Asset] = n
						if x.Action == "transfer" {
							moved++
						}
					}
					if !maps.Equal(got, want) {
						t.Fatalf("output %d of %s: %v, expected %v", i, tx.TxHash(), got, want)
					}
					held += len(got)
				}
			}
		}
	}
	if held < 100 || moved < 20 {
		t.Errorf("only %d holdings, of which %d moved", held, moved)
	}
}

// An unconfirmed transaction has the assets that it has in the next block.
func TestUnconfirmedAssetsAreThoseOfTheNextBlock(t *testing.T) {
	t.Parallel()
	for _, assets := range []string{"1sat", "bsv21", "ordinals"} {
		t.Run(assets, func(t *testing.T) {
			t.Parallel()
			c := chainWith(t, assets)
			w := onesattest.NewWorld(testseed.Rand(t))
			for range testrun.Amount(60, 30) {
				w.Next(6)
			}
			blocks := decoded(t, c, w.Chain, 0)
			db := open(t, c, 1<<20)
			pool := pending.NewPool(c.Traits(), 1<<30, time.Now)
			held, changes := 0, 0
			for _, b := range blocks {
				var txs []*model.Unconfirmed
				for i := range b.Txs[1:] {
					txs = append(txs, &model.Unconfirmed{Tx: b.Txs[1+i], Size: 200, VSize: 200})
				}
				unconfirmed := map[string]string{}
				err := db.From(t.Context(), func(q *query.Query) error {
					if err := pool.Enter(q, txs); err != nil {
						return err
					}
					o := pool.Overlay()
					r := answers.NewReader(q, o)
					for tx := range o.Arrivals(0) {
						a := r.Tx(tx)
						text := ""
						for i, out := range a.Outputs {
							for _, e := range out.Assets {
								text += fmt.Sprintf("%d holds %s %s\n", i, e.Asset, e.Amount)
								held++
							}
						}
						for _, m := range a.Mints {
							text += fmt.Sprintf("mint %s %s\n", m.Asset, m.Amount)
							changes++
						}
						unconfirmed[a.Hash] = text
					}
					return nil
				})
				if err != nil || len(unconfirmed) != len(txs) {
					t.Fatalf("block %d: %d of %d transactions, %v", b.Height, len(unconfirmed), len(txs), err)
				}
				coretest.AppendAll(t, db, []*model.Block{b}, 1)
				err = db.View(t.Context(), func(v *query.View) error {
					for hash, got := range unconfirmed {
						a, err := v.Tx(t.Context(), hash)
						if err != nil {
							return err
						}
						want := ""
						for i, out := range a.Outputs {
							for _, e := range out.Assets {
								want += fmt.Sprintf("%d holds %s %s\n", i, e.Asset, e.Amount)
							}
						}
						for _, m := range a.Mints {
							want += fmt.Sprintf("mint %s %s\n", m.Asset, m.Amount)
						}
						if sorted(got) != sorted(want) {
							t.Errorf("block %d, transaction %s\nunconfirmed\n%s\nconfirmed\n%s", b.Height, hash, got, want)
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if held < 15 || changes < 15 {
				t.Errorf("only %d holdings and %d changes of supplies", held, changes)
			}
		})
	}
}

func sorted(lines string) string {
	list := strings.Split(lines, "\n")
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// listed is a source of blocks.
type listed []*model.Block

func (l listed) Tip(context.Context) (model.Point, error) { return l[len(l)-1].Point(), nil }
func (l listed) Close() error                             { return nil }

func (l listed) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, b := range l {
			if !yield(model.Event{Block: b, Tip: l[len(l)-1].Height}, nil) {
				return
			}
		}
	}
}

// A database to which assets are added has the same rows as one that was created with them.
func TestAddedAssetsEqualAssetsFromTheStart(t *testing.T) {
	t.Parallel()
	for _, assets := range []string{"1sat", "bsv21", "ordinals"} {
		t.Run(assets, func(t *testing.T) {
			t.Parallel()
			with := chainWith(t, assets)
			without, err := bitcoin.Open(bitcoinsv.Spec, "regtest")
			if err != nil {
				t.Fatal(err)
			}
			rng := testseed.Rand(t)
			w := onesattest.NewWorld(rng)
			for range testrun.Amount(60, 30) {
				w.Next(6)
			}
			blocks := decoded(t, with, w.Chain, 0)
			all := open(t, with, 1<<20)
			coretest.AppendAll(t, all, blocks, 7)
			db := open(t, without, 1<<20)
			half := len(blocks) / 2
			coretest.AppendAll(t, db, decoded(t, without, w.Chain, 0)[:half], 5)
			if err := db.AddIndex(t.Context(), assets, model.IndexOptions{}); err != nil {
				t.Fatal(err)
			}
			coretest.AppendAll(t, db, decoded(t, without, w.Chain, 0)[half:half+3], 1)
			ctx, cancel := context.WithCancel(t.Context())
			steps := 0
			build := func(ctx context.Context) error {
				return db.Build(ctx, func(context.Context, *schema.Index, []model.Point) (model.Source, error) {
					return listed(blocks), nil
				}, backfill.Options{Weight: 1 + rng.IntN(200), Progress: func(backfill.Progress) {
					if steps++; steps == 3 {
						cancel()
					}
				}})
			}
			if err := build(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			coretest.Consistent(t, db)
			if err := build(t.Context()); err != nil {
				t.Fatal(err)
			}
			coretest.Consistent(t, db)
			coretest.AppendAll(t, db, blocks[half+3:], 4)
			coretest.Consistent(t, db)
			coretest.Same(t, "assets added", coretest.Dump(t, db), coretest.Dump(t, all))
		})
	}
}
