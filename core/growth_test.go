package core_test

import (
	"context"
	"errors"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/core/query/richest"
	"birthmark/core/query/search"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

type ask func(ctx context.Context, db *core.DB) error

// asked is every query, about the first blocks of a chain of [coretest.Uniform] or about its tip.
func asked(db *core.DB) map[string]ask {
	blocks := coretest.Uniform(3)
	chain := db.Chain()
	block, tx := chain.FormatHash(blocks[1].Hash), chain.FormatHash(blocks[1].Txs[0].Hash)
	out := blocks[1].Txs[0].Outputs[0]
	asset := chain.FormatAsset(out.Assets[0].ID)
	key := out.Keys[0]
	index, value := modeltest.IndexNames[key.Index], chain.Indexes()[key.Index].Format(key.Value)
	second := model.HeightPk(1)
	page := query.Page{Limit: 5}
	newest := query.Page{Limit: 5, Descending: true}
	return map[string]ask{
		"status":       func(ctx context.Context, db *core.DB) error { _, err := db.Status(ctx); return err },
		"tip":          func(ctx context.Context, db *core.DB) error { _, err := db.Queries.Tip(ctx); return err },
		"index list":   func(ctx context.Context, db *core.DB) error { _, err := db.IndexStates(ctx); return err },
		"block":        func(ctx context.Context, db *core.DB) error { _, err := db.Block(ctx, block); return err },
		"first block":  func(ctx context.Context, db *core.DB) error { _, err := db.Block(ctx, "genesis"); return err },
		"block totals": func(ctx context.Context, db *core.DB) error { _, err := db.BlockTotals(ctx, "tip"); return err },
		"blocks": func(ctx context.Context, db *core.DB) error {
			_, err := db.Blocks(ctx, query.Range{}, newest)
			return err
		},
		"forks":       func(ctx context.Context, db *core.DB) error { _, err := db.Forks(ctx, page); return err },
		"transaction": func(ctx context.Context, db *core.DB) error { _, err := db.Tx(ctx, tx); return err },
		"output": func(ctx context.Context, db *core.DB) error {
			_, err := db.Output(ctx, query.OutputRef(tx, 0))
			return err
		},
		"find": func(ctx context.Context, db *core.DB) error {
			_, err := db.Find(ctx, index, value, query.Terms{}, page)
			return err
		},
		"history": func(ctx context.Context, db *core.DB) error {
			_, err := db.History(ctx, index, value, query.Range{}, page)
			return err
		},
		"balance": func(ctx context.Context, db *core.DB) error { _, err := db.Balance(ctx, index, value); return err },
		"values":  func(ctx context.Context, db *core.DB) error { _, err := db.Values(ctx, index, newest); return err },
		"values by text": func(ctx context.Context, db *core.DB) error {
			_, err := db.ValuesByText(ctx, index, value[:3], page)
			return err
		},
		"assets": func(ctx context.Context, db *core.DB) error { _, err := db.Assets(ctx, newest); return err },
		"asset":  func(ctx context.Context, db *core.DB) error { _, err := db.Asset(ctx, asset); return err },
		"asset events": func(ctx context.Context, db *core.DB) error {
			_, err := db.AssetEvents(ctx, asset, query.Range{}, page)
			return err
		},
		"asset holders": func(ctx context.Context, db *core.DB) error {
			_, err := db.AssetHolders(ctx, asset, page)
			return err
		},
		"rich list of an asset": func(ctx context.Context, db *core.DB) error {
			_, err := richest.Of(ctx, db.Queries, index, asset, 5)
			return err
		},
		"balance then": func(ctx context.Context, db *core.DB) error {
			_, err := db.BalanceAt(ctx, index, value, query.Moment{Height: &second})
			return err
		},
		"history by day": func(ctx context.Context, db *core.DB) error {
			_, err := db.GroupedHistory(ctx, index, value, "day", query.Range{}, page)
			return err
		},
		"search of a block": func(ctx context.Context, db *core.DB) error {
			_, err := search.Of(ctx, db.Queries, chain, block, nil)
			return err
		},
		"search of a value": func(ctx context.Context, db *core.DB) error {
			_, err := search.Of(ctx, db.Queries, chain, value, nil)
			return err
		},
		"locator": func(ctx context.Context, db *core.DB) error { _, err := db.Locator(ctx); return err },
		"changes since the tip": func(ctx context.Context, db *core.DB) error {
			for _, err := range changes.Follow(ctx, db.Queries, []model.Point{db.Tip()}, changes.Filter{EveryBlock: true}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"samples": func(ctx context.Context, db *core.DB) error {
			_, err := db.BalanceSamples(ctx, index, value, query.Range{}, query.SampleLimits{})
			return err
		},
	}
}

// No query about the tip or about one object reads more rows the more blocks the chain has, apart from the steps of
// binary searches. The rich list of the coin is the exception: it compares all values.
func TestRowsReadDoNotGrowWithTheChain(t *testing.T) {
	const few, many, searches = 600, 3000, 256 // a step of a search by time reads 64 blocks
	read := map[string]int64{}
	for _, n := range []int{few, many} {
		store := &coretest.RowCounter{Store: memory.New()}
		db := coretest.Open(t, store, coretest.UniformChain, 1<<20)
		coretest.AppendAll(t, db, coretest.Uniform(n), 300)
		coretest.Consistent(t, db)
		for name, ask := range asked(db) {
			before := store.Rows.Load()
			if err := ask(t.Context(), db); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rows := store.Rows.Load() - before
			if n == few {
				read[name] = rows
			} else if rows > read[name]+searches {
				t.Errorf("%s reads %d rows of %d blocks and %d rows of %d", name, read[name], few, rows, many)
			}
			if rows == 0 && name != "index list" && name != "forks" {
				t.Errorf("%s reads nothing", name)
			}
		}
	}
}

// A scan ends with its context and above its budget: in a view, of which a request is made, at [pointers.MaxScanned].
func TestScansEndWithTheirContextAndBudget(t *testing.T) {
	db := coretest.Open(t, memory.New(), coretest.UniformChain, 1<<20)
	coretest.AppendAll(t, db, coretest.Uniform(1000), 200)
	scan := func(q *query.Query) (rows int, err error) {
		for _, err := range q.R.Scan(schema.FamilyUtxo, nil, nil, false) {
			if err != nil {
				return rows, err
			}
			rows++
		}
		return rows, nil
	}
	err := db.View(t.Context(), func(v *query.View) error {
		in := func(ctx context.Context, want int, wantErr error) {
			t.Helper()
			err := v.From(ctx, func(q *query.Query) error {
				if rows, err := scan(q); rows != want || !errors.Is(err, wantErr) {
					t.Errorf("%d rows and %v, expected %d and %v", rows, err, want, wantErr)
				}
				if rows, err := scan(q.Unlimited()); err == nil && rows != 1000 {
					t.Errorf("%d rows without a limit", rows)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		in(t.Context(), 1000, nil)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		in(ended, 255, context.Canceled)
		v.AtMost(10)
		in(t.Context(), 160, query.ErrTooManyRows)
		v.AtMost(0)
		in(t.Context(), 1000, nil)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
