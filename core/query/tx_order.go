package query

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"birthmark/model"
)

// TxOrder is an order of the transactions of a block.
type TxOrder string

// Orders. OrderByFeeRate and OrderBySize need raw transactions.
const (
	OrderByValue   TxOrder = "value"   // of all outputs
	OrderByFee     TxOrder = "fee"     // transactions without a known fee are last
	OrderByFeeRate TxOrder = "feerate" // fee per virtual byte, or per byte on chains without weight
	OrderBySize    TxOrder = "size"    // virtual size, or bytes on chains without weight
)

// TxOrders returns the orders that the database supports: OrderByFeeRate only on chains whose miners select transactions
// by it, and OrderByFeeRate and OrderBySize only if the raw transactions are stored or in the files of a node.
func (qs Queries) TxOrders(ctx context.Context) (list []TxOrder, err error) {
	err = qs.From(ctx, func(q *Query) error {
		list = []TxOrder{OrderByValue, OrderByFee}
		if q.Layout.Raw || q.Layout.RawFiles { // not if each is a request to a node
			if q.Traits.BlockVSize > 0 {
				list = append(list, OrderByFeeRate)
			}
			list = append(list, OrderBySize)
		}
		return nil
	})
	return list, err
}

// SortedTxs returns the positions of the transactions of the block at a height, largest first. Equal transactions keep
// the order of the block. It reads what [Queries.BlockTotals] reads, and for OrderByFeeRate also the raw transactions;
// for OrderBySize it reads the raw transactions alone.
func (qs Queries) SortedTxs(ctx context.Context, height uint32, by TxOrder) (positions []int, err error) {
	err = qs.From(ctx, func(q *Query) error {
		keys, err := q.orderKeys(model.HeightPk(height), by)
		if err != nil {
			return err
		}
		positions = make([]int, len(keys))
		for i := range positions {
			positions[i] = i
		}
		slices.SortStableFunc(positions, func(a, b int) int { return keys[b].compare(&keys[a]) })
		return nil
	})
	return positions, err
}

// orderKey is the quotient that transactions are compared by. A key without an amount is the smallest.
type orderKey struct {
	amount *big.Int // nil: unknown
	per    int64    // > 0
}

func (k *orderKey) compare(than *orderKey) int {
	if k.amount == nil || than.amount == nil {
		return cmp.Compare(number(k.amount != nil), number(than.amount != nil))
	}
	if k.per == than.per {
		return k.amount.Cmp(than.amount)
	}
	left, right := big.NewInt(than.per), big.NewInt(k.per)
	return left.Mul(left, k.amount).Cmp(right.Mul(right, than.amount))
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// orderKeys returns the keys of the transactions of the block at h.
func (q *Query) orderKeys(h model.HeightPk, by TxOrder) ([]orderKey, error) {
	var sizes []int64
	if by == OrderBySize || by == OrderByFeeRate {
		var err error
		if sizes, _, err = q.txSizes(h); err != nil {
			return nil, err
		}
	}
	if by == OrderBySize {
		keys := make([]orderKey, len(sizes))
		for i, size := range sizes {
			keys[i] = orderKey{big.NewInt(size), 1}
		}
		return keys, nil
	}
	sums, err := q.BlockSums(h, q.Pass)
	if err != nil {
		return nil, err
	}
	keys := make([]orderKey, len(sums))
	for i := range sums {
		keys[i] = orderKey{sums[i].Fee, 1}
		switch {
		case by == OrderByValue:
			keys[i].amount = &sums[i].Out
		case by == OrderByFeeRate && i < len(sizes):
			keys[i].per = max(1, sizes[i])
		}
	}
	return keys, nil
}

// txSizes returns the virtual sizes of the transactions of the block at h, or their bytes on chains without weight. With
// weight, overhead is the sum of the weights minus four times the bytes.
func (q *Query) txSizes(h model.HeightPk) (sizes []int64, overhead int, err error) {
	weigher, weighs := q.Chain.(model.TxWeigher)
	err = q.EachRaw(h, func(raw []byte) error {
		size := len(raw)
		if weighs {
			weight, vsize, err := weigher.WeighTx(raw)
			if err != nil {
				return err
			}
			size, overhead = vsize, overhead+weight-4*len(raw)
		}
		sizes = append(sizes, int64(size))
		return q.Pass(1)
	})
	return sizes, overhead, err
}
