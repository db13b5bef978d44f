package explorer

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

const (
	fewValues      = 12  // of an index whose outputs a chart divides by value
	outputsOfValue = 100 // on average, below which values are no kinds of outputs
)

// kinds draws how many outputs have each value of an index with few values, such as the type of the script. The numbers
// of outputs are part of stored balances; indexes without them are left out.
func (v *visit) kinds() (list []template.HTML, err error) {
	states, err := v.IndexStates(v.ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range states {
		if x.Values < 2 || x.Values > fewValues || x.Dropping || len(x.Adding) > 0 || !slices.Contains(x.Keeps, "balance") {
			continue
		}
		html, err := v.kindsOf(x.Name)
		if err != nil {
			return nil, err
		}
		if html != "" {
			list = append(list, html)
		}
	}
	return list, nil
}

func (v *visit) kindsOf(index string) (template.HTML, error) {
	values, err := v.Values(v.ctx, index, query.Page{Limit: fewValues})
	if err != nil {
		return "", err
	}
	names := make([]string, len(values.Values))
	for i, x := range values.Values {
		names[i] = x.Value
	}
	balances, err := v.Balances(v.ctx, index, names)
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(balances, func(a, b query.BalanceAnswer) int { return cmp.Compare(b.OutputCount, a.OutputCount) })
	s := charts.Shares{ID: "kinds-" + strings.ReplaceAll(index, "_", "-"), Title: "Outputs by " + format.Words(index),
		Name: format.Capital(format.Words(index)), Value: "Outputs"}
	sum := uint64(0)
	for _, b := range balances {
		sum += b.OutputCount
		s.Parts = append(s.Parts, charts.Part{Name: b.Value, Link: v.ValueLink(index, b.Value).URL, Value: humanize.Count(b.OutputCount),
			Size: float64(b.OutputCount)})
	}
	if sum < outputsOfValue*uint64(len(balances)) {
		return "", nil
	}
	return s.HTML()
}
