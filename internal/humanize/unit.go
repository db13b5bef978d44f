package humanize

import "strings"

// Unit is what people count amounts in: those of a chain, or those of an asset. The zero Unit is amounts as they are.
type Unit struct {
	Symbol   string // behind the amount; empty: none
	Decimals int    // places of the smallest unit behind the point
	Smallest string // the smallest unit, abbreviated as in rates of fees; empty: it has no name
}

var units = map[string]Unit{
	"bitcoin": {"BTC", 8, "sat"},
	"cardano": {"ADA", 6, "lovelace"},
	"ergo":    {"ERG", 9, "nanoERG"},
}

// UnitOf is the unit of a chain by its name, the zero Unit where people have none.
func UnitOf(chain string) Unit { return units[chain] }

// Amount is a decimal number of the smallest unit, with the unit's name: 1,234.50000000 BTC. What is no number stays as
// it is.
func (u Unit) Amount(n string) string {
	sign, whole, fraction, ok := u.Parts(n)
	if !ok {
		return n
	}
	text := sign + whole
	if fraction != "" {
		text += "." + fraction
	}
	if u.Symbol != "" {
		text += " " + u.Symbol
	}
	return text
}

// Parts of an amount: a minus or nothing, what stands before the point with commas, what stands behind it with all of its
// zeros. Not ok where n is no decimal number.
func (u Unit) Parts(n string) (sign, whole, fraction string, ok bool) {
	digits, negative := strings.CutPrefix(n, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", "", "", false
	}
	if missing := u.Decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if negative {
		sign = "-"
	}
	point := len(digits) - u.Decimals
	return sign, Thousands(digits[:point]), digits[point:], true
}
