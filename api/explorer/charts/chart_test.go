package charts

import (
	"bytes"
	"flag"
	"fmt"
	"html/template"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"birthmark/internal/testseed"
)

var update = flag.Bool("update", false, "update the golden files")

func golden(t *testing.T, name string, got template.HTML, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, got)
	path := filepath.Join("testdata", name+".html")
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(bytes.TrimSpace(want)) != string(got) {
		t.Errorf("%s differs: run the test with -update and review the file:\n%s", path, got)
	}
}

// wellFormed checks that elements are closed in order, that ids are unique and references valid, and that there are no
// inline styles and scripts.
func wellFormed(t *testing.T, page template.HTML) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(string(page)))
	var open []string
	ids, named := map[string]int{}, []string{}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		for _, a := range token.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.Contains(a.Val, "javascript:"):
				t.Errorf("<%s %s=%q>", token.Data, a.Key, a.Val)
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "aria-labelledby" || a.Key == "aria-describedby":
				named = append(named, a.Val)
			case strings.Contains(a.Val, "NaN") || strings.Contains(a.Val, "Inf"):
				t.Errorf("<%s %s=%q>", token.Data, a.Key, a.Val)
			}
		}
		switch kind {
		case html.StartTagToken:
			if token.Data == "script" || token.Data == "style" {
				t.Errorf("unexpected <%s>", token.Data)
			}
			open = append(open, token.Data)
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> within %v", token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v are not closed", open)
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements have the id %s", n, id)
		}
	}
	for _, id := range named {
		if ids[id] == 0 {
			t.Errorf("no element has the id %s", id)
		}
	}
}

func some(n int, y func(i int) float64) (points []Point) {
	for i := range n {
		points = append(points, Point{X: float64(14000 + i), Y: y(i)})
	}
	return points
}

func TestGoldenCharts(t *testing.T) {
	heights := Axis{Name: "Block", Label: Whole, Whole: true}
	txs := Axis{Name: "Transactions", Whole: true}
	day := float64(1231731025)
	for name, c := range map[string]Chart{
		"bars":     {ID: "a", Title: "Transactions per block", X: heights, Y: txs, Points: some(120, func(i int) float64 { return float64(1 + i*i%37) })},
		"bar":      {ID: "a", Title: "Transactions per block", X: heights, Y: txs, Points: []Point{{X: 7, Y: 3, Link: "/bitcoin/block/7"}}},
		"empty":    {ID: "a", Title: "Transactions per block", X: heights, Y: txs},
		"area":     {ID: "b", Title: "Rate", Kind: Area, X: Axis{Name: "Since the start", Label: Durations}, Y: Axis{Name: "per second"}, Points: some(50, func(i int) float64 { return 250000 * math.Sin(float64(i)/16) })},
		"negative": {ID: "b", Title: "Up and down", Kind: Area, X: heights, Y: Axis{Name: "y"}, Points: some(9, func(i int) float64 { return float64(4-i) * 1e9 })},
		"below":    {ID: "b", Title: "Always below", Kind: Bars, X: heights, Y: Axis{Name: "y"}, Points: some(3, func(i int) float64 { return -1 - float64(i) })},
		"band": {ID: "b", Title: "Fee rates", Kind: Area, Band: true, Hover: true, X: heights, Y: Axis{Name: "sat/vB"}, Points: []Point{
			{1, 5, "", "", "", 2, 9}, {2, 4, "", "", "", 3, 30}, {4, 6, "", "", "", 6, 6}}},
		"band-of-one": {ID: "b", Title: "Fee rates", Kind: Area, Band: true, X: heights, Y: Axis{Name: "sat/vB"}, Points: []Point{{1, 5, "", "", "", 2, 9}}},
		"zero":        {ID: "b", Title: "Nothing", Kind: Bars, X: heights, Y: txs, Points: some(3, func(int) float64 { return 0 })},
		"steps": {ID: "c", Title: "Balance", Kind: Steps, X: Axis{Name: "Time", Label: Times(day, day+90*86400)}, Y: Axis{Name: "BTC"}, Points: []Point{
			{day, 50, "block 9", "50.00000000", "/bitcoin/block/9", 0, 0}, {day + 30*86400, 10, "", "10.00000000", "", 0, 0}, {day + 90*86400, 18, "", "", "", 0, 0}}},
		"point":   {ID: "c", Title: "Balance", Kind: Steps, X: Axis{Name: "Time", Label: Times(day, day)}, Y: Axis{Name: "BTC"}, Points: []Point{{day, 50, "", "50.00000000", "", 0, 0}}},
		"huge":    {ID: "c", Title: "Tokens", Kind: Steps, X: heights, Y: Axis{Name: "tokens"}, Points: some(4, func(i int) float64 { return math.Pow(10, float64(20*i)) })},
		"hostile": {ID: "c", Title: "<script>alert(1)</script>", X: Axis{Name: `"><img src=x>`, Label: func(float64) string { return "</text><script>" }}, Y: txs, Points: []Point{{1, 1, "<b>", "&amp;", "javascript:alert(1)", 0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := c.HTML()
			golden(t, name, page, err)
		})
	}
}

func TestGoldenShares(t *testing.T) {
	for name, s := range map[string]Shares{
		"shares": {ID: "h", Title: "Who holds it", Name: "Address", Value: "Amount", Parts: []Part{
			{"addr1a", "/cardano/address/addr1a", "70", 70, false}, {"addr1b-and-much-more-of-it", "", "20", 20, false}, {"addr1c", "", "0", 0.001, false}, {"42 others", "", "9", 9, true}}},
		"one":         {ID: "h", Title: "Who holds it", Name: "Address", Value: "Amount", Parts: []Part{{"addr1a", "", "70", 70, false}}},
		"nothing":     {ID: "h", Title: "Who holds it", Name: "Address", Value: "Amount", Parts: []Part{{"addr1a", "", "-7", -7, false}}},
		"nobody":      {ID: "h", Title: "Who holds it", Name: "Address", Value: "Amount"},
		"all-but-one": {ID: "h", Title: "Who holds it", Name: "Address", Value: "Amount", Parts: []Part{{"addr1a", "", "many", 1e18, false}, {"addr1b", "", "1", 1, false}}},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := s.HTML()
			golden(t, name, page, err)
		})
	}
	for _, v := range [][2]float64{{0, 0}, {1, 0}, {-1, 5}, {1, 1e9}, {3, 4}, {9, 4}} {
		wellFormed(t, Bar(v[0], v[1]))
	}
}

