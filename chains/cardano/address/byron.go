package address

import (
	"crypto/sha3"
	"errors"
	"hash/crc32"
	"math"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
)

// A Byron address is CBOR: [#6.24(bytes .cbor [root, attributes, type]), crc32], the checksum over the bytes (CIP-19).
const (
	byronRedeem = 2 // type: the holder of the Ed25519 key can spend
	byronMagic  = 2 // attribute: the network's magic as CBOR in bytes, absent on mainnet
)

var (
	errNotByron = errors.New("it is not a Byron address")
	errByronCRC = errors.New("invalid checksum")
)

// ByronPayload returns the part of a Byron address that its checksum covers.
func ByronPayload(raw []byte) ([]byte, error) {
	w := cbor.Walker{Data: raw}
	if n := w.Array("address"); n != 2 {
		return nil, errNotByron
	}
	payload := w.Encoded("payload")
	whole := w.Major() == cbor.Uint
	sum := w.Uint("checksum")
	if w.Err != nil || !whole || w.Offset < len(raw) {
		return nil, errNotByron
	}
	if sum != uint64(crc32.ChecksumIEEE(payload)) {
		return nil, errByronCRC
	}
	return payload, nil
}

// ByronNetwork returns the network magic in the payload of a Byron address; ok is false if it has none.
func ByronNetwork(payload []byte) (magic uint32, ok bool) {
	w := cbor.Walker{Data: payload}
	if w.Array("address") != 3 {
		return 0, false
	}
	w.Bytes("root")
	for n := w.Map("attributes"); n > 0 && w.Err == nil; n-- {
		key := w.Uint("attribute")
		value := w.Bytes("attribute")
		if key == byronMagic && w.Err == nil {
			v := cbor.Walker{Data: value}
			n := v.Uint("magic")
			return uint32(n), v.Err == nil && n <= math.MaxUint32 && v.Offset == len(value)
		}
	}
	return 0, false
}

// RedeemAddress returns the Byron address of the funds that the genesis gives to an Ed25519 key: [root, attributes, 2]
// where root is Blake2b-224 of SHA3-256 of [2, [2, key], attributes].
func (n Network) RedeemAddress(key []byte) []byte {
	attributes := []byte{cbor.Map << 5}
	if n.Testnet {
		attributes = append(cbor.AppendHead(nil, cbor.Map, 1), byronMagic)
		attributes = cbor.AppendBytes(attributes, cbor.AppendHead(nil, cbor.Uint, uint64(n.Magic)))
	}
	spending := append(cbor.AppendHead(nil, cbor.Array, 3), byronRedeem)
	spending = append(cbor.AppendHead(spending, cbor.Array, 2), byronRedeem)
	spending = append(cbor.AppendBytes(spending, key), attributes...)

	inner := sha3.Sum256(spending)
	payload := cbor.AppendBytes(cbor.AppendHead(nil, cbor.Array, 3), Hash224(inner[:]))
	payload = append(append(payload, attributes...), byronRedeem)

	address := cbor.AppendHead(cbor.AppendHead(nil, cbor.Array, 2), cbor.Tag, cbor.TagEncoded)
	return cbor.AppendHead(cbor.AppendBytes(address, payload), cbor.Uint, uint64(crc32.ChecksumIEEE(payload)))
}

// Hash224 returns the Blake2b-224 hash, by which keys and scripts are identified.
func Hash224(b []byte) []byte { return blake2bOf(CredentialSize, b) }

// blake2bOf returns a Blake2b digest of any size up to 64 bytes; golang.org/x/crypto has functions for three sizes
// only.
func blake2bOf(size int, b []byte) []byte {
	h, err := blake2b.New(size, nil)
	if err != nil {
		panic(err) // the sizes are constants
	}
	h.Write(b)
	return h.Sum(make([]byte, 0, size))
}
