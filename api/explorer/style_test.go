package explorer

import (
	"birthmark/chains"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sheet returns the style sheet as it is served.
func sheet(t *testing.T) string {
	t.Helper()
	s := &site{}
	if err := s.readFiles(); err != nil {
		t.Fatal(err)
	}
	return string(s.static.Read(s.Stylesheet()))
}

func TestStyleSheet(t *testing.T) {
	css := sheet(t)
	if len(css) == 0 || len(css) >= 28_000 {
		t.Errorf("the style sheet has %d bytes", len(css))
	}
	for _, load := range []string{"url(", "@import", "http:", "https:", "@font-face"} {
		if strings.Contains(css, load) {
			t.Errorf("the style sheet has %s", load)
		}
	}
}

// luminance returns the relative luminance of a colour as WCAG 2 defines it.
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
	rootOf  = regexp.MustCompile(`(?s):root\s*\{([^}]*--raised.*?)\}`)
	colours = regexp.MustCompile(`--(\w+):\s*light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\);`)
)

// Text is readable in the colors of every chain, light and dark.
func TestColoursHaveContrast(t *testing.T) {
	root := rootOf.FindStringSubmatch(sheet(t))
	if root == nil {
		t.Fatal("no set of colors")
	}
	pairs := [][2]string{
		{"ink", "paper"}, {"ink", "raised"}, {"ink", "sunk"}, {"ink", "wash"}, {"ink", "badwash"}, {"soft", "paper"}, {"soft", "raised"}, {"soft", "sunk"},
		{"soft", "badwash"}, {"faint", "paper"}, {"faint", "raised"}, {"accent", "paper"}, {"accent", "raised"}, {"accent", "sunk"}, {"accent", "wash"},
		{"good", "goodwash"}, {"bad", "badwash"}, {"good", "paper"}, {"bad", "paper"},
	}
	accents := map[string]model.Accent{"": {}}
	for _, name := range chains.Names() {
		chain, err := chains.New(name, chains.Networks(name)[0])
		if err != nil {
			t.Fatal(err)
		}
		accents[name] = chain.Traits().Accent
	}
	for i, scheme := range []string{"light", "dark"} {
		for chain, a := range accents {
			set := map[string]string{}
			for _, c := range colours.FindAllStringSubmatch(root[1], -1) {
				set[c[1]] = c[2+i]
			}
			switch {
			case a == (model.Accent{}):
			case scheme == "light":
				set["accent"], set["wash"] = a.Light, a.LightWash
			default:
				set["accent"], set["wash"] = a.Dark, a.DarkWash
			}
			for _, p := range pairs {
				levels := []float64{luminance(t, set[p[0]]), luminance(t, set[p[1]])}
				slices.Sort(levels)
				if ratio := (levels[1] + .05) / (levels[0] + .05); ratio < 4.5 {
					t.Errorf("%s %s: %s on %s has a contrast of %.2f", scheme, chain, p[0], p[1], ratio)
				}
			}
		}
	}
}

// The style sheet has the colors of the chains that are served.
func TestChainsHaveTheirColors(t *testing.T) {
	chain, err := chains.New("cardano", "mainnet")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain})
	if err != nil {
		t.Fatal(err)
	}
	h := explorerOf(t, chainOf("cardano", db, nil))
	d := read(t, h, "/cardano", http.StatusOK)
	accent := chain.Traits().Accent
	for _, n := range d.each("link") {
		if rel, _ := attr(n, "rel"); rel == "stylesheet" {
			path, _ := attr(n, "href")
			css, err := io.ReadAll(ask(t, h, path).Body)
			rule := "[data-accent=cardano] { --accent: light-dark(" + accent.Light + ", " + accent.Dark + "); --wash: "
			if err != nil || accent.Light == "" || !strings.Contains(string(css), rule) {
				t.Errorf("no rule %q, %v", rule, err)
			}
		}
	}
	if name, _ := attr(d.each("html")[0], "data-accent"); name != "cardano" {
		t.Errorf("the page has data-accent=%q", name)
	}
}

// Static files are cached for ever under their paths, and have the content type of their suffix.
func TestStaticFilesAreCached(t *testing.T) {
	h := explorerOf(t)
	d := read(t, h, "/", http.StatusOK)
	d.has(t, "No chains are configured")
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
		t.Errorf("the page has %d static files", kinds)
	}
}
