package explorer

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"birthmark/core"
	"birthmark/model/figures"
)

// flow is a transaction as a picture: ribbons from what it spends, through it, to what it makes, as wide as their amounts.
type flow struct {
	Height  string
	Node    rect
	Streams []stream
	Label   string
}

// stream is one ribbon with what it is.
type stream struct {
	Class          string // in, spent, unspent, fee, other
	URL            string // of the output, or of the list that has those that are gathered
	Amount, Name   string
	Ribbon         string // a path
	Bar            rect
	TextX          string
	Anchor         string
	AmountY, NameY string
	Whole          string // of the name
}

type rect struct{ X, Y, W, H string }

// The picture's measures. It is flowWidth wide in its own units; labels stand in the outer columns.
const (
	flowWidth  = 960
	flowColumn = 206 // of labels
	flowBar    = 6
	flowNode   = 10
	flowThick  = 150 // all of the larger side together
	flowThin   = 1.5 // the least
	flowSlot   = 40  // the least room of a stream: two lines of text
	flowGap    = 6
	flowMost   = 10 // streams on a side; the largest are drawn, the others gathered
	nameEnds   = 8
)

// part is one side's share of a transaction.
type part struct {
	value *big.Int
	stream
	thick float64
}

// flow is nil where there is nothing to be drawn.
func (v *visit) flow(a *core.TxAnswer) *flow {
	var left, right []part
	for i := range a.Inputs {
		o := &a.Inputs[i].Output
		left = append(left, v.part(o, "in"))
	}
	for i := range a.Outputs {
		o, class := &a.Outputs[i], "spent"
		if o.SpentBy != nil && o.SpentBy.Value == nil {
			class = "unspent"
		}
		right = append(right, v.part(o, class))
	}
	if len(right) == 0 {
		return nil
	}
	f := &flow{Label: fmt.Sprintf("The flow of amounts: from %s to %s", figures.Plural(len(left), "input"), figures.Plural(len(right), "output"))}
	in, out := total(left), total(right)
	left, right = v.gathered(left, "in", "#inputs"), v.gathered(right, "other", "#outputs")
	if fee, ok := new(big.Int).SetString(a.Fee, 10); ok && fee.Sign() > 0 && len(a.Inputs) > 0 {
		right = append(right, part{value: fee, stream: stream{Class: "fee", Name: "fee", Amount: v.short(fee)}})
		out.Add(out, fee)
	}
	if rest := new(big.Int).Sub(out, in); len(a.Inputs) == 0 {
		name := "issued by the block"
		if a.BlockHash == "" {
			name = "there before the first block"
		}
		left = append(left, part{value: out, stream: stream{Class: "other", Name: name, Amount: v.short(out)}})
	} else if rest.Sign() > 0 {
		left = append(left, part{value: rest, stream: stream{Class: "other", Name: "rewards or refunds", Amount: v.short(rest)}})
	} else if rest.Sign() < 0 {
		rest.Neg(rest)
		right = append(right, part{value: rest, stream: stream{Class: "other", Name: "deposits", Amount: v.short(rest)}})
	}
	f.draw(left, right)
	return f
}

func (v *visit) part(o *core.OutputAnswer, class string) part {
	value, _ := new(big.Int).SetString(o.Value, 10)
	if value == nil {
		value = new(big.Int)
	}
	p := part{value: value, stream: stream{Class: class, URL: v.outputLink(o.Tx, o.Index).URL, Amount: v.short(value), Name: "no address"}}
	if owners := v.owner(o); len(owners) > 0 {
		p.Whole = link{Text: owners[0].Text}.shown()
		p.Name = ends(p.Whole)
	}
	if class == "unspent" {
		p.Amount += ", unspent"
	}
	return p
}

// ends are the beginning and the end of a long text.
func ends(text string) string {
	runes := []rune(text)
	if len(runes) <= 2*nameEnds+1 {
		return text
	}
	return string(runes[:nameEnds]) + "…" + string(runes[len(runes)-nameEnds:])
}

