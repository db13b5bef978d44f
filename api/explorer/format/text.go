package format

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"birthmark/internal/humanize"
)

// Short returns a long text in a form for titles.
func Short(text string) string { return Abbreviate(text, 12, 8) }

// Abbreviate returns the beginning and the end of a text that is longer than both and an ellipsis.
func Abbreviate(text string, head, tail int) string {
	runes := []rune(text)
	if len(runes) <= head+tail+1 {
		return text
	}
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}

// Capital returns a name with an upper case first letter.
func Capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// Words returns a name of the settings in words.
func Words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// ManyOf returns the plural of a name of the settings in words.
func ManyOf(name string) string {
	switch name = Words(name); {
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "sh"):
		return name + "es"
	}
	return name + "s"
}

// Plural returns a number, or the number that a pointer points to, and a noun in singular or plural.
func Plural(n any, thing string) string {
	text := fmt.Sprint(reflect.Indirect(reflect.ValueOf(n)))
	if text != "1" {
		thing += "s"
	}
	return humanize.Thousands(text) + " " + thing
}

// Sentence capitalizes an error text and adds a period.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	s = Capital(s)
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// FeeRate formats a fee divided by a size with two decimals, three below 1.
func FeeRate(fee string, size int) string {
	n, _ := strconv.ParseFloat(fee, 64) // cannot fail
	rate, digits := n/float64(size), 2
	switch {
	case rate < 0.0005:
		return "<0.001"
	case rate < 0.9995:
		digits = 3
	}
	return strconv.FormatFloat(rate, 'f', digits, 64)
}

// BaseSize returns the bytes of a transaction or block without witnesses, which count four times in its weight (BIP 141).
func BaseSize(weight, size int) int { return (weight - size) / 3 }

// Integer returns the number that a decimal text has; 0 if it has none.
func Integer(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return new(big.Int)
	}
	return n
}

// Scaled returns an amount in its unit, precise enough for a picture.
func Scaled(n *big.Int, u humanize.Unit) float64 {
	places := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(u.Decimals)), nil)
	f, _ := new(big.Rat).SetFrac(n, places).Float64()
	return f
}

// Difference names the difference of a transaction's outputs and inputs: if outputs have more, and if they have less.
// pool is the trait Pool of the chain.
func Difference(pool string) (more, less string) {
	if pool == "" {
		return "withdrawals or refunds", "deposits"
	}
	return "from " + pool, "to " + pool + ", or fee"
}
