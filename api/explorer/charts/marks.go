package charts

import (
	"html/template"
	"math"
	"strconv"
)

// The view box that shapes are drawn in; the browser stretches it to the size of the picture.
const (
	wide = 1200
	tall = 300
)

// marks returns the shapes of a chart as SVG paths.
func (c *Chart) marks(points []Point, ys scale) template.HTML {
	var shapes string
	zero := translate(0, ys.min, ys.max, tall)
	if c.Kind == Bars {
		shapes = bars(points, ys, tall-zero).element("bar")
	} else {
		xs, values := c.line(points)
		var line path
		for i := range xs {
			x := translate(xs[i], xs[0], xs[len(xs)-1], wide)
			line.to(x, tall-translate(values[i], ys.min, ys.max, tall))
		}
		if c.Kind != Line {
			var area path
			area.to(0, tall-zero)
			area = append(append(area, 'L'), line[1:]...)
			area.to(wide, tall-zero)
			area.close()
			shapes = area.element("area")
		}
		shapes += line.element("mark")
	}
	return template.HTML(shapes) // #nosec G203: class names and numbers only
}

// bars returns one path with all bars, so that a hundred of them stay small.
func bars(points []Point, ys scale, zero int) (p path) {
	slot := float64(wide) / float64(max(len(points), 4))
	gap := max(1, slot/6)
	left := (wide - slot*float64(len(points))) / 2 // fewer than four bars are centered
	for i, point := range points {
		if point.Y == 0 {
			continue
		}
		x0, x1 := int(left+slot*float64(i)+gap/2), int(left+slot*float64(i+1)-gap/2)
		x1 = max(x1, x0+1)
		y := tall - translate(point.Y, ys.min, ys.max, tall)
		p.to(x0, zero)
		p.to(x0, y)
		p.to(x1, y)
		p.to(x1, zero)
		p.close()
	}
	return p
}

// line returns the points that a line goes through. A single point becomes a horizontal line.
func (c *Chart) line(points []Point) (xs, ys []float64) {
	if first, last := points[0], points[len(points)-1]; first.X == last.X {
		return []float64{0, 1}, []float64{last.Y, last.Y}
	}
	for i, p := range points {
		if c.Kind == Steps && i > 0 {
			xs, ys = append(xs, p.X), append(ys, points[i-1].Y)
		}
		xs, ys = append(xs, p.X), append(ys, p.Y)
	}
	return xs, ys
}

// translate maps v from [low, high] to [0, size].
func translate(v, low, high float64, size int) int {
	return int(math.Ceil((v - low) / (high - low) * float64(size)))
}

// path is the d attribute of an SVG path element.
type path []byte

// to starts a shape at a point, or continues it there.
func (p *path) to(x, y int) {
	command := byte('L')
	if n := len(*p); n == 0 || (*p)[n-1] == 'Z' {
		command = 'M'
	}
	*p = strconv.AppendInt(append(*p, command), int64(x), 10)
	*p = strconv.AppendInt(append(*p, ' '), int64(y), 10)
}

func (p *path) close() { *p = append(*p, 'Z') }

// element returns the path element; empty if there is no shape.
func (p path) element(class string) string {
	if len(p) == 0 {
		return ""
	}
	return `<path d="` + string(p) + `" class="` + class + `"/>`
}
