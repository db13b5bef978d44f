// Package memory is a store that keeps everything in memory: ordered trees that are copied on write, so that a
// snapshot costs nothing. It is what the laws of the core are tested on, and the reference the other stores are
// compared with.
package memory
