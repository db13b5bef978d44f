package ergoexplorer

import (
	"cmp"
	"net/http"
	"strings"

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

// byField returns the heights of a page of blocks in the order of a field. No index has the blocks in such an
// order, so all of them are read.
func (q *request) byField(p page, field func(*schema.BlockRow) (uint64, error)) ([]model.HeightPk, error) {
	most := p.offset + p.limit
	if most > maxSorted {
		return nil, bad("sorted by this field, only the first %d blocks can be requested: sort by height", maxSorted)
	}
	return q.v.BlocksBy(field, p.ascending, p.offset, p.limit)
}
