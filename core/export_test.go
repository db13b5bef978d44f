package core

// RollbackInWritesOf makes rollbacks end a write after that many rows, until restore is called.
func RollbackInWritesOf(rows int) (restore func()) {
	before := rollbackRows
	rollbackRows = rows
	return func() { rollbackRows = before }
}

// CollideHeads lets heads of values and hashes have few bits, so that many are the same, until restore is called.
func CollideHeads(bits uint64) (restore func()) {
	headBits = bits
	return func() { headBits = ^uint64(0) }
}
