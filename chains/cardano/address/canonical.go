package address

import "math"

// Canonical returns an address as the ledger keeps it. The decoder of addresses before Babbage ignores bytes after the
// credentials or the pointer: the outputs belong to the address without them. Before Conway, the decoder accepts the
// numbers of a pointer in any size and keeps them in their shortest form: a number that exceeds 32 bits for the slot, or
// 16 bits for the transaction and the certificate, makes all three 0. Since Babbage and since Conway, nodes refuse such
// addresses, so the era need not be known. The result shares the memory of raw, unless a pointer changes.
// See fromCborBothAddr and mkPtrNormalized of cardano-ledger-core.
func Canonical(raw []byte) []byte {
	if len(raw) < enterpriseSize || raw[0]&15 > mainnetTag {
		return raw
	}
	switch kind := raw[0] >> 4; {
	case kind <= maxBaseType && len(raw) > baseSize:
		return raw[:baseSize:baseSize]
	case kind <= maxBaseType:
	case kind <= maxPointerType:
		return canonicalPointer(raw)
	case kind <= maxPaymentType && len(raw) > enterpriseSize:
		return raw[:enterpriseSize:enterpriseSize]
	}
	return raw
}

func canonicalPointer(raw []byte) []byte {
	limits := [pointerNumbers]uint64{math.MaxUint32, math.MaxUint16, math.MaxUint16}
	var numbers [pointerNumbers]uint64
	rest, valid, size := raw[enterpriseSize:], true, enterpriseSize
	for i := range numbers {
		for more := true; more; {
			if len(rest) == 0 {
				return raw // no address
			}
			numbers[i] = numbers[i]<<7 | uint64(rest[0]&0x7f)
			more, rest = rest[0] >= 0x80, rest[1:]
		}
		valid = valid && numbers[i] <= limits[i]
		size += groups(numbers[i])
	}
	if valid && size == len(raw)-len(rest) {
		return raw[:size:size]
	}
	short := append(make([]byte, 0, size), raw[:enterpriseSize]...)
	for _, n := range numbers {
		if !valid {
			n = 0
		}
		for i := groups(n) - 1; i > 0; i-- {
			short = append(short, 0x80|byte(n>>(7*i)))
		}
		short = append(short, byte(n&0x7f))
	}
	return short
}

// groups returns the number of groups of seven bits in a number.
func groups(n uint64) (count int) {
	for count = 1; n >= 0x80; count++ {
		n >>= 7
	}
	return count
}
