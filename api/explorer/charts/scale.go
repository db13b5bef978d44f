package charts

import (
	"math"
	"strconv"
	"strings"
	"time"
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
		low, high = min(low, p.Y), max(high, p.Y)
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

// thin returns at most n points that look the same: the first, lowest, highest and last of each part of X.
func thin(points []Point, n int) []Point {
	if len(points) <= n {
		return points
	}
	parts := n / 4
	first, last := points[0].X, points[len(points)-1].X
	part := func(p Point) int {
		return min(parts-1, int((p.X-first)/(last-first)*float64(parts)))
	}
	if first == last {
		return points[len(points)-n:]
	}
	var kept []Point
	for i := 0; i < len(points); {
		end, least, most := i, i, i
		for ; end < len(points) && part(points[end]) == part(points[i]); end++ {
			if points[end].Y < points[least].Y {
				least = end
			}
			if points[end].Y > points[most].Y {
				most = end
			}
		}
		kept = append(kept, points[i])
		for at := i + 1; at < end; at++ {
			if at == least || at == most || at == end-1 {
				kept = append(kept, points[at])
			}
		}
		i = end
	}
	return kept
}

// Short formats a number for an axis: 950, 12,500, 1.2M, 3.4e+21.
func Short(v float64) string {
	size := math.Abs(v)
	switch {
	case size >= 1e15:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size >= 1e12:
		return digits(v/1e12) + "T"
	case size >= 1e9:
		return digits(v/1e9) + "B"
	case size >= 1e6:
		return digits(v/1e6) + "M"
	case size >= 1e5:
		return digits(v/1e3) + "k"
	case size >= 1e3:
		return Whole(v)
	case size == 0:
		return "0"
	case size < 1e-3:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return digits(v)
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
func Whole(v float64) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var b strings.Builder
	if v < 0 {
		b.WriteByte('-')
	}
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

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

// Durations formats seconds: 42s, 3m 20s, 5h 10m, 2d 4h.
func Durations(v float64) string {
	d := time.Duration(v) * time.Second
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return two(d, time.Minute, "m", time.Second, "s")
	case d < 24*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "m")
	}
	return two(d, 24*time.Hour, "d", time.Hour, "h")
}

func two(d, large time.Duration, l string, small time.Duration, s string) string {
	text := strconv.FormatInt(int64(d/large), 10) + l
	if rest := d % large / small; rest > 0 {
		text += " " + strconv.FormatInt(int64(rest), 10) + s
	}
	return text
}
