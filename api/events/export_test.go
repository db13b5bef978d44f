package events

import (
	"crypto/sha256"
	"encoding/base64"

	"birthmark/model"
)

// SetBatchSize sets the size of batches until restore is called.
func SetBatchSize(bytes int) (restore func()) {
	before := batchSize
	batchSize = bytes
	return func() { batchSize = before }
}

// IDWith returns an event id of a chain whose blocks are arbitrary bytes.
func IDWith(c model.Chain, blocks []byte) string {
	chain := idsOf(c).chain
	sum := sha256.Sum256(blocks)
	b := append([]byte{idVersion}, chain[:]...)
	return base64.RawURLEncoding.EncodeToString(append(append(b, sum[:sumSize]...), blocks...))
}

// IDOf returns the event id of points.
func IDOf(c model.Chain, points []model.Point) string { return idsOf(c).id(points) }

// SetSharedSize sets the maximum size of shared batches until restore is called.
func SetSharedSize(bytes int) (restore func()) {
	before := sharedSize
	sharedSize = bytes
	return func() { sharedSize = before }
}
