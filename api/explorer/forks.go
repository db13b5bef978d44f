package explorer

import "birthmark/core/query"

// forksBody is a list of reorganizations.
type forksBody struct {
	Forks []reorganization
	Pager pager
}

// reorganization has the orphaned blocks of a reorganization, lowest first.
type reorganization struct {
	Depth  int
	When   moment
	Blocks []lostBlock
}

// lostBlock is an orphaned block.
type lostBlock struct {
	query.LostBlockAnswer
	By   *link // block at that height now; nil: none yet
	Back bool  // on the chain again
}

const forksRows = 100

// forks lists the orphaned blocks, newest reorganization first.
func (v *visit) forks() (*page, error) {
	p := v.cursor(forksRows)
	a, err := v.Forks(v.ctx, p)
	if err != nil {
		return nil, err
	}
	b := &forksBody{v.reorganizations(a.Forks), cursorPager(v.URL("forks"), p, a.Next)}
	return &page{Kind: "forks", Title: "Forks", JSON: v.api("forks"), Section: "forks", Body: b,
		Description: "Reorganizations of " + titleOf(v.chain.Model) + ": orphaned blocks and their replacements.", Crumbs: []link{{Text: "Reorgs"}}}, nil
}

// reorganizations groups orphaned blocks, which are sorted by reorganization and height.
func (v *visit) reorganizations(lost []query.LostBlockAnswer) (all []reorganization) {
	depth := 0
	for _, l := range lost {
		if len(all) == 0 || l.Depth != depth-1 {
			all = append(all, reorganization{Depth: l.Depth, When: v.Moment(l.LostAt)})
		}
		depth = l.Depth
		row := lostBlock{LostBlockAnswer: l}
		if l.ReplacedBy != nil {
			by := v.BlockLink(*l.ReplacedBy)
			row.By, row.Back = &by, *l.ReplacedBy == l.Hash
		}
		last := &all[len(all)-1]
		last.Blocks = append(last.Blocks, row)
	}
	return all
}
