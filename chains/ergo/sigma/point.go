package sigma

import "github.com/btcsuite/btcd/btcec/v2"

// Infinity is the point encoded by zeros.
var Infinity [PointSize]byte

// Generator is the encoding of the generator of the curve.
var Generator = [PointSize]byte{
	0x02, 0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
	0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
}

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
