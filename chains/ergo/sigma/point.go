package sigma

import "github.com/btcsuite/btcd/btcec/v2"

// Infinity is the point encoded by zeros.
var Infinity [PointSize]byte

// IsPoint reports whether key is a compressed point of secp256k1. All keys that begin with a zero byte are the point at
// infinity. It takes some microseconds.
func IsPoint(key []byte) bool {
	if len(key) != PointSize {
		return false
	}
	switch key[0] {
	case 0:
		return true
	case 2, 3:
		var x, y btcec.FieldVal
		return !x.SetByteSlice(key[1:]) && btcec.DecompressY(&x, key[0] == 3, &y)
	}
	return false
}
