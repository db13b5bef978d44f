package charts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testseed"
)

// The rectangles have areas in proportion to the sizes, cover the whole and do not overlap.
func TestRectanglesDivideTheWholeInProportion(t *testing.T) {
	rng := testseed.Rand(t)
	for range 500 {
		in := box{float64(rng.IntN(50)), float64(rng.IntN(50)), 1 + 1000*rng.Float64(), 1 + 1000*rng.Float64()}
		sizes := make([]float64, 1+rng.IntN(60))
		sum := 0.0
		for i := range sizes {
			sizes[i] = math.Exp(8 * rng.Float64())
			sum += sizes[i]
		}
		if rng.IntN(2) == 0 {
			slices.Sort(sizes)
			slices.Reverse(sizes)
		}
		boxes := squarify(sizes, in)
		if len(boxes) != len(sizes) {
			t.Fatalf("%d rectangles for %d sizes", len(boxes), len(sizes))
		}
		const tiny = 1e-6
		for i, b := range boxes {
			if want := in.w * in.h * sizes[i] / sum; math.Abs(b.w*b.h-want) > tiny*in.w*in.h {
				t.Fatalf("%v in %v: the rectangle %d has the area %v, expected %v", sizes, in, i, b.w*b.h, want)
			}
			if b.x < in.x-tiny || b.y < in.y-tiny || b.x+b.w > in.x+in.w+tiny*in.w || b.y+b.h > in.y+in.h+tiny*in.h {
				t.Fatalf("%v in %v: %v is outside", sizes, in, b)
			}
			for _, other := range boxes[:i] {
				wide := min(b.x+b.w, other.x+other.w) - max(b.x, other.x)
				tall := min(b.y+b.h, other.y+other.h) - max(b.y, other.y)
				if wide > tiny*in.w && tall > tiny*in.h {
					t.Fatalf("%v in %v: %v and %v overlap", sizes, in, b, other)
				}
			}
		}
	}
	if got := squarify([]float64{6, 6, 4, 3, 2, 2, 1}, box{0, 0, 6, 4}); got[0] != (box{0, 0, 3, 2}) || got[1] != (box{0, 2, 3, 2}) {
		t.Errorf("the example of the paper: %v", got)
	}
}

// A treemap has a bounded number of rectangles and links, whatever the number of cells; its legend counts all of them.
func TestATreemapIsBounded(t *testing.T) {
	m := &Treemap{ID: "filling", Title: "Filling", Text: "By fee rate.", Unit: "transaction", Describe: func(at []int) (list []Description, err error) {
		for _, n := range at {
			list = append(list, Description{fmt.Sprint("cell ", n), fmt.Sprintf("/made-up/tx/%s%d", strings.Repeat("ab", 30), n)})
		}
		return list, nil
	}}
	for tier := range 8 {
		g := Group{Name: fmt.Sprintf("group %d", tier), Tier: tier}
		for i := range 3000 {
			g.Cells = append(g.Cells, Cell{Size: float64(1 + i*i%977), At: 3000*tier + i})
		}
		m.Groups = append(m.Groups, g)
	}
	page, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, page)
	text := string(page)
	cells := len(regexp.MustCompile(`M\d+ \d+h\d+v\d+h-\d+z`).FindAllString(text, -1))
	if cells < 100 || cells > mostCells || strings.Count(text, "<a href=") != mostPointed || len(text) > 20_000 {
		t.Errorf("%d cells, %d links, %d bytes", cells, strings.Count(text, "<a href="), len(text))
	}
	if n := strings.Count(text, "3,000 transactions, "); n != 8 {
		t.Errorf("%d groups in the legend: %s", n, text)
	}
}

func TestTreemaps(t *testing.T) {
	m := &Treemap{ID: "filling", Title: "Filling <of> a block", Text: "By fee rate.", Unit: "transaction", Describe: func(at []int) (list []Description, err error) {
		for _, n := range at {
			list = append(list, []Description{{"one & two", "/tx/1?a=1&b=2"}, {"three", ""}}[n])
		}
		return list, nil
	}, Groups: []Group{
		{Name: "16 & more", Tier: 12, Cells: []Cell{{250, 0}, {500, 1}, {0, 3}}},
		{Name: "none", Tier: 3},
		{Name: "less", Tier: -1, Cells: []Cell{{math.NaN(), 3}, {math.Inf(1), 4}, {250, -1}}},
	}}
	page, err := m.HTML()
	golden(t, "treemap", page, err)
	page, err = (&Treemap{ID: "filling", Title: "Nothing", Unit: "transaction"}).HTML()
	if page != "" || err != nil {
		t.Errorf("a treemap without cells is %q, %v", page, err)
	}
}