// Points that are not finite are ignored.
func TestChartsOfExtremeNumbers(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-9, 1e18}
	for _, x := range []float64{2, 1, math.NaN(), math.MaxFloat64} {
		for _, a := range odd {
			for _, b := range odd {
				for kind := Bars; kind <= Steps; kind++ {
					for _, whole := range []bool{false, true} {
						c := Chart{ID: "a", Kind: kind, Y: Axis{Whole: whole}, Points: []Point{{X: 0, Y: a}, {X: 1, Y: b}, {X: x, Y: 1}}}
						page, err := c.HTML()
						if err != nil {
							t.Fatalf("%v %v %v: %v", x, a, b, err)
						}
						wellFormed(t, page)
					}
				}
			}
		}
	}
}

func TestTableHasASampleOfThePoints(t *testing.T) {
	c := Chart{ID: "a", Kind: Steps, Points: some(1000, func(i int) float64 { return math.Sin(float64(i) / 50) }), X: Axis{Label: Whole}}
	page, err := c.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if len(page) > 32<<10 {
		t.Errorf("%d bytes of %d points", len(page), len(c.Points))
	}
	if !strings.Contains(string(page), "30 of the 1000 figures") || strings.Count(string(page), "<tr>") != 31 {
		t.Error("the table does not report that it is a sample")
	}
}

