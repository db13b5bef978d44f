package core

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"birthmark/core/ledger"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
	"birthmark/storage"
)

// Every index with balances has a list of the largest ones, which writes keep exact (package ledger). Large writes in
// bulk change balances without reading them, and so end the list. After the database has caught up, the list is built
// again by a scan of the balances, in parts, concurrently with writes. These record the values that they change
// meanwhile, and the last step reads those again.

// richestPart is the number of balances that a step of a scan reads; tests change it.
var richestPart = 1 << 18

// completeRichest builds the lists of the largest balances that are missing or too short. working is called when it
// begins and ends to build them.
func (db *DB) completeRichest(ctx context.Context, log *slog.Logger, working func(bool)) error {
	for _, x := range db.layout().Indexes {
		if !x.Active.Has(schema.FeatureBalance) {
			continue
		}
		var list *schema.RichestList
		err := db.store.View(ctx, func(r storage.Reader) (err error) {
			list, err = x.ReadRichest(r)
			return err
		})
		if err != nil {
			return err
		}
		if list != nil && (list.Whole() || list.Count >= uint64(ledger.Richest.Least)) {
			continue
		}
		began := time.Now()
		log.Info("building the list of the largest balances (safe to interrupt)", "index", x.Name)
		working(true)
		built, err := db.buildRichest(ctx, x)
		working(false)
		if err != nil {
			return err
		}
		if built {
			log.Info("built the list of the largest balances", "index", x.Name, "took", time.Since(began))
		}
	}
	return nil
}

// buildRichest builds the list of an index. It reports false if the index has gone, or a write in bulk ended the attempt.
func (db *DB) buildRichest(ctx context.Context, x *schema.Index) (built bool, err error) {
	f := x.Family(schema.IndexRichest)
	if ok, err := db.updateRichest(ctx, x, func(r storage.Reader, b storage.Batch) error {
		b.Put(f, schema.RichestBuilding, nil)
		from, to := schema.RichestChanges()
		return deleteRows(r, b, f, from, to) // of an attempt that was interrupted
	}); !ok || err != nil {
		return false, err
	}
	top, err := db.scanRichest(ctx, x)
	if err != nil {
		return false, err
	}
	ok, err := db.updateRichest(ctx, x, func(r storage.Reader, b storage.Batch) (err error) {
		if built, err = isBuilding(r, f); !built || err != nil {
			return err
		}
		return writeRichest(r, b, x, top)
	})
	if built = built && ok && err == nil; built {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.notifyMoved() // the tip is the same
	}
	return built, err
}

// updateRichest updates the rows of a list, unless the index has gone.
func (db *DB) updateRichest(ctx context.Context, x *schema.Index, fn func(storage.Reader, storage.Batch) error) (ok bool, err error) {
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	if !slices.Contains(db.layout().Indexes, x) {
		return false, nil
	}
	return true, db.store.Update(ctx, fn)
}

func isBuilding(r storage.Reader, f storage.Family) (bool, error) {
	rows, err := r.GetMany(f, [][]byte{schema.RichestBuilding})
	return err == nil && rows[0] != nil, err
}

func deleteRows(r storage.Reader, b storage.Batch, f storage.Family, from, to []byte) error {
	for kv, err := range r.Scan(f, from, to, false) {
		if err != nil {
			return err
		}
		b.Delete(f, kv.Key)
	}
	return nil
}

// richestValue is a value of a list, ordered by its key.
type richestValue struct {
	balance schema.Int128
	birth   model.BirthPk
	unspent uint64
}

func (v richestValue) before(o richestValue) bool {
	if c := v.balance.Cmp(o.balance); c != 0 {
		return c > 0
	}
	return schema.CompareBirths(v.birth, o.birth) < 0
}

// richestRanges is the number of ranges per processor into which a scan divides the chain. Values are not spread evenly
// over it.
const richestRanges = 8

