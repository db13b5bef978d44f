package core

// RollbackInWritesOf makes rollbacks end a write after that many rows, until restore is called.
func RollbackInWritesOf(rows int) (restore func()) {
	before := rollbackRows
	rollbackRows = rows
	return func() { rollbackRows = before }
}
