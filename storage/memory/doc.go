// Package memory is a store that keeps everything in memory, in copy-on-write trees whose snapshots are free. The
// core's invariants are tested on it, and other stores are compared with it.
package memory
