// Package txset counts distinct transactions in little memory.
package txset
