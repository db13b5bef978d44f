package cardanogen

import "encoding/binary"

// The major types of CBOR (RFC 8949, section 3.1).
const (
	unsigned = iota
	negative
	byteString
	text
	array
	mapping
	tag
)

const (
	tagEncoded = 24  // a byte string that holds CBOR
	tagConstr  = 121 // the first constructor of Plutus data
	tagSet     = 258
)

// head appends the head of an item: its type and argument.
func head(b []byte, major byte, n uint64) []byte {
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

func number(b []byte, n uint64) []byte { return head(b, unsigned, n) }

// signed appends a signed number.
func signed(b []byte, n int64) []byte {
	if n < 0 {
		return head(b, negative, uint64(-1-n))
	}
	return head(b, unsigned, uint64(n))
}

// fillerBytes appends a byte string with filler content.
func (c *Chain) fillerBytes(b []byte, n int) []byte {
	return c.rng.Filler(head(b, byteString, uint64(n)), n)
}

func bytesOf(b, content []byte) []byte {
	return append(head(b, byteString, uint64(len(content))), content...)
}
