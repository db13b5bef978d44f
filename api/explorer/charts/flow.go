package charts

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Flow is the diagram of a transaction: ribbons from inputs to outputs whose widths are the amounts.
type Flow struct {
	Height  Length
	Node    rect
	Streams []Stream
	Label   string
}

// Stream is one ribbon.
type Stream struct {
	Class        string // in, spent, unspent, fee, other
	URL          string // of the output, or of the list with the grouped outputs
	Amount, Name string
	Ribbon       string // a path
	Bar          rect
	TextX        Length
	Anchor       string
	AmountY      Length // the name is in a line below it
	Whole        string // full name
}

// FlowPart is one ribbon and its amount.
type FlowPart struct {
	Value *big.Int
	Stream
	thick Length
}

// Ribbons returns the ribbons; none of a nil flow.
func (f *Flow) Ribbons() []Stream {
	if f == nil {
		return nil
	}
	return f.Streams
}

// Length is a length or a coordinate in units of the view box, which is flowWidth wide. It is written with one decimal.
type Length float64

func (l Length) String() string {
	return strconv.FormatFloat(math.Round(float64(l)*10)/10, 'f', -1, 64)
}

type rect struct{ X, Y, W, H Length }

// Labels are in the outer columns of the view box.
const (
	flowWidth  Length = 960
	flowColumn Length = 206 // of labels
	flowBar    Length = 6
	flowNode   Length = 10
	flowThick  Length = 150 // thickness of the larger side
	FlowThin   Length = 1.5 // least thickness of a ribbon
	flowSlot   Length = 40  // least height of a ribbon with its label of two lines
	flowGap    Length = 6
)

// FlowSide is the inputs or the outputs.
type FlowSide struct {
	parts []FlowPart
	Sum   *big.Int
	thick Length // of all ribbons
	high  Length // with their labels
}

// Add adds a part.
func (s *FlowSide) Add(p FlowPart) {
	s.parts = append(s.parts, p)
	s.Sum.Add(s.Sum, p.Value)
}

// measure sets the thickness of each part.
func (s *FlowSide) measure(scale float64) {
	for i := range s.parts {
		p := &s.parts[i]
		value, _ := p.Value.Float64()
		if p.thick = FlowThin; scale > 0 {
			p.thick = max(FlowThin, flowThick*Length(value/scale))
		}
		s.thick += p.thick
		s.high += p.slot()
	}
}

// slot is the height of a part with its label.
func (p *FlowPart) slot() Length { return max(flowSlot, p.thick) + flowGap }

// Draw lays out both sides.
func (f *Flow) Draw(left, right *FlowSide) {
	in, _ := left.Sum.Float64()
	out, _ := right.Sum.Float64()
	left.measure(max(in, out))
	right.measure(max(in, out))
	thick := max(left.thick, right.thick)
	f.Height = max(left.high, right.high)
	f.Node = rect{(flowWidth - flowNode) / 2, (f.Height - thick) / 2, flowNode, thick}
	f.side(left, false)
	f.side(right, true)
}

// side lays out one side; the right one is mirrored.
func (f *Flow) side(side *FlowSide, mirrored bool) {
	x, anchor := func(x Length) Length { return x }, "end"
	if mirrored {
		x, anchor = func(x Length) Length { return flowWidth - x }, "start"
	}
	const bar, node = flowColumn + flowGap, (flowWidth - flowNode) / 2
	from, to := x(bar+flowBar), x(node)
	bend := (from + to) / 2
	y, inner := (f.Height-side.high)/2, (f.Height-side.thick)/2
	for _, p := range side.parts {
		middle := y + p.slot()/2
		top, s := middle-p.thick/2, p.Stream
		s.Ribbon = fmt.Sprintf("M%v %vC%v %v %v %v %v %vL%v %vC%v %v %v %v %v %vZ", from, top, bend, top, bend, inner, to, inner,
			to, inner+p.thick, bend, inner+p.thick, bend, top+p.thick, from, top+p.thick)
		s.Bar = rect{min(x(bar), from), top, flowBar, p.thick}
		s.TextX, s.Anchor = x(flowColumn), anchor
		s.AmountY = middle - 4
		f.Streams = append(f.Streams, s)
		y, inner = y+p.slot(), inner+p.thick
	}
}
