// Package txorder sorts the transactions of a block by value, fee, fee rate or size.
package txorder

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"birthmark/core/query"
	"birthmark/model"
)

// By is an order of transactions.
type By string

// Orders. FeeRate and Size need raw transactions.
const (
	Value   By = "value"   // of all outputs
	Fee     By = "fee"     // transactions without a known fee are last
	FeeRate By = "feerate" // fee per virtual byte, or per byte on chains without weight
	Size    By = "size"    // virtual size, or bytes on chains without weight
)

// Available returns the orders of a database: FeeRate only on chains whose miners select transactions by it, and
// FeeRate and Size only if the raw transactions are stored or in the files of a node.
func Available(ctx context.Context, qs query.Queries) (list []By, err error) {
	err = qs.From(ctx, func(q *query.Query) error {
		list = []By{Value, Fee}
		if q.Layout.Raw || q.Layout.RawFiles { // not if each is a request to a node
			if q.Traits.BlockVSize > 0 {
				list = append(list, FeeRate)
			}
			list = append(list, Size)
		}
		return nil
	})
	return list, err
}

// Of returns the positions of the transactions of the block at a height, largest first. Equal transactions are in the
// order of the block. It reads what [query.Queries.BlockTotals] reads; for Size, it reads the raw transactions
// only, and for FeeRate as well.
func Of(ctx context.Context, qs query.Queries, height uint32, by By) (positions []int, err error) {
	err = qs.From(ctx, func(q *query.Query) error {
		keys, err := keysOf(q, model.HeightPk(height), by)
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

// key is the quotient that transactions are compared by. A key without an amount is the smallest.
type key struct {
	amount *big.Int // nil: unknown
	per    int64    // > 0
}

func (k *key) compare(than *key) int {
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

// keysOf returns the keys of the transactions of the block at h.
func keysOf(q *query.Query, h model.HeightPk, by By) ([]key, error) {
	var sizes []int64
	if by == Size || by == FeeRate {
		var err error
		if sizes, err = sizesOf(q, h); err != nil {
			return nil, err
		}
	}
	if by == Size {
		keys := make([]key, len(sizes))
		for i, size := range sizes {
			keys[i] = key{big.NewInt(size), 1}
		}
		return keys, nil
	}
	sums, err := q.BlockSums(h, q.Pass)
	if err != nil {
		return nil, err
	}
	keys := make([]key, len(sums))
	for i := range sums {
		keys[i] = key{sums[i].Fee, 1}
		switch {
		case by == Value:
			keys[i].amount = &sums[i].Out
		case by == FeeRate && i < len(sizes):
			keys[i].per = max(1, sizes[i])
		}
	}
	return keys, nil
}

// sizesOf returns the virtual sizes of the transactions of the block at h, or their bytes on chains without weight.
func sizesOf(q *query.Query, h model.HeightPk) (sizes []int64, err error) {
	weigher, weighs := q.Chain.(model.TxWeigher)
	err = q.EachRaw(h, func(raw []byte) (err error) {
		size := len(raw)
		if weighs {
			if _, size, err = weigher.WeighTx(raw); err != nil {
				return err
			}
		}
		sizes = append(sizes, int64(size))
		return q.Pass(1)
	})
	return sizes, err
}
