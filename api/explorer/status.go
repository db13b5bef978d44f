package explorer

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// statusBody is the status of a database.
type statusBody struct {
	Network  string
	Format   int
	Totals   []stat
	Indexes  []indexRow
	Families []familyRow
	Rows     uint64
	Bytes    string // of all families; empty: unknown
	Rates    template.HTML
}

type indexRow struct {
	query.IndexState
	Ready   bool   // its values can be listed
	State   string // empty: ready
	Percent *int   // of State; nil: unknown
}

// familyRow is a column family.
type familyRow struct {
	query.FamilyAnswer
	Part template.HTML // bar relative to the largest family
}

func (v *visit) status() (*page, error) {
	a, err := v.Status(v.ctx)
	if err != nil {
		return nil, err
	}
	b := &statusBody{Network: a.Network, Format: a.Format}
	assets, err := v.Assets(v.ctx, query.Page{Limit: 1})
	if err != nil {
		return nil, err
	}
	t := a.Totals
	for _, f := range []struct {
		name  string
		count uint64
		rare  bool // omitted if 0
	}{
		{"Blocks", t.Blocks, false}, {"Transactions", t.Txs, false}, {"Inputs", t.Inputs, false}, {"Outputs", t.Outputs, false}, {"Unspent outputs", t.Unspent, false},
		{"Genesis outputs", t.GenesisOutputs, true}, {"Assets", assets.Count, true}, {"Assets in outputs", t.Assets, true},
	} {
		if f.count > 0 || !f.rare {
			b.Totals = append(b.Totals, stat{Name: f.name, Value: humanize.Count(f.count)})
		}
	}
	b.Totals = append(b.Totals, stat{Name: "Supply", Amount: v.Amount(t.UnspentValue), Note: "in unspent outputs"})
	if b.Indexes, err = v.indexRows(); err != nil {
		return nil, err
	}
	b.families(a.Families)
	if b.Rates, err = v.rates(); err != nil {
		return nil, err
	}
	return &page{Kind: "status", Title: "Status", JSON: v.api("status"), Section: "status", Body: b, Volatile: true,
		Description: "Database of " + titleOf(v.chain.Model) + ": totals, indexes and storage.", Crumbs: []link{{Text: "Status"}}}, nil
}

// families returns the column families, largest first.
func (b *statusBody) families(families []query.FamilyAnswer) {
	var total int64
	var rows uint64
	var most query.FamilyAnswer
	for _, f := range families {
		b.Rows += f.Rows()
		total += f.Bytes
		rows, most.Bytes = max(rows, f.Rows()), max(most.Bytes, f.Bytes)
	}
	families = slices.Clone(families)
	slices.SortStableFunc(families, func(a, b query.FamilyAnswer) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Rows(), a.Rows()))
	})
	for _, f := range families {
		part := charts.Bar(float64(f.Rows()), float64(rows))
		if total > 0 {
			part = charts.Bar(float64(f.Bytes), float64(most.Bytes))
		}
		b.Families = append(b.Families, familyRow{f, part})
	}
	if total > 0 {
		b.Bytes = humanize.Bytes(total)
	}
}

// indexRows returns the indexes, including indexes that are being added or dropped.
func (v *visit) indexRows() ([]indexRow, error) {
	states, err := v.IndexStates(v.ctx)
	if err != nil {
		return nil, err
	}
	var rows []indexRow
	for _, s := range states {
		row := indexRow{IndexState: s, Ready: !s.Dropping && !slices.Contains(s.Adding, "values") &&
			s.Kind != model.PerBlock.String() && s.Kind != model.Sums.String()}
		switch {
		case s.Dropping:
			row.State = "being dropped"
		case len(s.Adding) > 0:
			row.State, row.Percent = strings.Join(s.Adding, ", ")+" being added", new(int)
			if s.AddedTo != nil && s.Of != nil && *s.Of > 0 {
				*row.Percent = int(uint64(*s.AddedTo) * 100 / uint64(*s.Of))
				row.State += ": block " + humanize.Count(*s.AddedTo) + " of " + humanize.Count(*s.Of)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// rates draws the speed of the sync of this process; empty without one.
func (v *visit) rates() (template.HTML, error) {
	c := charts.Chart{ID: "rate", Title: "Transactions per second", Kind: charts.Area,
		X: charts.Axis{Name: "Since the start", Label: charts.Durations}, Y: charts.Axis{Name: "Transactions per second"}}
	for _, r := range v.chain.Rates.All() {
		c.Points = append(c.Points, charts.Point{X: r.Elapsed.Seconds(), Y: r.TxsPerSecond, Value: humanize.Count(int64(r.TxsPerSecond))})
	}
	if len(c.Points) < 2 {
		return "", nil
	}
	return c.HTML()
}
