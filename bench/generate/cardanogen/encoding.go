package cardanogen

import (
	"encoding/binary"

	"birthmark/chains/cardano/cbor"
)

// The methods below encode CBOR in the forms that a node accepts: lists and maps with and without a length, numbers in a longer
// form than necessary.

// number encodes a number, rarely in 8 bytes.
func (c *Chain) number(n uint64) []byte {
	if c.rng.Chance(0.03) {
		return binary.BigEndian.AppendUint64([]byte{cbor.Uint<<5 | 27}, n)
	}
	return cbor.AppendUint(nil, n)
}

// list encodes a list, often without its length.
func (c *Chain) list(items ...[]byte) []byte {
	return c.container(cbor.Array, len(items), items)
}

// dict encodes a map of keys and values in turn.
func (c *Chain) dict(pairs ...[]byte) []byte {
	return c.container(cbor.Map, len(pairs)/2, pairs)
}

func (c *Chain) container(major byte, n int, items [][]byte) []byte {
	endless := c.rng.Chance(0.2)
	b := cbor.AppendHead(nil, major, uint64(n))
	if endless {
		b = []byte{major<<5 | 31}
	}
	for _, i := range items {
		b = append(b, i...)
	}
	if endless {
		b = append(b, 0xff)
	}
	return b
}

// set encodes a set, since Conway with its tag or without.
func (c *Chain) set(items ...[]byte) []byte {
	if c.era >= eraConway && c.rng.Chance(0.7) {
		return append(cbor.AppendHead(nil, cbor.Tag, cbor.TagSet), c.list(items...)...)
	}
	return c.list(items...)
}

// fraction encodes a rational number.
func (c *Chain) fraction(over, under uint64) []byte {
	const tag = 30
	return append(cbor.AppendHead(nil, cbor.Tag, tag), c.list(c.number(over), c.number(under))...)
}

func byteString(content []byte) []byte { return cbor.AppendBytes(nil, content) }

func text(s string) []byte {
	return append(cbor.AppendHead(nil, cbor.Text, uint64(len(s))), s...)
}

// embedded encodes an item as a byte string that contains it.
func embedded(item []byte) []byte {
	return cbor.AppendBytes(cbor.AppendHead(nil, cbor.Tag, cbor.TagEncoded), item)
}

var null = []byte{0xf6}
