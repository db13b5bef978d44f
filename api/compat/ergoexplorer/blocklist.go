package ergoexplorer

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"birthmark/api/ratelimit"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/schema"
	"birthmark/model"
)

// blocks lists blocks by height, or by another of their fields.
func blocks(q *request, _ []string) error {
	p, err := q.page(maxItems)
	if err != nil {
		return err
	}
	by := strings.ToLower(cmp.Or(q.Query["sortBy"], "height"))
	field, known := blockFields[by]
	var heights []model.HeightPk
	switch {
	case by == "minerreward":
		return &failure{http.StatusNotImplemented, "Not implemented: blocks have no stored order by minerReward, " +
			"which is an amount in a transaction of each block"}
	case !known:
		return bad("sortBy: expected height, timestamp, transactionsCount, size or difficulty")
	case field == nil:
		heights = q.byHeight(p)
	default:
		if heights, err = q.byField(p, field); err != nil {
			return err
		}
	}
	return q.paged(q.v.Height(), func() error {
		for i, h := range heights {
			b, err := q.v.Block(h)
			if err != nil {
				return err
			}
			q.Comma(i)
			if err := q.addBlockInfo(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// blockFields are the values by which blocks are sorted; nil: the height. Each block has a later timestamp than its
// parent, and nBits grows with the difficulty.
var blockFields = map[string]func(*schema.BlockRow) (uint64, error){
	"height":            nil,
	"timestamp":         nil,
	"transactionscount": func(row *schema.BlockRow) (uint64, error) { return uint64(row.TxCount), nil },
	"size":              func(row *schema.BlockRow) (uint64, error) { return uint64(row.Size), nil },
	"difficulty": func(row *schema.BlockRow) (uint64, error) {
		h, err := sigma.ParseHeader(row.Header)
		if err != nil {
			return 0, err
		}
		return uint64(h.NBits), nil
	},
}

// byHeight returns the heights of a page of blocks in the order of the chain.
func (q *request) byHeight(p page) (heights []model.HeightPk) {
	tip := q.v.Height()
	for i := p.offset; i < min(p.offset+p.limit, tip); i++ {
		h := tip - i
		if p.ascending {
			h = i + 1
		}
		heights = append(heights, model.HeightPk(h))
	}
	return heights
}

// maxSorted is the number of blocks up to which a page by another field than the height can extend.
const maxSorted = 10_000

// byField returns the heights of a page of blocks in the order of a field. Blocks with the same value are in the order
// of the chain, or the opposite one. No index has the blocks in such an order, so it reads all of them.
func (q *request) byField(p page, field func(*schema.BlockRow) (uint64, error)) ([]model.HeightPk, error) {
	most := p.offset + p.limit
	if most > maxSorted {
		return nil, bad("sorted by this field, only the first %d blocks can be requested: sort by height", maxSorted)
	}
	release, err := ratelimit.Take(q.w, ratelimit.Heavy)
	if err != nil {
		return nil, err
	}
	defer release()
	type entry struct {
		value  uint64
		height model.HeightPk
	}
	var first []entry // the first ones of the order among the blocks that were read, and some more
	shorten := func() {
		slices.SortFunc(first, func(a, b entry) int {
			if !p.ascending {
				a, b = b, a
			}
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.height, b.height))
		})
		first = first[:min(most, len(first))]
	}
	err = q.v.Q.EachBlock(1, q.v.Tip.Height+1, func(h model.HeightPk, row *schema.BlockRow) error {
		value, err := field(row)
		if err != nil {
			return err
		}
		if first = append(first, entry{value, h}); len(first) >= 2*maxSorted {
			shorten()
		}
		if h%4096 == 0 {
			return q.Ctx.Err()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	shorten()
	var heights []model.HeightPk
	for _, e := range first[min(p.offset, len(first)):] {
		heights = append(heights, e.height)
	}
	return heights, nil
}
