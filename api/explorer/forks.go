package explorer

// forksBody is a list of reorganizations.
type forksBody struct {
	Forks []forkBlocks
	Pager pager
}

// forkBlocks is a reorganization: its orphaned blocks, lowest first.
type forkBlocks struct {
	Depth  int
	When   moment
	Blocks []lostBlock
}

// lostBlock is an orphaned block.
type lostBlock struct {
	Height link
	Lost   link
	Time   moment
	By     *link // block at that height now; nil: none yet
	Back   bool  // on the chain again
}

const forksRows = 100

// forks lists the orphaned blocks, newest reorganization first.
func (v *visit) forks() (*page, error) {
	p := v.cursor(forksRows)
	a, err := v.Forks(v.ctx, p)
	if err != nil {
		return nil, err
	}
	b := &forksBody{Pager: cursorPager(v.url("forks"), p, a.Next)}
	depth := 0
	for _, l := range a.Forks {
		if len(b.Forks) == 0 || l.Depth != depth-1 {
			b.Forks = append(b.Forks, forkBlocks{Depth: l.Depth, When: v.moment(l.LostAt)})
		}
		depth = l.Depth
		row := lostBlock{Height: v.heightLink(l.Height), Lost: link{Text: l.Hash}, Time: v.moment(l.Time)}
		if l.ReplacedBy != nil {
			by := v.blockLink(*l.ReplacedBy)
			row.By, row.Back = &by, *l.ReplacedBy == l.Hash
		}
		f := &b.Forks[len(b.Forks)-1]
		f.Blocks = append(f.Blocks, row)
	}
	return &page{Kind: "forks", Title: "Forks", JSON: v.api("forks"), Section: "forks", Body: b,
		Description: "Reorganizations of " + titleOf(v.chain.Model) + ": orphaned blocks and their replacements.", Crumbs: []link{{Text: "Reorgs"}}}, nil
}
