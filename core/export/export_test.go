package export

import "testing"

// SetLimits makes chunks and groups small, so that short chains have many.
func SetLimits(t testing.TB, txs, rows, texts int) {
	before := [...]int{chunkTxs, groupRows, groupTexts}
	chunkTxs, groupRows, groupTexts = txs, rows, texts
	t.Cleanup(func() { chunkTxs, groupRows, groupTexts = before[0], before[1], before[2] })
}
