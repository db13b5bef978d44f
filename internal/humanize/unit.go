package humanize

import (
	"strings"

	"birthmark/model"
)

// Unit formats amounts of a chain or an asset. The zero Unit groups the digits and adds nothing.
type Unit model.Unit

// UnitOf returns the unit of a chain.
func UnitOf(c model.Chain) Unit { return Unit(c.Traits().Unit) }

// Amount formats a decimal integer n of smallest units with the symbol: 1,234.50000000 BTC. It returns n unchanged if n
// is not a decimal integer.
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

// Number formats an amount for programs: without symbol and grouping, such as 1234.50000000. It returns n unchanged if n
// is not a decimal integer.
func (u Unit) Number(n string) string {
	sign, whole, fraction, ok := u.Parts(n)
	if !ok {
		return n
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + strings.ReplaceAll(whole, ",", "") + fraction
}

// Parts splits an amount into its minus sign, the grouped digits before the decimal point and all digits after it. ok
// is false if n is not a decimal integer.
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
