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
func blocks(r *request) answer {
	p := pageOf(r, maxItems)
	by := strings.ToLower(cmp.Or(r.Param("sortBy"), "height"))
	field, known := blockFields[by]
	switch {
	case by == "minerreward":
		r.Refuse(&failure{http.StatusNotImplemented, "Not implemented: blocks have no stored order by minerReward, " +
			"which is an amount in a transaction of each block"})
	case !known:
		r.Refuse(bad("sortBy: expected height, timestamp, transactionsCount, size or difficulty"))
	case field != nil && p.offset+p.limit > maxSorted:
		r.Refuse(bad("sorted by this field, only the first %d blocks can be requested: sort by height", maxSorted))
	}
	return func(v *view) (any, error) {
		heights := v.byHeight(p)
		if field != nil {
			var err error // no index has the blocks in such an order, so all of them are read
			if heights, err = v.BlocksBy(field, p.ascending, p.offset, p.limit); err != nil {
				return nil, err
			}
		}
		read := func(h model.HeightPk) (*blockValue, error) {
			b, err := v.Block(h)
			if err != nil {
				return nil, err
			}
			return v.blockOf(b)
		}
		return paged(v, valuesOf(heights, read), v.Height()), nil
	}
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
func (v *view) byHeight(p page) (heights []model.HeightPk) {
	tip := v.Height()
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
