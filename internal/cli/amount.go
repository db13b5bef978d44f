package cli

import "birthmark/internal/humanize"

// Numbers are formatted as in the explorer. These functions are used in every file and have short names.

func count[N ~int | ~int64 | ~uint32 | ~uint64](n N) string { return humanize.Count(n) }

func plural[N ~int | ~int64 | ~uint32 | ~uint64](n N, thing string) string {
	return humanize.Plural(n, thing)
}

func thousands(digits string) string { return humanize.Thousands(digits) }

func byteSize(n int64) string { return humanize.Bytes(n) }

func clock(unix int64) string { return humanize.Clock(unix) }
