// Package humanize formats numbers for people: amounts in the [Unit] of a chain, counts with commas, sizes and times.
// Its results are not parsed again.
package humanize
