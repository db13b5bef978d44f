package format

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"birthmark/internal/humanize"
)

// Amount is a number in a unit, in parts: trailing zeros have a faint color.
type Amount struct {
	Sign, Whole     string
	Fraction, Zeros string // after the decimal point
	Symbol          string
}

// AmountOf formats a decimal integer of smallest units.
func AmountOf(u humanize.Unit, n string) Amount {
	sign, whole, fraction, ok := u.Parts(n)
	if !ok {
		return Amount{Whole: n}
	}
	digits := strings.TrimRight(fraction, "0")
	return Amount{sign, whole, digits, fraction[len(digits):], u.Symbol}
}

// Groups returns the digits before the decimal point in groups, between which a long amount can be broken.
func (a Amount) Groups() []string { return strings.SplitAfter(a.Whole, ",") }

// Size returns the class of an amount that a phone shows in one line only in a smaller font, or not at all.
func (a Amount) Size() string {
	a.Zeros = ""
	switch n := len(a.String()); {
	case n > 44:
		return " longest"
	case n > 28:
		return " long"
	}
	return ""
}

// String returns the whole amount.
func (a Amount) String() string {
	text := a.Sign + a.Whole
	if a.Fraction != "" || a.Zeros != "" {
		text += "." + a.Fraction + a.Zeros
	}
	if a.Symbol != "" {
		text += " " + a.Symbol
	}
	return text
}

// Coarse returns a large amount without decimals.
func (a Amount) Coarse() Amount {
	if len(a.Whole) > len("999") {
		a.Fraction, a.Zeros = "", ""
	}
	return a
}

// Moment is a time in several formats.
type Moment struct {
	ISO, Clock, Ago string
	Minute          string // in UTC; templates append the zone
	Recent          bool   // show the age instead of the date
}

// MomentOf formats a Unix time.
func MomentOf(unix int64, now time.Time) Moment {
	t := time.Unix(unix, 0).UTC()
	return Moment{
		ISO: t.Format(time.RFC3339), Clock: humanize.Clock(unix), Ago: humanize.Ago(unix, now),
		Minute: t.Format("2006-01-02 15:04"), Recent: now.Sub(t) < 48*time.Hour,
	}
}

// Seconds formats a duration of at most some hours: 9 min 12 s.
func Seconds(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// Share formats a part of a total in percent, with two decimals.
func Share(part, total *big.Int) string {
	if total.Sign() <= 0 {
		return ""
	}
	percent, _ := new(big.Rat).SetFrac(new(big.Int).Mul(part, big.NewInt(100)), total).Float64()
	if percent > 0 && percent < 0.005 {
		return "<0.01%"
	}
	return strconv.FormatFloat(percent, 'f', 2, 64) + "%"
}
