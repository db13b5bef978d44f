package events

import (
	"crypto/sha256"
	"encoding/base64"

	"birthmark/model"
)

// ScriptsOf makes steps tell so few bytes, until restore is called.
func ScriptsOf(bytes int) (restore func()) {
	before := scriptSize
	scriptSize = bytes
	return func() { scriptSize = before }
}

// IDWith is an event id of a chain with the given blocks, which may be any bytes: all else is right.
func IDWith(c model.Chain, blocks []byte) string {
	chain := idsOf(c).chain
	sum := sha256.Sum256(blocks)
	b := append([]byte{idVersion}, chain[:]...)
	return base64.RawURLEncoding.EncodeToString(append(append(b, sum[:sumSize]...), blocks...))
}

// IDOf is the event id of points.
func IDOf(c model.Chain, points []model.Point) string { return idsOf(c).id(points) }

// DigestsOf lets digests hold so few bytes, until restore is called.
func DigestsOf(bytes int) (restore func()) {
	before := digestSize
	digestSize = bytes
	return func() { digestSize = before }
}
