package charts

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// The view box that shapes are drawn in; the browser stretches it to the size of the picture.
const (
	wide = 1200
	tall = 300
)

// marks returns the shapes of a chart as SVG paths.
func (c *Chart) marks(ys scale) template.HTML {
	y := func(v float64) int { return tall - translate(v, ys.min, ys.max, tall) }
	var shapes string
	switch {
	case c.Kind == Bars:
		shapes = element(bars(c.Points, y), "bar")
	case c.Band:
		shapes = element(c.band(y), "area") + element(c.line(y), "mark")
	default:
		line := c.line(y)
		area := fmt.Sprintf("M0 %dL%sL%d %dZ", y(0), line[1:], wide, y(0))
		shapes = element(area, "area") + element(line, "mark")
	}
	return template.HTML(shapes) // #nosec G203: class names and numbers only
}

// bars returns one path with all bars, so that a hundred of them stay small.
func bars(points []Point, y func(float64) int) string {
	var path strings.Builder
	left, slot := slots(len(points))
	gap := max(1, slot/6)
	for i, p := range points {
		if p.Y != 0 {
			from, to := int(left+slot*float64(i)+gap/2), int(left+slot*float64(i+1)-gap/2)
			fmt.Fprintf(&path, "M%d %dV%dH%dV%dZ", from, y(0), y(p.Y), max(to, from+1), y(0))
		}
	}
	return path.String()
}

// slots returns the start of the first of n bars, and the width of each with its gap.
func slots(n int) (left, slot float64) {
	slot = float64(wide) / float64(max(n, 4))
	return (wide - slot*float64(n)) / 2, slot // fewer than four bars are centered
}

// mostTargets is the maximum number of points of a line that have a column each.
const mostTargets = 400

// band returns the path around the area between Low and High of the points.
func (c *Chart) band(y func(float64) int) string {
	first, last := c.Points[0].X, c.Points[len(c.Points)-1].X
	if first == last {
		return fmt.Sprintf("M0 %dH%dV%dH0Z", y(c.Points[0].High), wide, y(c.Points[0].Low))
	}
	var path strings.Builder
	to := byte('M')
	add := func(x, v float64) {
		fmt.Fprintf(&path, "%c%d %d", to, translate(x, first, last, wide), y(v))
		to = 'L'
	}
	for _, p := range c.Points {
		add(p.X, p.High)
	}
	for _, p := range slices.Backward(c.Points) {
		add(p.X, p.Low)
	}
	return path.String() + "Z"
}

// targets returns the columns of the bars, or of the points of a line: each reaches to the middle of its neighbors.
func (c *Chart) targets() (list []target) {
	if c.Brief || c.Kind != Bars && (!c.Hover || len(c.Points) > mostTargets || len(c.Points) < 2) {
		return nil
	}
	if c.Kind != Bars {
		first, last := c.Points[0].X, c.Points[len(c.Points)-1].X
		at := func(x float64) int { return translate(x, first, last, wide) }
		from := 0
		for i, p := range c.Points {
			to := wide
			if i+1 < len(c.Points) {
				to = (at(p.X) + at(c.Points[i+1].X)) / 2
			}
			list = append(list, target{p, from, max(1, to-from)})
			from = to
		}
		return list
	}
	left, slot := slots(len(c.Points))
	for i, p := range c.Points {
		from := int(left + slot*float64(i))
		list = append(list, target{p, from, max(1, int(left+slot*float64(i+1))-from)})
	}
	return list
}

// line returns the path through the points. A single point becomes a horizontal line.
func (c *Chart) line(y func(float64) int) string {
	first, last := c.Points[0], c.Points[len(c.Points)-1]
	if first.X == last.X {
		return fmt.Sprintf("M0 %dH%d", y(last.Y), wide)
	}
	var path strings.Builder
	beforeX, beforeY := 0, 0
	for i, p := range c.Points {
		x, y := translate(p.X, first.X, last.X, wide), y(p.Y)
		switch {
		case i == 0:
			fmt.Fprintf(&path, "M%d %d", x, y)
		case c.Kind == Steps: // relative coordinates are shorter
			fmt.Fprintf(&path, "h%dv%d", x-beforeX, y-beforeY)
		default:
			fmt.Fprintf(&path, "l%d %d", x-beforeX, y-beforeY)
		}
		beforeX, beforeY = x, y
	}
	return path.String()
}

// translate maps v from [low, high] to [0, size].
func translate(v, low, high float64, size int) int {
	return int(math.Ceil((v - low) / (high - low) * float64(size)))
}

func element(path, class string) string {
	if path == "" {
		return ""
	}
	return `<path d="` + path + `" class="` + class + `"/>`
}
