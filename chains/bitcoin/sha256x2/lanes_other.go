//go:build !amd64

package sha256x2

// twoLanes is false: crypto/sha256 does it all.
const twoLanes = false

func blocksNI(a, b *state, fromA, fromB *byte, n int) { panic("there are no two lanes here") }
