package charts

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/go-analyze/charts/chartdraw"
)

const (
	wide = 1200 // of the picture that shapes are drawn in, stretched to what there is
	tall = 300
)

// style is that of a class. The library draws only what has a colour, and writes the class in its place.
func style(class string) chartdraw.Style {
	return chartdraw.Style{ClassName: class, StrokeWidth: 1, StrokeColor: chartdraw.ColorBlack}
}

// marks is the shapes of a chart.
func (c *Chart) marks(points []Point, ys scale) (template.HTML, error) {
	r := chartdraw.SVG(wide, tall)
	box := chartdraw.Box{Right: wide, Bottom: tall, IsSet: true}
	yr := &chartdraw.ContinuousRange{Min: ys.min, Max: ys.max, Domain: tall}
	if c.Kind == Bars {
		bars(r, points, yr)
	} else {
		line := chartdraw.ContinuousSeries{Style: style("mark")}
		line.XValues, line.YValues = c.line(points)
		if err := line.Validate(); err != nil {
			return "", err
		}
		xr := &chartdraw.ContinuousRange{Min: line.XValues[0], Max: line.XValues[len(line.XValues)-1], Domain: wide}
		if c.Kind != Line {
			area(r, line, xr, yr)
		}
		line.Render(r, box, xr, yr, chartdraw.Style{})
	}
	var b bytes.Buffer
	if err := r.Save(&b); err != nil {
		return "", err
	}
	svg := strings.NewReplacer(" stroke fill", "", "\nL ", "L", "M ", "M", "\nZ", "Z", ` xmlns:xlink="http://www.w3.org/1999/xlink"`, "", "  d=", " d=").Replace(b.String())
	_, shapes, _ := strings.Cut(svg, ">")
	return template.HTML(strings.TrimSuffix(shapes, "</svg>")), nil // #nosec G203: class names and numbers of ours
}

// bars are one shape, so that a hundred of them are small.
func bars(r chartdraw.Renderer, points []Point, yr chartdraw.Range) {
	style("bar").WriteDrawingOptionsToRenderer(r)
	zero := tall - yr.Translate(0)
	slot := float64(wide) / float64(max(len(points), 4))
	gap := max(1, slot/6)
	left := (wide - slot*float64(len(points))) / 2 // few stand in the middle
	for i, p := range points {
		if p.Y == 0 {
			continue
		}
		x0, x1 := int(left+slot*float64(i)+gap/2), int(left+slot*float64(i+1)-gap/2)
		y := tall - yr.Translate(p.Y)
		r.MoveTo(x0, zero)
		r.LineTo(x0, y)
		r.LineTo(max(x1, x0+1), y)
		r.LineTo(max(x1, x0+1), zero)
		r.Close()
	}
	r.Fill()
}

// area is what lies between a line and zero.
func area(r chartdraw.Renderer, line chartdraw.ContinuousSeries, xr, yr chartdraw.Range) {
	style("area").WriteDrawingOptionsToRenderer(r)
	zero := tall - yr.Translate(0)
	r.MoveTo(0, zero)
	for i, x := range line.XValues {
		r.LineTo(xr.Translate(x), tall-yr.Translate(line.YValues[i]))
	}
	r.LineTo(wide, zero)
	r.Close()
	r.Fill()
}

// line is what a line goes through. A single point is as wide as the picture.
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
