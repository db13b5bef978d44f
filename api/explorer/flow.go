package explorer

import (
	"fmt"
	"math/big"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

const (
	flowMost = 8 // ribbons per side; the smaller ones are grouped
	nameEnds = 8 // characters of a name at its beginning and its end
)

// flow returns the diagram; nil if there is nothing to draw.
func (v *visit) flow(a *query.TxAnswer) *charts.Flow {
	if len(a.Outputs) == 0 {
		return nil
	}
	f := &charts.Flow{Label: fmt.Sprintf("The flow of amounts: from %s to %s", humanize.Plural(len(a.Inputs), "input"), humanize.Plural(len(a.Outputs), "output"))}
	spent := make([]*query.OutputAnswer, len(a.Inputs))
	for i := range a.Inputs {
		spent[i] = &a.Inputs[i].Output
	}
	made := make([]*query.OutputAnswer, len(a.Outputs))
	for i := range a.Outputs {
		made[i] = &a.Outputs[i]
	}
	left := v.flowSide(spent, "in", "in", "#inputs")
	right := v.flowSide(made, "spent", "other", "#outputs")
	extra := func(value *big.Int, class, name string) charts.FlowPart {
		return charts.FlowPart{Value: value, Stream: charts.Stream{Class: class, Name: name, Amount: v.brief(value)}}
	}
	fee, ok := new(big.Int).SetString(a.Fee, 10)
	if ok && fee.Sign() > 0 && len(a.Inputs) > 0 && !v.chain.Model.Traits().FeeOutputs {
		right.Add(extra(fee, "fee", "fee"))
	}
	rest := new(big.Int).Sub(right.Sum, left.Sum)
	pool := v.chain.Model.Traits().Pool
	more, less := format.Difference(pool)
	switch {
	case len(a.Inputs) == 0 && a.BlockHash == "" && pool == "":
		left.Add(extra(right.Sum, "other", "genesis"))
	case len(a.Inputs) == 0 && (a.Coinbase || pool == ""):
		left.Add(extra(right.Sum, "other", "issued by the block"))
	case rest.Sign() > 0:
		left.Add(extra(rest, "other", more))
	case rest.Sign() < 0:
		right.Add(extra(rest.Neg(rest), "other", less))
	}
	f.Draw(left, right)
	return f
}

// flowSide returns the largest outputs in their order, and one part for all others.
func (v *visit) flowSide(outputs []*query.OutputAnswer, class, others, list string) *charts.FlowSide {
	side := &charts.FlowSide{Sum: new(big.Int)}
	values, order := make([]*big.Int, len(outputs)), make([]int, len(outputs))
	for i, o := range outputs {
		values[i], order[i] = format.Integer(o.Value), i
	}
	var rest []int
	if len(order) > flowMost {
		slices.SortStableFunc(order, func(a, b int) int { return values[b].Cmp(values[a]) })
		order, rest = order[:flowMost-1], order[flowMost-1:]
		slices.Sort(order)
	}
	for _, i := range order {
		side.Add(v.part(outputs[i], values[i], class))
	}
	if len(rest) > 0 {
		sum := new(big.Int)
		for _, i := range rest {
			sum.Add(sum, values[i])
		}
		side.Add(charts.FlowPart{Value: sum, Stream: charts.Stream{Class: others, URL: list, Name: humanize.Count(len(rest)) + " more", Amount: v.brief(sum)}})
	}
	return side
}

// part returns the ribbon of an output.
func (v *visit) part(o *query.OutputAnswer, value *big.Int, class string) charts.FlowPart {
	p := charts.FlowPart{Value: value, Stream: charts.Stream{Class: class, URL: v.OutputLink(o.Tx, o.Index).URL, Amount: v.brief(value), Name: "no address"}}
	if owners := v.owner(o); len(owners) > 0 {
		p.Whole = link{Text: owners[0].Text}.Shown()
		p.Name = format.Abbreviate(p.Whole, nameEnds, nameEnds)
		if fee := v.chain.Model.Traits().FeeAddress; fee != "" && p.Whole == fee {
			p.Class, p.Name = "fee", "fee"
			return p
		}
	}
	if o.SpentBy != nil && o.SpentBy.Value == nil {
		p.Class = "unspent"
		p.Name += ", unspent"
	}
	return p
}

// brief formats an amount without trailing zeros.
func (v *visit) brief(n *big.Int) string {
	a := v.Amount(n.String())
	a.Zeros = ""
	return a.String()
}
