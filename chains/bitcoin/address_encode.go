package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
)

// Addresses are encoded without the general functions of btcd, because lists and exports format millions of them.

// base58Digits is the alphabet of base58, and bech32Digits that of bech32.
const (
	base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	bech32Digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
)

// encodeBase58 writes a prefix of one or more bytes and a payload in base58 with a checksum. Together they have at most
// 60 bytes.
func encodeBase58(prefix string, payload []byte) string {
	var raw [64]byte
	n := copy(raw[:], prefix)
	n += copy(raw[n:len(raw)-4], payload)
	sum := sha256.Sum256(raw[:n])
	sum = sha256.Sum256(sum[:])
	n += copy(raw[n:], sum[:4])
	return base58Of(raw[:n])
}

// base58Of writes up to 64 bytes in base58.
func base58Of(raw []byte) string {
	const five = 58 * 58 * 58 * 58 * 58 // the largest power that fits a limb
	var limbs [16]uint32
	var padded [64]byte
	copy(padded[len(padded)-len(raw):], raw)
	for i := range limbs {
		limbs[i] = binary.BigEndian.Uint32(padded[4*i:])
	}
	var digits [96]byte
	at := len(digits)
	for first := 0; ; {
		for first < len(limbs) && limbs[first] == 0 {
			first++
		}
		if first == len(limbs) {
			break
		}
		rest := uint64(0)
		for i := first; i < len(limbs); i++ {
			rest = rest<<32 | uint64(limbs[i])
			limbs[i] = uint32(rest / five)
			rest %= five
		}
		for range 5 {
			at--
			digits[at] = base58Digits[rest%58]
			rest /= 58
		}
	}
	for at < len(digits) && digits[at] == base58Digits[0] { // of the last five digits
		at++
	}
	for i := 0; i < len(raw) && raw[i] == 0; i++ {
		at--
		digits[at] = base58Digits[0]
	}
	return string(digits[at:])
}

// bech32Step has the change of the checksum by its upper five bits (BIP 173).
var bech32Step = func() (step [32]uint32) {
	for i := range step {
		for bit, generator := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if i>>bit&1 == 1 {
				step[i] ^= generator
			}
		}
	}
	return step
}()

// Constants of the checksums of bech32 (BIP 173) and bech32m (BIP 350).
const (
	bech32Final  = 1
	bech32mFinal = 0x2bc830a3
)

// encodeSegwit writes a witness program: in bech32 for version 0, in bech32m for later versions.
func encodeSegwit(hrp string, version byte, program []byte) string {
	var room [96]byte
	b := append(append(room[:0], hrp...), '1')
	sum := uint32(1)
	add := func(v byte) { sum = (sum&0x1ffffff)<<5 ^ uint32(v) ^ bech32Step[sum>>25] }
	for i := range len(hrp) {
		add(hrp[i] >> 5)
	}
	add(0)
	for i := range len(hrp) {
		add(hrp[i] & 31)
	}
	put := func(v byte) {
		add(v)
		b = append(b, bech32Digits[v])
	}
	put(version)
	bits, have := uint32(0), 0
	for _, c := range program {
		bits, have = bits<<8|uint32(c), have+8
		for ; have >= 5; have -= 5 {
			put(byte(bits>>(have-5)) & 31)
		}
	}
	if have > 0 {
		put(byte(bits<<(5-have)) & 31)
	}
	for range 6 {
		add(0)
	}
	if sum ^= bech32mFinal; version == 0 {
		sum ^= bech32mFinal ^ bech32Final
	}
	for i := range 6 {
		b = append(b, bech32Digits[sum>>(25-5*i)&31])
	}
	return string(b)
}
