package terminal

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"birthmark/internal/humanize"
)

// Cells are the values of a row: a [Cell], a string, an integer or a pointer to one, or a float64. Integers are printed
// with commas, floats with one decimal. A nil pointer is empty. A column with numbers is aligned to the right.
type Cells []any

// Cell is a text with a style.
type Cell struct {
	text  string
	style int // ANSI attribute; 0: plain
	right bool
}

// The styles of a value.
func Bold(v any) Cell   { return styled(v, 1) }
func Faint(v any) Cell  { return styled(v, 2) }
func Red(v any) Cell    { return styled(v, 31) }
func Green(v any) Cell  { return styled(v, 32) }
func Yellow(v any) Cell { return styled(v, 33) }

// Right aligns the column of a text to the right.
func Right(text string) Cell { return Cell{text: text, right: true} }

// Number groups the digits of a decimal integer and aligns it to the right.
func Number(digits string) Cell { return Right(humanize.Thousands(digits)) }

// maxForeign is the maximum number of characters of a text from the chain.
const maxForeign = 200

// Foreign makes text from the chain, such as the name of an asset, safe for a terminal: one line of limited length,
// without control characters and without characters that change the direction of writing.
func Foreign(s string) string {
	shown := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, s))
	if len(shown) > maxForeign {
		return string(shown[:maxForeign]) + "…"
	}
	return string(shown)
}

func styled(v any, style int) Cell {
	c := cellOf(v)
	c.style = style
	return c
}

func cellOf(v any) Cell {
	switch v := v.(type) {
	case Cell:
		return v
	case string:
		return Cell{text: v}
	case float64:
		return Right(fmt.Sprintf("%.1f", v))
	}
	switch n := reflect.Indirect(reflect.ValueOf(v)); {
	case n.CanInt():
		return Right(humanize.Count(n.Int()))
	case n.CanUint():
		return Right(humanize.Count(n.Uint()))
	}
	return Cell{} // a nil pointer
}

func (c Cell) pad(width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(c.text)))
}

// Styled returns the text of a cell with its style, if the page has colour.
func (p *Page) Styled(c Cell) string {
	if !p.colour || c.style == 0 || c.text == "" {
		return c.text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c.style, c.text)
}

// Rate returns a number with its rate per second: 1,200  (400/s).
func Rate(n uint64, in time.Duration) string {
	if n == 0 || in <= 0 {
		return humanize.Count(n)
	}
	return fmt.Sprintf("%s  (%s/s)", humanize.Count(n), humanize.Count(uint64(float64(n)/in.Seconds())))
}
