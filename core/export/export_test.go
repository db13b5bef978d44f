package export

import "testing"

// SetLimits makes chunks and groups small, so that short chains have many.
func SetLimits(t testing.TB, txs, rows, texts int) {
	before := [...]int{chunkTxs, groupRows, groupTexts, pendingTexts}
	chunkTxs, groupRows, groupTexts, pendingTexts = txs, rows, texts, texts/50+1
	t.Cleanup(func() { chunkTxs, groupRows, groupTexts, pendingTexts = before[0], before[1], before[2], before[3] })
}
