package explorer

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sheet is the style sheet as it is served.
func sheet(t *testing.T) string {
	t.Helper()
	s := &site{}
	if err := s.readStatic(); err != nil {
		t.Fatal(err)
	}
	return string(s.static[s.Stylesheet()].bytes)
}

func TestTheStyleSheetIsSmallAndLoadsNothing(t *testing.T) {
	css := sheet(t)
	if len(css) == 0 || len(css) >= 20_000 {
		t.Errorf("the style sheet has %d bytes", len(css))
	}
	for _, load := range []string{"url(", "@import", "http:", "https:", "@font-face"} {
		if strings.Contains(css, load) {
			t.Errorf("the style sheet has %s", load)
		}
	}
}

// luminance of a colour as WCAG 2 counts it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) == 4 {
		colour = fmt.Sprintf("#%c%c%c%c%c%c", colour[1], colour[1], colour[2], colour[2], colour[3], colour[3])
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != 7 {
		t.Fatalf("colour %q", colour)
	}
	linear := func(shift int) float64 {
		c := float64(n>>shift&255) / 255
		if c <= .03928 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*linear(16) + .7152*linear(8) + .0722*linear(0)
}

var (
	blockOf = regexp.MustCompile(`(?s)(:root|\[data-chain=\w+\])\s*\{(.*?)\}`)
	colours = regexp.MustCompile(`--(\w+):\s*(#[0-9a-f]+);`)
)

// Whatever is written can be read, in every chain's colours, light and dark.
func TestColoursHaveContrast(t *testing.T) {
	light, dark, found := strings.Cut(sheet(t), "@media (prefers-color-scheme: dark)")
	dark, _, ends := strings.Cut(dark, "\n}")
	if !found || !ends {
		t.Fatal("the style sheet has no dark colours")
	}
	light, _, _ = strings.Cut(light, "*, ::before")
	pairs := [][2]string{
		{"ink", "paper"}, {"ink", "raised"}, {"ink", "sunk"}, {"ink", "wash"}, {"ink", "badwash"}, {"soft", "paper"}, {"soft", "raised"}, {"soft", "sunk"},
		{"soft", "badwash"}, {"faint", "paper"}, {"faint", "raised"}, {"accent", "paper"}, {"accent", "raised"}, {"accent", "sunk"}, {"accent", "wash"},
		{"good", "goodwash"}, {"bad", "badwash"}, {"good", "paper"}, {"bad", "paper"},
	}
	checked := 0
	for name, part := range map[string]string{"light": light, "dark": dark} {
		base := map[string]string{}
		for _, block := range blockOf.FindAllStringSubmatch(part, -1) {
			set := map[string]string{}
			for k, v := range base {
				set[k] = v
			}
			for _, c := range colours.FindAllStringSubmatch(block[2], -1) {
				set[c[1]] = c[2]
			}
			if block[1] == ":root" {
				base = set
			}
			for _, p := range pairs {
				levels := []float64{luminance(t, set[p[0]]), luminance(t, set[p[1]])}
				slices.Sort(levels)
				if ratio := (levels[1] + .05) / (levels[0] + .05); ratio < 4.5 {
					t.Errorf("%s %s: %s on %s has a contrast of %.2f", name, block[1], p[0], p[1], ratio)
				}
				checked++
			}
		}
	}
	if checked != 2*4*len(pairs) {
		t.Errorf("%d pairs of colours were looked at, expected %d", checked, 2*4*len(pairs))
	}
}

// Static files are for ever under their paths, and are what they say.
func TestStaticFilesAreKept(t *testing.T) {
	h := explorerOf(t)
	d := read(t, h, "/", http.StatusOK)
	d.has(t, "No chain is configured")
	kinds := 0
	for _, n := range append(d.each("link"), d.each("script")...) {
		path, ok := attr(n, "href")
		if !ok {
			path, _ = attr(n, "src")
		}
		if !strings.HasPrefix(path, "/static/") {
			continue
		}
		kinds++
		res := ask(t, h, path)
		if res.StatusCode != http.StatusOK || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") || res.Header.Get("Content-Type") == "" {
			t.Errorf("%s: status %d, Cache-Control %q, Content-Type %q", path, res.StatusCode, res.Header.Get("Cache-Control"), res.Header.Get("Content-Type"))
		}
	}
	if kinds < 2 {
		t.Errorf("%d static files are named by the page", kinds)
	}
}
