// Package format has values as templates of the explorer write them: amounts and times.
package format
