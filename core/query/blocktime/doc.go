// Package blocktime finds the blocks of a time.
package blocktime
