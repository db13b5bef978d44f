package charts

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Style is the style sheet of charts. It uses the variables --accent, --ink, --soft, --faint, --line and --raised of the
// page.
//
//go:embed chart.css
var Style string

//go:embed chart.html
var chartHTML string

var pages = template.Must(template.New("chart").Parse(chartHTML))

// Kind is the kind of a chart.
type Kind int

const (
	Bars  Kind = iota // one for each point, equally wide
	Area              // a line, filled to zero
	Line              // a line
	Steps             // an area in which a value holds until the next
)

// Chart is a chart over heights or times.
type Chart struct {
	ID     string // unique on its page: letters, digits and hyphens
	Title  string
	Kind   Kind
	Points []Point // sorted by X; points that are not finite are ignored
	X, Y   Axis
	Empty  string // text of a chart without points
}

// Point is one value.
type Point struct {
	X, Y      float64
	At, Value string // X and Y in the table; empty: as on the axes
	Link      string // URL of At
}

// Axis describes X or Y.
type Axis struct {
	Name  string               // heading of the column in the table
	Label func(float64) string // nil: [Short]
	Whole bool                 // values are integers
}

func (a Axis) label(v float64) string {
	if a.Label == nil {
		return Short(v)
	}
	return a.Label(v)
}

const (
	drawn  = 400 // points of a picture at most
	listed = 60  // points of a table at most
	height = 168 // of the picture
	plot   = 140 // of the part with the shapes
	above  = 8   // that part
)

// figure is the data of the template.
type figure struct {
	*Chart
	Text          string // description for screen readers
	Marks         template.HTML
	Gutter        int // width of the labels of Y
	Height, Plot  int
	Above, Bottom int
	Lines         []gridLine
	Across        []gridLabel
	Rows          []Point
	Of            int // points there are
}

type gridLine struct {
	Y, Text int // of the line and of its label
	Label   string
	Zero    bool
}

type gridLabel struct{ At, Anchor, Label string }

// HTML returns the chart as a figure element.
func (c *Chart) HTML() (template.HTML, error) {
	points := finite(c.Points)
	f := figure{Chart: c, Height: height, Plot: plot, Above: above, Bottom: height - 4, Of: len(points)}
	if len(points) == 0 {
		return execute("empty", f)
	}
	ys := scaleOf(points, c.Y.Whole)
	f.Text = c.describe(points)
	f.Rows = c.rows(points)
	if c.Kind != Bars {
		points = thin(points, drawn)
	}
	f.Marks = c.marks(points, ys)
	widest := 0
	for _, v := range ys.ticks {
		y := above + int(math.Round((ys.max-v)/(ys.max-ys.min)*plot))
		l := gridLine{Y: y, Text: y + 4, Label: c.Y.label(v), Zero: v == 0}
		f.Lines = append(f.Lines, l)
		widest = max(widest, len([]rune(l.Label)))
	}
	f.Gutter = 10 + 7*widest
	f.Across = c.across(points)
	return execute("chart", f)
}

func execute(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, data)
	return template.HTML(strings.TrimSpace(b.String())), err // #nosec G203: html/template has escaped it
}

// finite returns the finite points, limited so that differences are finite too.
func finite(points []Point) []Point {
	var kept []Point
	for _, p := range points {
		if math.IsNaN(p.X) || math.IsNaN(p.Y) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) {
			continue
		}
		const most = math.MaxFloat64 / 8
		p.X, p.Y = max(-most, min(most, p.X)), max(-most, min(most, p.Y))
		kept = append(kept, p)
	}
	return kept
}

// across returns the labels of X: start, middle and end.
func (c *Chart) across(points []Point) []gridLabel {
	first, last := points[0].X, points[len(points)-1].X
	if first == last {
		return []gridLabel{{"50%", "middle", c.X.label(first)}}
	}
	middle := first + (last-first)/2
	if c.X.Whole {
		middle = math.Round(middle)
	}
	labels := []gridLabel{{"0%", "start", c.X.label(first)}, {"50%", "middle", c.X.label(middle)}, {"100%", "end", c.X.label(last)}}
	if middle == first || middle == last {
		return []gridLabel{labels[0], labels[2]}
	}
	return labels
}

// describe returns a description of the chart.
func (c *Chart) describe(points []Point) string {
	least, most := points[0], points[0]
	for _, p := range points {
		if p.Y < least.Y {
			least = p
		}
		if p.Y > most.Y {
			most = p
		}
	}
	last := points[len(points)-1]
	if len(points) == 1 {
		return fmt.Sprintf("%s at %s.", c.value(last), c.at(last))
	}
	return fmt.Sprintf("From %s to %s: least %s at %s, most %s at %s, last %s.",
		c.at(points[0]), c.at(last), c.value(least), c.at(least), c.value(most), c.at(most), c.value(last))
}

func (c *Chart) at(p Point) string {
	if p.At != "" {
		return p.At
	}
	return c.X.label(p.X)
}

func (c *Chart) value(p Point) string {
	if p.Value != "" {
		return p.Value
	}
	return c.Y.label(p.Y)
}

// rows returns the points of the table, newest first.
func (c *Chart) rows(points []Point) []Point {
	n := min(len(points), listed)
	rows := make([]Point, 0, n)
	for i := range n {
		p := points[len(points)-1-i*(len(points)-1)/max(1, n-1)]
		p.At, p.Value = c.at(p), c.value(p)
		rows = append(rows, p)
	}
	return rows
}
