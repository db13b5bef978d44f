// Package format has values as templates of the explorer write them: amounts, times, and the progress of a sync.
package format
