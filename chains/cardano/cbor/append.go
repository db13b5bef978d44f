package cbor

import "encoding/binary"

// AppendHead appends the first bytes of an item in their shortest form: its type, and its value or length.
func AppendHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

// AppendUint appends a number.
func AppendUint(b []byte, n uint64) []byte { return AppendHead(b, Uint, n) }

// AppendInt appends a number with a sign.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		return AppendHead(b, Negative, uint64(-1-n))
	}
	return AppendHead(b, Uint, uint64(n))
}

// AppendBytes appends a byte string.
func AppendBytes(b, content []byte) []byte {
	return append(AppendHead(b, Bytes, uint64(len(content))), content...)
}
