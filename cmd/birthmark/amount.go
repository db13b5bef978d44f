package main

import (
	"fmt"
	"strings"
	"time"
)

// unit is what people count a chain's amounts in.
type unit struct {
	symbol   string
	decimals int
}

var chainUnits = map[string]unit{
	"bitcoin": {"BTC", 8},
	"cardano": {"ADA", 6},
	"ergo":    {"ERG", 9},
}

// amount is a decimal number of the chain's smallest unit in the unit that people use, with the unit's name:
// 1,234.50000000 BTC. Of a chain without a unit it is the number itself.
func (u unit) amount(n string) string {
	digits, negative := strings.CutPrefix(n, "-")
	if n == "" || strings.Trim(digits, "0123456789") != "" {
		return n
	}
	if missing := u.decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - u.decimals
	text := thousands(digits[:point])
	if u.decimals > 0 {
		text += "." + digits[point:]
	}
	if negative {
		text = "-" + text
	}
	if u.symbol != "" {
		text += " " + u.symbol
	}
	return text
}

// thousands puts commas into a decimal number.
func thousands(digits string) string {
	digits, negative := strings.CutPrefix(digits, "-")
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// count is a number with commas.
func count[N ~int | ~int64 | ~uint32 | ~uint64](n N) string { return thousands(fmt.Sprint(n)) }

// plural is a number of things.
func plural[N ~int | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}

// byteSize is a number of bytes in the largest unit that leaves something before the point.
func byteSize(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, u := float64(n)/1024, 0
	for f >= 1024 {
		f, u = f/1024, u+1
	}
	return fmt.Sprintf("%.1f %ciB", f, units[u])
}

// clock is a time of the chain.
func clock(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05 UTC") }
