// Package decode describes a block as its chain adapter decoded it, for people to read.
package decode
