package explorer

import (
	"fmt"
	"math/big"
	"slices"

	"birthmark/core/query"
	"birthmark/internal/humanize"
)

// flow is the diagram of a transaction: ribbons from inputs to outputs whose widths are the amounts.
type flow struct {
	Height  string
	Node    rect
	Streams []stream
	Label   string
}

// stream is one ribbon.
type stream struct {
	Class          string // in, spent, unspent, fee, other
	URL            string // of the output, or of the list with the grouped outputs
	Amount, Name   string
	Ribbon         string // a path
	Bar            rect
	TextX          string
	Anchor         string
	AmountY, NameY string
	Whole          string // full name
}

const (
	flowMost = 10 // ribbons per side; the smaller ones are grouped
	nameEnds = 8  // characters of a name at its beginning and its end
)

// part is one ribbon and its amount.
type part struct {
	value *big.Int
	stream
	thick float64
}

// flow returns the diagram; nil if there is nothing to draw.
func (v *visit) flow(a *query.TxAnswer) *flow {
	if len(a.Outputs) == 0 {
		return nil
	}
	f := &flow{Label: fmt.Sprintf("The flow of amounts: from %s to %s", humanize.Plural(len(a.Inputs), "input"), humanize.Plural(len(a.Outputs), "output"))}
	spent := make([]*query.OutputAnswer, len(a.Inputs))
	for i := range a.Inputs {
		spent[i] = &a.Inputs[i].Output
	}
	made := make([]*query.OutputAnswer, len(a.Outputs))
	for i := range a.Outputs {
		made[i] = &a.Outputs[i]
	}
	left, in := v.parts(spent, "in", "in", "#inputs")
	right, out := v.parts(made, "spent", "other", "#outputs")
	extra := func(value *big.Int, class, name string) part {
		return part{value: value, stream: stream{Class: class, Name: name, Amount: v.short(value)}}
	}
	fee, ok := new(big.Int).SetString(a.Fee, 10)
	if ok && fee.Sign() > 0 && len(a.Inputs) > 0 && !v.chain.Model.Traits().FeeOutputs {
		right = append(right, extra(fee, "fee", "fee"))
		out.Add(out, fee)
	}
	rest := new(big.Int).Sub(out, in)
	switch {
	case len(a.Inputs) == 0 && a.BlockHash == "":
		left = append(left, extra(out, "other", "genesis"))
	case len(a.Inputs) == 0:
		left = append(left, extra(out, "other", "issued by the block"))
	case rest.Sign() > 0:
		left = append(left, extra(rest, "other", "withdrawals or refunds"))
	case rest.Sign() < 0:
		right = append(right, extra(rest.Neg(rest), "other", "deposits"))
	}
	f.draw(left, right)
	return f
}

// parts returns the largest outputs in their order, one part for all others, and the sum.
func (v *visit) parts(outputs []*query.OutputAnswer, class, others, list string) (parts []part, sum *big.Int) {
	sum = new(big.Int)
	values, order := make([]*big.Int, len(outputs)), make([]int, len(outputs))
	for i, o := range outputs {
		values[i], order[i] = new(big.Int), i
		values[i].SetString(o.Value, 10)
		sum.Add(sum, values[i])
	}
	var rest []int
	if len(order) > flowMost {
		slices.SortStableFunc(order, func(a, b int) int { return values[b].Cmp(values[a]) })
		order, rest = order[:flowMost-1], order[flowMost-1:]
		slices.Sort(order)
	}
	for _, i := range order {
		parts = append(parts, v.part(outputs[i], values[i], class))
	}
	if len(rest) == 0 {
		return parts, sum
	}
	gathered := new(big.Int)
	for _, i := range rest {
		gathered.Add(gathered, values[i])
	}
	return append(parts, part{value: gathered, stream: stream{Class: others, URL: list, Name: humanize.Count(len(rest)) + " more", Amount: v.short(gathered)}}), sum
}

// part returns the ribbon of an output.
func (v *visit) part(o *query.OutputAnswer, value *big.Int, class string) part {
	p := part{value: value, stream: stream{Class: class, URL: v.outputLink(o.Tx, o.Index).URL, Amount: v.short(value), Name: "no address"}}
	if owners := v.owner(o); len(owners) > 0 {
		p.Whole = link{Text: owners[0].Text}.shown()
		p.Name = ends(p.Whole)
	}
	if o.SpentBy != nil && o.SpentBy.Value == nil {
		p.Class = "unspent"
		p.Amount += ", unspent"
	}
	return p
}

// ends returns the beginning and the end of a long text.
func ends(text string) string {
	runes := []rune(text)
	if len(runes) <= 2*nameEnds+1 {
		return text
	}
	return string(runes[:nameEnds]) + "…" + string(runes[len(runes)-nameEnds:])
}

// short formats an amount without trailing zeros.
func (v *visit) short(n *big.Int) string {
	a := v.amount(n.String())
	a.Zeros = ""
	return a.String()
}
