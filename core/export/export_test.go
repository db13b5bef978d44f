package export

import "testing"

// SetLimits makes chunks and groups small, so that short chains have many.
func SetLimits(t testing.TB, txs, rows, texts int) {
	before := [...]int{chunkTxs, groupRows, groupBytes, pendingBytes}
	chunkTxs, groupRows, groupBytes, pendingBytes = txs, rows, texts, texts
	t.Cleanup(func() { chunkTxs, groupRows, groupBytes, pendingBytes = before[0], before[1], before[2], before[3] })
}