// short is an amount without the zeros at its end.
func (v *visit) short(n *big.Int) string {
	a := v.amount(n.String())
	a.Zeros = ""
	return a.String()
}

func total(parts []part) *big.Int {
	sum := new(big.Int)
	for _, p := range parts {
		sum.Add(sum, p.value)
	}
	return sum
}

// gathered are the largest parts in their order, and all others as one behind them.
func (v *visit) gathered(parts []part, class, url string) []part {
	if len(parts) <= flowMost {
		return parts
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return parts[b].value.Cmp(parts[a].value) })
	drawn, others := order[:flowMost-1], order[flowMost-1:]
	slices.Sort(drawn)
	rest := new(big.Int)
	for _, i := range others {
		rest.Add(rest, parts[i].value)
	}
	var kept []part
	for _, i := range drawn {
		kept = append(kept, parts[i])
	}
	return append(kept, part{value: rest, stream: stream{Class: class, URL: url, Name: figures.Count(len(others)) + " more", Amount: v.short(rest)}})
}

// draw places both sides around the transaction.
func (f *flow) draw(left, right []part) {
	scale, _ := new(big.Float).SetInt(total(left)).Float64()
	if out, _ := new(big.Float).SetInt(total(right)).Float64(); out > scale {
		scale = out
	}
	high := max(room(left, scale), room(right, scale))
	thick := max(thickness(left), thickness(right))
	f.Height = coordinate(high)
	f.Node = rect{coordinate((flowWidth - flowNode) / 2), coordinate((high - thick) / 2), coordinate(flowNode), coordinate(thick)}
	f.side(left, high, false)
	f.side(right, high, true)
}

// room gives each part its thickness and returns the height that all of them take.
func room(parts []part, scale float64) (high float64) {
	for i := range parts {
		value, _ := new(big.Float).SetInt(parts[i].value).Float64()
		parts[i].thick = flowThin
		if scale > 0 {
			parts[i].thick = max(flowThin, flowThick*value/scale)
		}
		high += slot(parts[i])
	}
	return high
}

func slot(p part) float64 { return max(flowSlot, p.thick) + flowGap }

func thickness(parts []part) (sum float64) {
	for _, p := range parts {
		sum += p.thick
	}
	return sum
}

// side places the parts of one side, the right one mirrored.
func (f *flow) side(parts []part, high float64, mirrored bool) {
	x := func(x float64) float64 {
		if mirrored {
			return flowWidth - x
		}
		return x
	}
	used := 0.0
	for _, p := range parts {
		used += slot(p)
	}
	y, inner := (high-used)/2, (high-thickness(parts))/2
	const bar, node = flowColumn + flowGap, (flowWidth - flowNode) / 2
	for _, p := range parts {
		middle := y + slot(p)/2
		top, s := middle-p.thick/2, p.stream
		from, to := x(bar+flowBar), x(node)
		bend := (from + to) / 2
		s.Ribbon = outline("M", from, top, "C", bend, top, bend, inner, to, inner, "L", to, inner+p.thick,
			"C", bend, inner+p.thick, bend, top+p.thick, from, top+p.thick, "Z")
		s.Bar = rect{coordinate(min(x(bar), x(bar+flowBar))), coordinate(top), coordinate(flowBar), coordinate(p.thick)}
		s.TextX, s.Anchor = coordinate(x(flowColumn)), "end"
		if mirrored {
			s.Anchor = "start"
		}
		s.AmountY, s.NameY = coordinate(middle-4), coordinate(middle+13)
		f.Streams = append(f.Streams, s)
		y, inner = y+slot(p), inner+p.thick
	}
}

// outline joins commands and coordinates.
func outline(parts ...any) string {
	var b strings.Builder
	for i, p := range parts {
		if n, ok := p.(float64); ok {
			if _, number := parts[max(i-1, 0)].(float64); number {
				b.WriteByte(' ')
			}
			b.WriteString(coordinate(n))
		} else {
			fmt.Fprint(&b, p)
		}
	}
	return b.String()
}

// coordinate to a tenth.
func coordinate(n float64) string {
	return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
}
