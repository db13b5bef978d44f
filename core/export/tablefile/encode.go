package tablefile

import (
	"encoding/binary"
	"math/bits"
)

// Encodings of Parquet's pages: https://parquet.apache.org/docs/file-format/data-pages/encodings/

// deltaBlock and deltaPart are the number of values in a block and in a miniblock of DELTA_BINARY_PACKED.
const (
	deltaBlock = 128
	deltaPart  = 32
)

// appendDelta appends integers as DELTA_BINARY_PACKED.
func appendDelta(b []byte, values []int64) []byte {
	b = binary.AppendUvarint(b, deltaBlock)
	b = binary.AppendUvarint(b, deltaBlock/deltaPart)
	b = binary.AppendUvarint(b, uint64(len(values)))
	if len(values) == 0 {
		return binary.AppendVarint(b, 0)
	}
	last := values[0]
	b = binary.AppendVarint(b, last)
	var deltas [deltaBlock]int64
	for values = values[1:]; len(values) > 0; {
		n := min(deltaBlock, len(values))
		least := values[0] - last
		for i, v := range values[:n] {
			deltas[i] = v - last
			last = v
			least = min(least, deltas[i])
		}
		values = values[n:]
		for i := range deltas[:n] {
			deltas[i] -= least // modulo 2^64, as the reader adds
		}
		clear(deltas[n:])
		b = binary.AppendVarint(b, least)
		at := len(b)
		b = append(b, make([]byte, deltaBlock/deltaPart)...)
		for p := 0; p*deltaPart < n; p++ {
			part := (*[deltaPart]int64)(deltas[p*deltaPart:])
			all := uint64(0)
			for _, d := range part {
				all |= uint64(d)
			}
			width := bits.Len64(all)
			b[at+p] = byte(width)
			b = appendPacked(b, part, width)
		}
	}
	return b
}

// appendPacked appends 32 integers of width bits, the lowest bits first.
func appendPacked(b []byte, values *[deltaPart]int64, width int) []byte {
	if width == 0 {
		return b
	}
	word, have := uint64(0), 0
	for _, v := range values {
		u := uint64(v)
		word |= u << have
		if have += width; have >= 64 {
			b = binary.LittleEndian.AppendUint64(b, word)
			have -= 64
			word = u >> (width - have) // 0 if have is 0 and width is 64
		}
	}
	for ; have > 0; have -= 8 {
		b = append(b, byte(word))
		word >>= 8
	}
	return b
}

// appendHybrid appends positions of width bits as RLE: one run if all are equal, else bit-packed.
func appendHybrid(b []byte, values []uint32, width int) []byte {
	if len(values) == 0 {
		return b
	}
	if equal(values) {
		b = binary.AppendUvarint(b, uint64(len(values))<<1)
		for v, n := values[0], width; n > 0; n -= 8 {
			b = append(b, byte(v))
			v >>= 8
		}
		return b
	}
	groups := (len(values) + 7) / 8
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	word, have := uint64(0), 0
	put := func(v uint32) {
		word |= uint64(v) << have
		if have += width; have >= 32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(word))
			word >>= 32
			have -= 32
		}
	}
	for _, v := range values {
		put(v)
	}
	for range groups*8 - len(values) {
		put(0)
	}
	for ; have > 0; have -= 8 {
		b = append(b, byte(word))
		word >>= 8
	}
	return b
}

func equal(values []uint32) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

// appendLevels appends levels of 0 and 1 with their size before them, as data pages of version 1 have them. isOne returns
// the level of a value.
func appendLevels(b []byte, n int, isOne func(i int) bool) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	same := true
	for i := 1; i < n && same; i++ {
		same = isOne(i) == isOne(0)
	}
	if same {
		b = binary.AppendUvarint(b, uint64(n)<<1)
		one := byte(0)
		if n > 0 && isOne(0) {
			one = 1
		}
		b = append(b, one)
	} else {
		groups := (n + 7) / 8
		b = binary.AppendUvarint(b, uint64(groups)<<1|1)
		for g := range groups {
			packed := byte(0)
			for i := g * 8; i < min(n, g*8+8); i++ {
				if isOne(i) {
					packed |= 1 << (i % 8)
				}
			}
			b = append(b, packed)
		}
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}
