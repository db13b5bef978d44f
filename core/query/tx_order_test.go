package query_test

import (
	"cmp"
	"context"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The orders of every block equal a stable sort of its transactions.
func TestOrdersMatchTransactions(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		if v.Placed {
			return // without files there are no orders
		}
		db := coretest.Open(t, memory.New(), v, 1<<16)
		coretest.AppendAll(t, db, v.NewGenerator(testseed.Of(t, 77)).Blocks(20), 8)
		coretest.Consistent(t, db)
		compare(t, db, func(tx *query.TxAnswer) int64 { return int64(tx.Size) })
	})
}

// compare compares the orders of every block with sorted answers. size is the size of a transaction.
func compare(t *testing.T, db *core.DB, size func(*query.TxAnswer) int64) {
	t.Helper()
	ctx := context.Background()
	err := db.View(ctx, func(v *query.View) error {
		orders, err := v.TxOrders(ctx)
		if err != nil {
			return err
		}
		for h := uint32(0); h <= uint32(v.Tip.Height); h++ {
			hash, err := v.PointAt(ctx, model.HeightPk(h))
			if err != nil {
				continue // below the first block
			}
			block, err := v.Block(ctx, db.Chain().FormatHash(hash.Hash))
			if err != nil {
				return err
			}
			txs := make([]*query.TxAnswer, len(block.Txs))
			for i, hash := range block.Txs {
				if txs[i], err = v.Tx(ctx, hash); err != nil {
					return err
				}
			}
			for _, by := range orders {
				got, err := v.SortedTxs(ctx, h, by)
				if err != nil {
					return err
				}
				want := sorted(txs, by, size)
				if !slices.Equal(got, want) {
					t.Errorf("block %d by %s: %v, expected %v", h, by, got, want)
				}
			}
			if !slices.Contains(orders, query.OrderBySize) {
				continue
			}
			totals, filling, err := v.BlockFilling(ctx, h)
			if err != nil {
				return err
			}
			if want, err := v.BlockTotals(ctx, block.Hash); err != nil || !reflect.DeepEqual(totals, want) {
				t.Errorf("block %d: the sums %+v, expected %+v, %v", h, totals, want, err)
			}
			if want := fillingOf(txs, size); !slices.Equal(filling, want) {
				t.Errorf("block %d: %v, expected %v", h, filling, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fillingOf is the reference: the numbers of the answers of the transactions.
func fillingOf(txs []*query.TxAnswer, size func(*query.TxAnswer) int64) []query.TxFilling {
	list := make([]query.TxFilling, len(txs))
	for i, tx := range txs {
		value := new(big.Int)
		for _, o := range tx.Outputs {
			n, _ := new(big.Int).SetString(o.Value, 10)
			value.Add(value, n)
		}
		fee, err := strconv.ParseUint(tx.Fee, 10, 64)
		list[i] = query.TxFilling{Size: size(tx), Fee: fee, Paid: err == nil, Value: value.String()}
	}
	return list
}

// sorted is the reference: positions sorted by exact quotients, the largest first.
func sorted(txs []*query.TxAnswer, by query.TxOrder, size func(*query.TxAnswer) int64) []int {
	keys, known := make([]*big.Rat, len(txs)), make([]int, len(txs))
	positions := make([]int, len(txs))
	for i, tx := range txs {
		positions[i], keys[i], known[i] = i, new(big.Rat), 1
		fee, ok := new(big.Rat).SetString(tx.Fee)
		switch by {
		case query.OrderByValue:
			for _, o := range tx.Outputs {
				n, _ := new(big.Rat).SetString(o.Value)
				keys[i].Add(keys[i], n)
			}
		case query.OrderBySize:
			keys[i].SetInt64(size(tx))
		default:
			if !ok {
				known[i] = 0
				continue
			}
			if keys[i] = fee; by == query.OrderByFeeRate {
				keys[i].Quo(fee, new(big.Rat).SetInt64(size(tx)))
			}
		}
	}
	slices.SortStableFunc(positions, func(a, b int) int { return cmp.Or(known[b]-known[a], keys[b].Cmp(keys[a])) })
	return positions
}

// weighing is a chain whose miners select transactions by fee per virtual byte. The virtual size of a transaction is a
// quarter of its bytes.
type weighing struct{ model.Chain }

func (w weighing) Traits() model.Traits {
	traits := w.Chain.Traits()
	traits.BlockVSize = 1_000_000
	return traits
}

func (weighing) WeighTx(raw []byte) (weight, vsize int, err error) {
	return len(raw), (len(raw) + 3) / 4, nil
}

func TestTheFeeRateIsPerVirtualByte(t *testing.T) {
	v := modeltest.Variants()[0] // with raw transactions
	chain := weighing{v.Chain("one")}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Keep: v.Keep(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	coretest.AppendAll(t, db, v.NewGenerator(testseed.Of(t, 78)).Blocks(20), 8)
	coretest.Consistent(t, db)
	orders, err := db.TxOrders(t.Context())
	want := []query.TxOrder{query.OrderByValue, query.OrderByFee, query.OrderByFeeRate, query.OrderBySize}
	if err != nil || !slices.Equal(orders, want) {
		t.Fatalf("orders %v, expected %v; %v", orders, want, err)
	}
	compare(t, db, func(tx *query.TxAnswer) int64 { return int64(tx.Size+3) / 4 })
}
