package address

import (
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"golang.org/x/crypto/blake2b"
)

// A Byron address is CBOR: [#6.24(bytes .cbor [root, attributes, type]), crc32], the checksum over the bytes (CIP-19).
const (
	byronRedeem = 2 // type: whoever has the Ed25519 key may spend
	byronMagic  = 2 // attribute: the network's magic as CBOR in bytes, absent on mainnet

	cborUint  = 0
	cborBytes = 2
	cborArray = 4
	cborMap   = 5
	cborTag   = 6

	cborEncoded = 24 // tag: bytes that are CBOR themselves
)

var (
	errNotByron = errors.New("it is no Byron address")
	errByronCRC = errors.New("its checksum is wrong")
)

// byronPayload is what the checksum of a Byron address is over. The error is errNotByron or errByronCRC.
func ByronPayload(raw []byte) ([]byte, error) {
	rest := raw
	for _, want := range []struct {
		major byte
		value uint64
	}{{cborArray, 2}, {cborTag, cborEncoded}} {
		major, value, after, ok := cborHead(rest)
		if !ok || major != want.major || value != want.value {
			return nil, errNotByron
		}
		rest = after
	}
	payload, rest, ok := cborString(rest)
	if !ok {
		return nil, errNotByron
	}
	major, sum, rest, ok := cborHead(rest)
	if !ok || major != cborUint || len(rest) > 0 {
		return nil, errNotByron
	}
	if sum != uint64(crc32.ChecksumIEEE(payload)) {
		return nil, errByronCRC
	}
	return payload, nil
}

// byronNetwork is the network magic in the payload of a Byron address, ok where it has one.
func ByronNetwork(payload []byte) (magic uint32, ok bool) {
	major, n, rest, ok := cborHead(payload)
	if !ok || major != cborArray || n != 3 {
		return 0, false
	}
	if _, rest, ok = cborString(rest); !ok {
		return 0, false
	}
	major, attributes, rest, ok := cborHead(rest)
	if !ok || major != cborMap {
		return 0, false
	}
	for range attributes {
		major, key, after, ok := cborHead(rest)
		if !ok || major != cborUint {
			return 0, false
		}
		value, after, ok := cborString(after)
		if !ok {
			return 0, false
		}
		rest = after
		if key == byronMagic {
			major, n, after, ok := cborHead(value)
			return uint32(n), ok && major == cborUint && n <= math.MaxUint32 && len(after) == 0
		}
	}
	return 0, false
}

// redeemAddress is the Byron address that holds what genesis gave to an Ed25519 key: [root, attributes, 2] where the
// root is Blake2b-224 of SHA3-256 of [2, [2, key], attributes].
func (n Network) RedeemAddress(key []byte) []byte {
	attributes := []byte{cborMap << 5}
	if n.Testnet {
		attributes = append(cborAppendHead(nil, cborMap, 1), byronMagic)
		attributes = cborAppendBytes(attributes, cborAppendHead(nil, cborUint, uint64(n.Magic)))
	}
	spending := append(cborAppendHead(nil, cborArray, 3), byronRedeem)
	spending = append(cborAppendHead(spending, cborArray, 2), byronRedeem)
	spending = append(cborAppendBytes(spending, key), attributes...)

	inner := sha3.Sum256(spending)
	payload := cborAppendBytes(cborAppendHead(nil, cborArray, 3), Hash224(inner[:]))
	payload = append(append(payload, attributes...), byronRedeem)

	address := cborAppendHead(cborAppendHead(nil, cborArray, 2), cborTag, cborEncoded)
	return cborAppendHead(cborAppendBytes(address, payload), cborUint, uint64(crc32.ChecksumIEEE(payload)))
}

// cborHead reads the head of a CBOR item of definite length: its major type and value or length.
func cborHead(b []byte) (major byte, value uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, 0, nil, false
	}
	major, info := b[0]>>5, b[0]&31
	b = b[1:]
	if info < 24 {
		return major, uint64(info), b, true
	}
	if info > 27 || len(b) < 1<<(info-24) {
		return 0, 0, nil, false
	}
	size := 1 << (info - 24)
	var wide [8]byte
	copy(wide[8-size:], b)
	return major, binary.BigEndian.Uint64(wide[:]), b[size:], true
}

// cborString reads a byte string of definite length.
func cborString(b []byte) (s, rest []byte, ok bool) {
	major, n, rest, ok := cborHead(b)
	if !ok || major != cborBytes || n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// cborAppendHead writes a head in its shortest form.
func cborAppendHead(b []byte, major byte, value uint64) []byte {
	major <<= 5
	switch {
	case value < 24:
		return append(b, major|byte(value))
	case value <= math.MaxUint8:
		return append(b, major|24, byte(value))
	case value <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(value))
	case value <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(value))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), value)
}

func cborAppendBytes(b, s []byte) []byte {
	return append(cborAppendHead(b, cborBytes, uint64(len(s))), s...)
}

func Hash224(b []byte) []byte { return blake2bOf(CredentialSize, b) }

// blake2bOf is a Blake2b digest of any size up to 64 bytes; golang.org/x/crypto has functions for three only.
func blake2bOf(size int, b []byte) []byte {
	h, err := blake2b.New(size, nil)
	if err != nil {
		panic(err) // the sizes are constants of ours
	}
	h.Write(b)
	return h.Sum(make([]byte, 0, size))
}
