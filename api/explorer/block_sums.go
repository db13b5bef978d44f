package explorer

import (
	"context"
	"html/template"
	"strconv"
	"time"

	"birthmark/api/bounded"
	"birthmark/core/query"
)

// blockPatience is how long a page of a block reads its sums: those of 100,000 transactions take a second.
var blockPatience = 2 * time.Second

// blockSums are what takes a read of all inputs and outputs of a block. It does not change, so that the other pages of the
// block need no such read.
type blockSums struct {
	totals bounded.Cache[string, *query.BlockTotalsAnswer]
	orders bounded.Cache[string, []int] // positions of the transactions

	fillings bounded.Cache[string, *filling]
	maps     bounded.Cache[string, template.HTML] // treemaps
	pools    bounded.Cache[string, string]        // names of mining pools; empty: unknown
}

const (
	keptTotals = 4096
	keptOrders = 8 << 20 // bytes
)

func newBlockSums() *blockSums {
	s := &blockSums{}
	s.totals.Max, s.totals.Largest = keptTotals, 1
	s.fillings.Max, s.fillings.Largest = keptFillings, 1
	s.maps.Max, s.maps.Size = keptMaps, func(html template.HTML) int { return len(html) }
	s.pools.Max, s.pools.Largest = 2*producedBlocks, 1
	s.orders.Max, s.orders.Largest = keptOrders, keptOrders/2
	s.orders.Size = func(positions []int) int { return strconv.IntSize / 8 * len(positions) }
	return s
}

// totals returns the totals of a block; nil if they take too long. If they are read, and sizes are known, b has the
// transactions.
func (v *visit) totals(b *blockBody) (*query.BlockTotalsAnswer, error) {
	kept := &v.site.sums[v.chain].totals
	key := b.Hash + strconv.FormatBool(b.Sized) // raw transactions, which have the weight, can be added
	if a, ok := kept.Get(key); ok {
		return a, nil
	}
	var a *query.BlockTotalsAnswer
	late, err := v.within(blockPatience, func(ctx context.Context) (err error) {
		if b.Sized {
			a, b.filling, err = v.BlockFilling(ctx, b.Height)
		} else {
			a, err = v.BlockTotals(ctx, b.Hash)
		}
		return err
	})
	if late || err != nil {
		return nil, err
	}
	kept.Put(key, a)
	return a, nil
}

// sorted returns the positions of the transactions of a block in an order.
func (v *visit) sorted(b *blockBody) ([]int, error) {
	kept := &v.site.sums[v.chain].orders
	key := b.Hash + string(b.By)
	if at, ok := kept.Get(key); ok {
		return at, nil
	}
	at, err := v.SortedTxs(v.ctx, b.Height, b.By)
	if err == nil {
		kept.Put(key, at)
	}
	return at, err
}