// scanRichest reads all balances, on all processors, and returns the largest ones. It ends early if the attempt has ended.
// Values that are born later are among the recorded ones.
func (db *DB) scanRichest(ctx context.Context, x *schema.Index) (*setops.Top[richestValue], error) {
	heights, processors := uint64(db.Tip().Height)+1, runtime.GOMAXPROCS(0)
	ranges := uint64(richestRanges * processors)
	var next atomic.Uint64
	tops := make([]setops.Top[richestValue], processors)
	g, gctx := errgroup.WithContext(ctx)
	for i := range tops {
		top := &tops[i]
		*top = setops.Top[richestValue]{Limit: ledger.Richest.Kept, Before: richestValue.before}
		g.Go(func() error {
			return guard.Call(func() error {
				for n := next.Add(1); n <= ranges; n = next.Add(1) {
					from := db.layout().FirstPk(model.HeightPk(heights * (n - 1) / ranges)).AppendTo(nil)
					to := db.layout().FirstPk(model.HeightPk(heights * n / ranges)).AppendTo(nil)
					if err := db.scanRange(gctx, x, from, to, top); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	for i := range tops[1:] {
		for v := range tops[1+i].Items() {
			tops[0].Offer(v)
		}
	}
	return &tops[0], nil
}

// scanRange offers the values with from <= key < to, in a snapshot per richestPart of them.
func (db *DB) scanRange(ctx context.Context, x *schema.Index, from, to []byte, top *setops.Top[richestValue]) error {
	for from != nil {
		err := db.store.View(ctx, func(r storage.Reader) error {
			building, err := isBuilding(r, x.Family(schema.IndexRichest))
			if !building || err != nil {
				from = nil
				return err
			}
			from, err = scanBalances(r, x, from, to, top)
			return err
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// scanBalances offers richestPart values from a key on, and returns the key to continue from; nil at the end.
func scanBalances(r storage.Reader, x *schema.Index, from, to []byte, top *setops.Top[richestValue]) ([]byte, error) {
	n := 0
	for kv, err := range r.Scan(x.Family(schema.IndexBalance), from, to, false) {
		if err != nil {
			return nil, err
		}
		if n++; n > richestPart {
			return slices.Clone(kv.Key), nil
		}
		if last, full := top.Last(); full && schema.ReceivedLess(kv.Value, last.balance) {
			continue
		}
		birth, err := model.ParseBirthPk(kv.Key, x.Kind.HasOrdinal())
		if err != nil {
			return nil, err
		}
		account, err := schema.ParseAccountRow(kv.Value)
		if err != nil {
			return nil, err
		}
		if account.Unspent > 0 {
			top.Offer(richestValue{account.Balance(), birth, uint64(account.Unspent)})
		}
	}
	return nil, nil
}

// writeRichest replaces the list by the values of top, and by the ones that changed since they were read.
func writeRichest(r storage.Reader, b storage.Batch, x *schema.Index, top *setops.Top[richestValue]) error {
	list, f := &schema.RichestList{}, x.Family(schema.IndexRichest)
	last, full := top.Last()
	if full {
		list.Last = schema.AppendRichestKey(nil, x, last.balance, last.birth)
	}
	changed := map[model.BirthPk]bool{}
	var keys [][]byte
	from, to := schema.RichestChanges()
	for kv, err := range r.Scan(f, from, to, false) {
		if err != nil {
			return err
		}
		birth, err := x.ParseRichestChanged(kv.Key)
		if err != nil {
			return err
		}
		changed[birth] = true
		keys = append(keys, birth.AppendTo(nil, x.Kind.HasOrdinal()))
		b.Delete(f, kv.Key)
	}
	from, to = schema.RichestRows()
	if err := deleteRows(r, b, f, from, to); err != nil {
		return err
	}
	put := func(v richestValue) {
		key := schema.AppendRichestKey(nil, x, v.balance, v.birth)
		if list.Has(key) {
			b.Put(f, key, schema.AppendRichestRow(nil, v.unspent))
			list.Count++
		}
	}
	for _, v := range top.Sorted() {
		if !changed[v.birth] {
			put(v)
		}
	}
	for part := range slices.Chunk(keys, ledger.BatchRows) {
		rows, err := r.GetMany(x.Family(schema.IndexBalance), part)
		if err != nil {
			return err
		}
		for i, row := range rows {
			if row == nil {
				continue // a rollback removed the value
			}
			birth, err := model.ParseBirthPk(part[i], x.Kind.HasOrdinal())
			if err != nil {
				return err
			}
			account, err := schema.ParseAccountRow(row)
			if err != nil {
				return err
			}
			if account.Unspent > 0 {
				put(richestValue{account.Balance(), birth, uint64(account.Unspent)})
			}
		}
	}
	b.Delete(f, schema.RichestBuilding)
	b.Put(f, schema.RichestState, schema.AppendRichestState(nil, list))
	return nil
}
