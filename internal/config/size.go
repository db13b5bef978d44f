package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int64

// Units of [Size].
const (
	KiB Size = 1 << (10 * (iota + 1))
	MiB
	GiB
	TiB
)

// units in the order String tries them. A letter alone is the binary unit, as in other programs' memory settings.
var units = []struct {
	names []string
	size  Size
}{
	{[]string{"TiB", "T"}, TiB},
	{[]string{"GiB", "G"}, GiB},
	{[]string{"MiB", "M"}, MiB},
	{[]string{"KiB", "K"}, KiB},
	{[]string{"TB"}, 1e12},
	{[]string{"GB"}, 1e9},
	{[]string{"MB"}, 1e6},
	{[]string{"kB", "KB"}, 1e3},
	{[]string{"B", ""}, 1},
}

// ParseSize parses a number of bytes with an optional unit: 4GiB, 512MB, 1.5G, 2147483648.
func ParseSize(text string) (Size, error) {
	digits := strings.TrimRight(text, "TGMKkiBtgmb ")
	name := strings.TrimSpace(text[len(digits):])
	n, err := strconv.ParseFloat(digits, 64)
	if err == nil && strings.Trim(digits, "0123456789.") == "" {
		for _, u := range units {
			if !slices.ContainsFunc(u.names, func(known string) bool { return strings.EqualFold(known, name) }) {
				continue
			}
			if whole, err := strconv.ParseInt(digits, 10, 64); err == nil && whole <= math.MaxInt64/int64(u.size) {
				return Size(whole) * u.size, nil
			}
			if n *= float64(u.size); n < math.MaxInt64 {
				return Size(n), nil
			}
			return 0, fmt.Errorf("%q is too large", text)
		}
	}
	return 0, fmt.Errorf("%q is not a size such as 4GiB, 512MB or a number of bytes", text)
}

// String returns the size in the largest unit of which it is a multiple; [ParseSize] parses it.
func (s Size) String() string {
	for _, u := range units {
		if s != 0 && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.names[0]
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// MarshalText returns [Size.String], as in settings files.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
