package explorer

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

type rect struct{ X, Y, W, H string }

// Dimensions in units of the view box, which is flowWidth wide; labels are in the outer columns.
const (
	flowWidth  = 960
	flowColumn = 206 // of labels
	flowBar    = 6
	flowNode   = 10
	flowThick  = 150 // thickness of the larger side
	flowThin   = 1.5 // least thickness of a ribbon
	flowSlot   = 40  // least height of a ribbon with its label of two lines
	flowGap    = 6
)

// draw lays out both sides.
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

// room sets the thickness of each part and returns the total height.
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

// side lays out one side; the right one is mirrored.
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

// outline formats a path.
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

// coordinate rounds to a tenth.
func coordinate(n float64) string {
	return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
}

func total(parts []part) *big.Int {
	sum := new(big.Int)
	for _, p := range parts {
		sum.Add(sum, p.value)
	}
	return sum
}
