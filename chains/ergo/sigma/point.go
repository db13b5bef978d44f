package sigma

import "github.com/btcsuite/btcd/btcec/v2"

// Infinity is the point that a key of zeros is.
var Infinity [PointSize]byte

// IsPoint reports whether key is a point of the curve secp256k1, compressed. All that begin with a zero are the one at
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