func TestLabels(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", -2.5: "-2.5", 0.25: "0.25", 0.001: "0.001", 1e-9: "1e-09", 950: "950", 12500: "12,500",
		99999: "99,999", 250000: "250k", 1.25e6: "1.25M", -3e9: "-3B", 21e12: "21T", 4.5e20: "4.5e+20"} {
		if got := Short(v); got != want {
			t.Errorf("Short(%g) = %s, expected %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", -1234567: "-1,234,567", 999: "999", 1000: "1,000"} {
		if got := Whole(v); got != want {
			t.Errorf("Whole(%g) = %s, expected %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0s", 59: "59s", 60: "1m0s", 200: "3m20s", 18600: "5h10m", 187200: "52h0m"} {
		if got := Durations(v); got != want {
			t.Errorf("Durations(%g) = %s, expected %s", v, got, want)
		}
	}
	for span, want := range map[float64]string{3600: "3 Jan 18:15 UTC", 86400 * 30: "3 Jan 2009", 86400 * 4000: "Jan 2009"} {
		if got := Times(1231006505, 1231006505+span)(1231006505); got != want {
			t.Errorf("within %g seconds: %s, expected %s", span, got, want)
		}
	}
}

func TestScalesAreRoundAndIncludeAllPoints(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		whole     bool
		want      []float64
	}{
		{0, 1, true, []float64{0, 1}},
		{0, 7, true, []float64{0, 5, 10}},
		{0, 23175, false, []float64{0, 10000, 20000, 30000}},
		{-3, 5, false, []float64{-5, 0, 5}},
		{0, 0, false, []float64{0, 0.5, 1}},
	} {
		s := scaleOf([]Point{{Y: c.low}, {Y: c.high}}, c.whole)
		if len(s.ticks) != len(c.want) {
			t.Errorf("%g to %g: %v, expected %v", c.low, c.high, s.ticks, c.want)
			continue
		}
		for i, v := range c.want {
			if s.ticks[i] != v {
				t.Errorf("%g to %g: %v, expected %v", c.low, c.high, s.ticks, c.want)
			}
		}
	}
}

// Both edges of a ribbon are parallel, with the thickness of its part, and the ribbons of a side meet without gaps. All
// values of the first transaction are 0.
func TestRibbonsHaveParallelEdges(t *testing.T) {
	const tolerance = 0.11 // coordinates have one decimal
	rng := testseed.Rand(t)
	for round := range 50 {
		below := int64(1000)
		if round == 0 {
			below = 1
		}
		var sides [2]*FlowSide
		for i := range sides {
			sides[i] = &FlowSide{Sum: new(big.Int)}
			for range 1 + rng.IntN(6) {
				sides[i].Add(FlowPart{Value: big.NewInt(rng.Int64N(below))})
			}
		}
		var f Flow
		f.Draw(sides[0], sides[1])
		counts := []int{len(sides[0].parts), len(sides[1].parts)}
		for i, s := range f.Ribbons() {
			var x0, y0, a, b, c, d, x1, y1, x2, y2, e, g, h, k, x3, y3 Length
			n, err := fmt.Sscanf(strings.Map(func(r rune) rune {
				if strings.ContainsRune("MCLZ", r) {
					return ' '
				}
				return r
			}, s.Ribbon), "%v %v %v %v %v %v %v %v %v %v %v %v %v %v %v %v", &x0, &y0, &a, &b, &c, &d, &x1, &y1, &x2, &y2, &e, &g, &h, &k, &x3, &y3)
			if err != nil || n != 16 {
				t.Fatalf("%s: %d numbers, %v", s.Ribbon, n, err)
			}
			thick := float64(s.Bar.H)
			if math.IsNaN(thick) || thick < float64(FlowThin) {
				t.Errorf("%s: it is %v thick", s.Ribbon, thick)
			}
			for what, edges := range map[string][2]Length{"outer": {y0, y3}, "outer control": {b, k}, "inner control": {d, g}, "inner": {y1, y2}} {
				if got := float64(edges[1] - edges[0]); math.Abs(got-thick) > tolerance {
					t.Errorf("%s: the %s end is %v thick, the bar %v", s.Ribbon, what, got, thick)
				}
			}
			if x0 != x3 || x1 != x2 || a != c || a != e || a != h || y0 != b || d != y1 || math.Abs(float64(y0-s.Bar.Y)) > tolerance {
				t.Errorf("%s: the edges do not end at the bars", s.Ribbon)
			}
			if i > 0 && i != counts[0] {
				before := f.Ribbons()[i-1]
				if gap := float64(y1) - innerEnd(t, before.Ribbon); math.Abs(gap) > tolerance {
					t.Errorf("%v between two ribbons at the node", gap)
				}
			}
		}
	}
}

// innerEnd is the lower end of a ribbon at the node.
func innerEnd(t *testing.T, ribbon string) float64 {
	t.Helper()
	_, line, _ := strings.Cut(ribbon, "L")
	var x, y float64
	if _, err := fmt.Sscanf(strings.Replace(line, "C", " ", 1), "%v %v", &x, &y); err != nil {
		t.Fatal(err)
	}
	return y
}
