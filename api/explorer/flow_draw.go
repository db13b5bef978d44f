package explorer

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// length is a length or a coordinate in units of the view box, which is flowWidth wide. It is written with one decimal.
type length float64

func (l length) String() string {
	return strconv.FormatFloat(math.Round(float64(l)*10)/10, 'f', -1, 64)
}

type rect struct{ X, Y, W, H length }

// Labels are in the outer columns of the view box.
const (
	flowWidth  length = 960
	flowColumn length = 206 // of labels
	flowBar    length = 6
	flowNode   length = 10
	flowThick  length = 150 // thickness of the larger side
	flowThin   length = 1.5 // least thickness of a ribbon
	flowSlot   length = 40  // least height of a ribbon with its label of two lines
	flowGap    length = 6
)

type flowSide struct {
	parts []part
	sum   *big.Int
	thick length // of all ribbons
	high  length // with their labels
}

func (s *flowSide) add(p part) {
	s.parts = append(s.parts, p)
	s.sum.Add(s.sum, p.value)
}

// measure sets the thickness of each part.
func (s *flowSide) measure(scale float64) {
	for i := range s.parts {
		p := &s.parts[i]
		value, _ := p.value.Float64()
		if p.thick = flowThin; scale > 0 {
			p.thick = max(flowThin, flowThick*length(value/scale))
		}
		s.thick += p.thick
		s.high += p.slot()
	}
}

// slot is the height of a part with its label.
func (p *part) slot() length { return max(flowSlot, p.thick) + flowGap }

// draw lays out both sides.
func (f *flow) draw(left, right *flowSide) {
	in, _ := left.sum.Float64()
	out, _ := right.sum.Float64()
	left.measure(max(in, out))
	right.measure(max(in, out))
	thick := max(left.thick, right.thick)
	f.Height = max(left.high, right.high)
	f.Node = rect{(flowWidth - flowNode) / 2, (f.Height - thick) / 2, flowNode, thick}
	f.side(left, false)
	f.side(right, true)
}

// side lays out one side; the right one is mirrored.
func (f *flow) side(side *flowSide, mirrored bool) {
	x, anchor := func(x length) length { return x }, "end"
	if mirrored {
		x, anchor = func(x length) length { return flowWidth - x }, "start"
	}
	const bar, node = flowColumn + flowGap, (flowWidth - flowNode) / 2
	from, to := x(bar+flowBar), x(node)
	bend := (from + to) / 2
	y, inner := (f.Height-side.high)/2, (f.Height-side.thick)/2
	for _, p := range side.parts {
		middle := y + p.slot()/2
		top, s := middle-p.thick/2, p.stream
		s.Ribbon = fmt.Sprintf("M%v %vC%v %v %v %v %v %vL%v %vC%v %v %v %v %v %vZ", from, top, bend, top, bend, inner, to, inner,
			to, inner+p.thick, bend, inner+p.thick, bend, top+p.thick, from, top+p.thick)
		s.Bar = rect{min(x(bar), from), top, flowBar, p.thick}
		s.TextX, s.Anchor = x(flowColumn), anchor
		s.AmountY, s.NameY = middle-4, middle+13
		f.Streams = append(f.Streams, s)
		y, inner = y+p.slot(), inner+p.thick
	}
}
