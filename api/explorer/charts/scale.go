package charts

import (
	"math"
	"strconv"
	"strings"
	"time"

	"birthmark/internal/humanize"
)

// scale is the range of an axis, which includes zero, and its ticks.
type scale struct {
	min, max float64
	ticks    []float64
}

// scaleOf returns a scale with two to five round steps that includes all points.
func scaleOf(points []Point, whole bool) scale {
	low, high := 0.0, 0.0
	for _, p := range points {
		low, high = min(low, p.Y, p.Low), max(high, p.Y, p.High)
	}
	if low == high {
		high = 1
	}
	step := roundStep((high - low) / 3)
	if whole {
		step = max(1, step)
	}
	s := scale{min: math.Floor(low/step) * step, max: math.Ceil(high/step) * step}
	for i := range int(math.Round((s.max-s.min)/step)) + 1 {
		s.ticks = append(s.ticks, s.min+float64(i)*step)
	}
	return s
}

// roundStep returns the least of 1, 2 or 5 times a power of ten that is at least v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	if power == 0 || math.IsInf(power, 0) { // out of range
		return v
	}
	for _, n := range []float64{1, 2, 5} {
		if n*power >= v {
			return n * power
		}
	}
	return 10 * power
}

// shortUnits are the suffixes of [Short].
var shortUnits = []struct {
	least, unit float64
	suffix      string
}{{1e12, 1e12, "T"}, {1e9, 1e9, "B"}, {1e6, 1e6, "M"}, {1e5, 1e3, "k"}}

// Short formats a number for an axis: 950, 12,500, 1.2M, 3.4e+21.
func Short(v float64) string {
	size := math.Abs(v)
	switch {
	case size == 0:
		return "0"
	case size >= 1e15 || size < 1e-3:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size < 1e3:
		return digits(v)
	}
	for _, u := range shortUnits {
		if size >= u.least {
			return digits(v/u.unit) + u.suffix
		}
	}
	return Whole(v)
}

// digits formats a number with three significant digits.
func digits(v float64) string {
	places := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	s := strconv.FormatFloat(v, 'f', max(0, places), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Whole formats an integer with commas.
func Whole(v float64) string { return humanize.Thousands(strconv.FormatFloat(v, 'f', 0, 64)) }

// Times returns a function that formats Unix seconds with a precision for the given range.
func Times(from, to float64) func(float64) string {
	layout := "Jan 2006"
	switch span := to - from; {
	case span < 2*86400:
		layout = "2 Jan 15:04 UTC"
	case span < 3*365*86400:
		layout = "2 Jan 2006"
	}
	return func(v float64) string { return time.Unix(int64(v), 0).UTC().Format(layout) }
}

// Durations formats seconds: 42s, 3m20s, 5h10m.
func Durations(v float64) string {
	d := time.Duration(v) * time.Second
	if d >= time.Hour {
		return strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s")
	}
	return d.String()
}
