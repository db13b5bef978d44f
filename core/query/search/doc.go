// Package search finds the blocks, transactions, outputs, values and assets that a text names.
package search
