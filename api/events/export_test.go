package events

import (
	"crypto/sha256"
	"encoding/base64"

	"birthmark/model"
)

// SetBatchSize sets the size of batches. It returns a function that restores the previous size.
func SetBatchSize(bytes int) (restore func()) {
	before := batchSize
	batchSize = bytes
	return func() { batchSize = before }
}

// IDWith returns an event id whose list of blocks is arbitrary bytes.
func IDWith(c model.Chain, blocks []byte) string {
	chain := idsOf(c).chain
	sum := sha256.Sum256(blocks)
	b := append([]byte{idVersion}, chain[:]...)
	return base64.RawURLEncoding.EncodeToString(append(append(b, sum[:sumSize]...), blocks...))
}

// IDOf returns the event id of a list of points.
func IDOf(c model.Chain, points []model.Point) string { return idsOf(c).id(points) }

// SetSharedSize sets the maximum size of shared batches. It returns a function that restores the previous size.
func SetSharedSize(bytes int) (restore func()) {
	before := sharedSize
	sharedSize = bytes
	return func() { sharedSize = before }
}
