package charts

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"birthmark/internal/humanize"
)

// Treemap is a rectangle that is divided into cells by their sizes. The cells of a group are together.
type Treemap struct {
	ID, Title string
	Text      string // description for screen readers
	Unit      string // name of a cell, such as transaction
	Groups    []Group

	// Describe returns the texts and links of a few large cells by Cell.At.
	Describe func(at []int) ([]Description, error)
}

// Group is the cells of one color.
type Group struct {
	Name  string // in the legend
	Tier  int    // color, from 0 to 7
	Cells []Cell
}

// Cell is one rectangle.
type Cell struct {
	Size float64 // its area, in any unit; cells of at most 0 are left out
	At   int     // identifies it in calls of Describe; negative: several cells
}

// Description is shown when the pointer is on a cell.
type Description struct {
	Text string
	Link string
}

// The view box of a treemap, which the browser stretches to the size of the picture.
const (
	mapWide = 1200
	mapTall = 480
	mapLow  = 200 // height with few cells

	fewCells    = 24
	mostCells   = 360 // that are drawn; several of the smaller ones of a group are one rectangle
	mostPointed = 16  // with a text and a link
)

// box is a rectangle.
type box struct{ x, y, w, h float64 }

// shown is the data of a group for the template.
type shown struct {
	Name, Class, Count, Share string
	Path                      string
}

// pointed is a cell with a text and a link.
type pointed struct {
	Description
	cell       Cell
	X, Y, W, H int
}

// HTML returns the treemap as a figure element; empty if no cell has a size.
func (m *Treemap) HTML() (template.HTML, error) {
	f := struct {
		*Treemap
		Wide, Tall int
		Few        bool
		Joined     bool // a rectangle can be several cells
		Groups     []shown
		Pointed    []pointed
	}{Treemap: m, Wide: mapWide, Tall: mapTall}
	whole, count := 0.0, 0
	var groups []Group
	var sums []float64
	for _, g := range m.Groups {
		g.Cells = slices.DeleteFunc(slices.Clone(g.Cells), func(c Cell) bool { return !(c.Size > 0 && c.Size <= largest) })
		slices.SortStableFunc(g.Cells, func(a, b Cell) int { return cmp.Compare(b.Size, a.Size) })
		if len(g.Cells) == 0 {
			continue
		}
		sum := 0.0
		for _, c := range g.Cells {
			sum += c.Size
		}
		whole, count = whole+sum, count+len(g.Cells)
		groups, sums = append(groups, g), append(sums, sum)
	}
	if whole == 0 {
		return "", nil
	}
	if f.Few = count <= fewCells; f.Few {
		f.Tall = mapLow
	}
	for i, area := range squarify(sums, box{0, 0, mapWide, float64(f.Tall)}) {
		g := &groups[i]
		cells := merged(g.Cells, max(1, int(mostCells*sums[i]/whole)))
		f.Joined = f.Joined || len(cells) < len(g.Cells)
		sizes := make([]float64, len(cells))
		for j, c := range cells {
			sizes[j] = c.Size
		}
		var path strings.Builder
		for j, b := range squarify(sizes, area) {
			x, y := int(math.Round(b.x)), int(math.Round(b.y))
			w, h := int(math.Round(b.x+b.w))-x, int(math.Round(b.y+b.h))-y
			if w <= 0 || h <= 0 {
				continue // less than a point
			}
			fmt.Fprintf(&path, "M%d %dh%dv%dh-%dz", x, y, w, h, w)
			if cells[j].At >= 0 {
				f.Pointed = append(f.Pointed, pointed{cell: cells[j], X: x, Y: y, W: w, H: h})
			}
		}
		f.Groups = append(f.Groups, shown{
			Name: g.Name, Class: "t" + strconv.Itoa(min(max(0, g.Tier), 7)), Path: path.String(),
			Count: humanize.Plural(len(g.Cells), m.Unit), Share: Share(sums[i] / whole * 100)})
	}
	slices.SortStableFunc(f.Pointed, func(a, b pointed) int { return cmp.Compare(b.cell.Size, a.cell.Size) })
	f.Pointed = f.Pointed[:min(len(f.Pointed), mostPointed)]
	at := make([]int, len(f.Pointed))
	for i := range f.Pointed {
		at[i] = f.Pointed[i].cell.At
	}
	texts, err := m.Describe(at)
	if err != nil {
		return "", err
	}
	for i := range f.Pointed {
		f.Pointed[i].Description = texts[i]
	}
	return execute("treemap", f)
}

// merged returns at most n cells, which are sorted by size: half of them are the largest ones, and each other is a number
// of smaller ones, without a description.
func merged(cells []Cell, n int) []Cell {
	if len(cells) <= n {
		return cells
	}
	keep := n / 2
	all, rest := slices.Clone(cells[:keep]), cells[keep:]
	for part := range slices.Chunk(rest, (len(rest)+n-keep-1)/(n-keep)) {
		sum := Cell{At: -1}
		for _, c := range part {
			sum.Size += c.Size
		}
		all = append(all, sum)
	}
	slices.SortStableFunc(all, func(a, b Cell) int { return cmp.Compare(b.Size, a.Size) })
	return all
}

// squarify divides a rectangle in proportion to sizes, in rows along its shorter side. A row gets the next size as long
// as its rectangles become more like squares (Bruls, Huizing, van Wijk: Squarified Treemaps, 2000).
func squarify(sizes []float64, in box) []box {
	boxes := make([]box, 0, len(sizes))
	left := 0.0
	for _, s := range sizes {
		left += s
	}
	for len(sizes) > 0 && left > 0 {
		side, scale := min(in.w, in.h), in.w*in.h/left
		row, n := sizes[0], 1
		for worst := ratio(sizes[:1], row, side, scale); n < len(sizes); n++ {
			next := ratio(sizes[:n+1], row+sizes[n], side, scale)
			if next > worst {
				break
			}
			worst, row = next, row+sizes[n]
		}
		thick := 0.0
		if side > 0 {
			thick = row * scale / side
		}
		at := 0.0
		for _, s := range sizes[:n] {
			length := side * s / row
			if in.w >= in.h {
				boxes = append(boxes, box{in.x, in.y + at, thick, length})
			} else {
				boxes = append(boxes, box{in.x + at, in.y, length, thick})
			}
			at += length
		}
		if in.w >= in.h {
			in.x, in.w = in.x+thick, max(0, in.w-thick)
		} else {
			in.y, in.h = in.y+thick, max(0, in.h-thick)
		}
		sizes, left = sizes[n:], left-row
	}
	for range sizes { // of nothing
		boxes = append(boxes, box{in.x, in.y, 0, 0})
	}
	return boxes
}

// ratio returns the ratio of the sides of the least square rectangle of a row.
func ratio(sizes []float64, sum, side, scale float64) float64 {
	least, most := sizes[0], sizes[0]
	for _, s := range sizes {
		least, most = min(least, s), max(most, s)
	}
	area := sum * scale
	return max(side*side*most*scale/(area*area), area*area/(side*side*least*scale))
}
