//go:build bench

package bench

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"birthmark/core/query/richest"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage"
)

// TestRichListsAtSize compares the rich list of a large database with a scan of all balances after each of 100 forks
// (BIRTHMARK_RICHEST_FORKS), and logs how long the list and the scan take. It needs BIRTHMARK_RICHEST=TRANSACTIONS and
// BIRTHMARK_RICHEST_DIR, a folder for the recording and the database, which are kept.
func TestRichListsAtSize(t *testing.T) {
	txs, err := strconv.Atoi(os.Getenv("BIRTHMARK_RICHEST"))
	dir := os.Getenv("BIRTHMARK_RICHEST_DIR")
	if err != nil || dir == "" {
		t.Skip("set BIRTHMARK_RICHEST to a number of transactions and BIRTHMARK_RICHEST_DIR to a folder")
	}
	ctx := t.Context()
	seed := testseed.Of(t, 1)
	c := Chain{Name: "bitcoin", Txs: txs, TxsPerBlock: 2000, Seed: seed, Indexes: []string{"address"},
		Keep: map[string]model.IndexOptions{"address": {Balance: true}}}
	blocks, err := Reuse(dir+"/recording", c)
	if blocks == nil && err == nil {
		blocks, err = Record(ctx, dir+"/recording", c, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	rounds := 100
	if n, err := strconv.Atoi(os.Getenv("BIRTHMARK_RICHEST_FORKS")); err == nil {
		rounds = n
	}
	began := time.Now()
	db, err := open(ctx, blocks, txs, Options{Dir: dir + "/db", BlockCache: 256 << 20, WriteBuffers: 256 << 20, Caches: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.store.Close()
	t.Logf("synced %d transactions in %v", txs, time.Since(began))
	rng := rand.New(rand.NewPCG(seed, 0))
	var lists, scans []time.Duration
	var writing time.Duration
	top := db.Tip().Height
	for range rounds {
		to, err := db.PointAt(ctx, min(db.Tip().Height, top-6)-model.HeightPk(rng.IntN(3)))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := db.Rollback(ctx, to); err != nil {
			t.Fatal(err)
		}
		until, err := blocks.Before(txs, 1+rng.IntN(5))
		if err != nil {
			t.Fatal(err)
		}
		src, err := blocks.Replay(until)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range src.Follow(ctx, []model.Point{to}) {
			if err == nil {
				err = db.Append(ctx, []*model.Block{e.Block})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
		writing += time.Since(began)
		began = time.Now()
		got, err := richest.Of(ctx, db.Queries, "address", "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, time.Since(began))
		began = time.Now()
		want, values := scanned(t, db.store, 1000)
		scans = append(scans, time.Since(began))
		for i, w := range want {
			if len(got.Values) <= i || got.Values[i].Balance != w.Balance().String() || *got.Values[i].UnspentCount != uint64(w.Unspent) {
				t.Fatalf("tip %d: value %d of the list differs from the scan", db.Tip().Height, i)
			}
		}
		if kept, err := richest.Kept(ctx, db.Queries, "address", 1000); !kept || err != nil {
			t.Fatalf("the list is not kept: %v", err)
		}
		if len(lists)%10 == 1 {
			t.Logf("%d forks, %d values, %v of writing", len(lists), values, writing)
		}
	}
	slices.Sort(lists)
	slices.Sort(scans)
	t.Logf("list of 1000: median %v, slowest %v; scan: median %v", lists[len(lists)/2], lists[len(lists)-1], scans[len(scans)/2])
}

// scanned returns the largest balances of addresses by a scan of all of them, and the number of addresses.
func scanned(t *testing.T, s storage.Store, limit int) (largest []schema.Account, values int) {
	t.Helper()
	type account struct {
		birth model.BirthPk
		schema.Account
	}
	top := setops.Top[account]{Limit: limit, Before: func(a, b account) bool {
		if c := a.Balance().Cmp(b.Balance()); c != 0 {
			return c > 0
		}
		return schema.CompareBirths(a.birth, b.birth) < 0
	}}
	err := s.View(context.Background(), func(r storage.Reader) error {
		for kv, err := range r.Scan(schema.FirstIndexFamily+schema.IndexBalance, nil, nil, false) {
			if err != nil {
				return err
			}
			birth, err := model.ParseBirthPk(kv.Key, false)
			if err != nil {
				return err
			}
			a, err := schema.ParseAccountRow(kv.Value)
			if err != nil {
				return err
			}
			if values++; a.Unspent > 0 {
				top.Offer(account{birth, a})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range top.Sorted() {
		largest = append(largest, a.Account)
	}
	return largest, values
}
