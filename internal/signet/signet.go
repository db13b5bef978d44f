// Package signet names signets by their challenges: the scripts that the blocks of each must satisfy (BIP 325).
package signet

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Public is the name of the public signet, and Prefix begins those of all others. Their magic follows, as 8 hex digits.
const (
	Public = "signet"
	Prefix = Public + "-"
)

const publicMagic = "0a03cf40"

// MaxChallenge is the largest size of a challenge in bytes, as of any script.
const MaxChallenge = 10_000

// Name returns the name of the signet with a challenge of at most MaxChallenge bytes. Its magic is the beginning of the
// hash of the serialized challenge.
func Name(challenge []byte) string {
	serialized := []byte{byte(len(challenge))}
	if len(challenge) >= 0xfd {
		serialized = binary.LittleEndian.AppendUint16([]byte{0xfd}, uint16(len(challenge)))
	}
	once := sha256.Sum256(append(serialized, challenge...))
	hash := sha256.Sum256(once[:])
	if magic := hex.EncodeToString(hash[:4]); magic != publicMagic {
		return Prefix + magic
	}
	return Public
}
