package humanize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Thousands groups the digits of a decimal integer with commas.
func Thousands(digits string) string {
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

type integer interface {
	~int | ~int64 | ~uint32 | ~uint64
}

// Count formats a number with commas.
func Count[N integer](n N) string { return Thousands(fmt.Sprint(n)) }

// Plural formats a number of things: 1 block, 2 blocks.
func Plural[N integer](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// Bytes formats a number of bytes with a binary unit: 1.5 MiB.
func Bytes(n int64) string {
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

// Clock formats a Unix time in UTC with a precision of seconds.
func Clock(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

// spans are the units of [Duration], longest first.
var spans = []struct {
	name string
	long time.Duration
}{
	{"year", 365 * 24 * time.Hour}, {"month", 30 * 24 * time.Hour}, {"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute},
}

// Duration formats d in whole units of the longest unit that fits, from years to minutes.
func Duration(d time.Duration) string {
	for _, s := range spans {
		if d >= s.long {
			return Plural(int64(d/s.long), s.name)
		}
	}
	return "less than a minute"
}

// Ago formats the time from a Unix time to now. Block times may be up to two hours in the future: those are "just now".
func Ago(unix int64, now time.Time) string {
	d := now.Sub(time.Unix(unix, 0))
	switch {
	case d < -2*time.Hour:
		return "in " + Duration(-d)
	case d < time.Minute:
		return "just now"
	}
	return Duration(d) + " ago"
}

// Decimal writes a number without an exponent: all digits from 1 on, three significant digits below.
func Decimal(f float64) string {
	if f > 0 && f < 1 {
		return strconv.FormatFloat(f, 'f', 2-int(math.Floor(math.Log10(f))), 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
