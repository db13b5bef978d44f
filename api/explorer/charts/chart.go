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
	Steps             // an area in which a value holds until the next
)

// Chart is a chart over heights or times.
type Chart struct {
	ID     string // unique on its page: letters, digits and hyphens
	Title  string
	Kind   Kind
	Points []Point // at least one, sorted by X
	X, Y   Axis
	Link   string // URL of the title; empty: none
	Brief  bool   // without the table and the values of points
	Hover  bool   // the points of a line show their values when the pointer is on them
	Band   bool   // a line of points within the area between their Low and High
}

// Point is one value.
type Point struct {
	X, Y      float64
	At, Value string // X and Y in the table; empty: as on the axes
	Link      string // URL of At
	Low, High float64
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
	listed  = 30 // points of a table at most
	height  = 168
	plot    = 140   // height of the part with the shapes
	above   = 8     // that part
	largest = 1e300 // of a value, so that differences are finite
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
	Targets       []target // columns of bars, with their values and links
}

// target is the column of a bar, from the top of the chart to its bottom.
type target struct {
	Point
	From, Width int
}

type gridLine struct {
	Y, Text int // of the line and of its label
	Label   string
	Zero    bool
}

type gridLabel struct{ At, Anchor, Label string }

// HTML returns the chart as a figure element. It ignores values that are not finite; without others it returns nothing.
func (c Chart) HTML() (template.HTML, error) {
	var points []Point
	for _, p := range c.Points {
		if math.Abs(p.X) <= largest && math.Abs(p.Y) <= largest && math.Abs(p.Low) <= largest && math.Abs(p.High) <= largest { // false for NaN
			if p.At == "" {
				p.At = c.X.label(p.X)
			}
			if p.Value == "" {
				p.Value = c.Y.label(p.Y)
			}
			points = append(points, p)
		}
	}
	if c.Points = points; len(points) == 0 {
		return "", nil
	}
	ys := scaleOf(points, c.Y.Whole)
	f := figure{
		Chart: &c, Height: height, Plot: plot, Above: above, Bottom: height - 4,
		Text: describe(points), Marks: c.marks(ys), Across: c.across(), Rows: rows(points), Targets: c.targets(),
	}
	widest := 0
	for _, v := range ys.ticks {
		y := above + int(math.Round((ys.max-v)/(ys.max-ys.min)*plot))
		l := gridLine{Y: y, Text: y + 4, Label: c.Y.label(v), Zero: v == 0}
		f.Lines = append(f.Lines, l)
		widest = max(widest, len([]rune(l.Label)))
	}
	f.Gutter = 10 + 7*widest
	return execute("chart", f)
}

func execute(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, data)
	return template.HTML(strings.TrimSpace(b.String())), err // #nosec G203: html/template has escaped it
}

// across returns the labels of X: start, middle and end.
func (c *Chart) across() []gridLabel {
	first, last := c.Points[0].X, c.Points[len(c.Points)-1].X
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

func describe(points []Point) string {
	first, last := points[0], points[len(points)-1]
	if len(points) == 1 {
		return fmt.Sprintf("%s at %s.", last.Value, last.At)
	}
	least, most := first, first
	for _, p := range points {
		if p.Y < least.Y {
			least = p
		}
		if p.Y > most.Y {
			most = p
		}
	}
	return fmt.Sprintf("From %s to %s: least %s at %s, most %s at %s, last %s.",
		first.At, last.At, least.Value, least.At, most.Value, most.At, last.Value)
}

// rows returns the points of the table, newest first.
func rows(points []Point) []Point {
	n := min(len(points), listed)
	rows := make([]Point, n)
	for i := range rows {
		rows[i] = points[len(points)-1-i*(len(points)-1)/max(1, n-1)]
	}
	return rows
}
