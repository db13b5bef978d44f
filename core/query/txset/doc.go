// Package txset counts different transactions in little memory.
package txset
