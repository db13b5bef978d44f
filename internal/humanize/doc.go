// Package humanize writes numbers for people: amounts in the [Unit] of a chain, counts with commas, bytes, times.
// Programs get all of them plain; nothing here is read back.
package humanize
