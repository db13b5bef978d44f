package onesat

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"birthmark/chains/bitcoin/block"
)

// LockKind is the kind of a script that locks an output.
type LockKind string

// Kinds of locks. Their texts are those of 1sat-stack.
const (
	PayKey  LockKind = "p2pkh" // pays to the hash of a key
	Cosign  LockKind = "cos"   // pays to the hash of a key, with the signature of another key
	Listing LockKind = "list"  // OrdLock: offers the output for a price; the seller can cancel
	Mining  LockKind = "ltm"   // mints tokens for locked coins
	Pow20   LockKind = "pow20" // mints tokens for work
	Delay   LockKind = "lock"  // pays to the hash of a key from a height on
)

// LockKinds are all kinds.
var LockKinds = []LockKind{PayKey, Cosign, Listing, Mining, Pow20, Delay}

// Lock is the script that locks an output, or the part of its script beside an inscription.
type Lock struct {
	Kind     LockKind
	KeyHash  []byte // of the owner, 20 bytes; nil: none
	Cosigner []byte // key of 33 bytes, of [Cosign]
	Payout   []byte // the serialized output that a [Listing] demands
	Price    uint64 // of a [Listing]
	Until    uint32 // height of a [Delay]
}

const (
	opCheckSigVerify = 0xad
	keySize          = 33
	payKeySize       = 25 // of the script of [PayKey]
	maxHeightSize    = 4  // bytes
)

// contract is a script with parameters: a prefix, pushes and a suffix. Prefix and suffix are identified by their hashes.
type contract struct {
	kind           LockKind
	begin          []byte // of the prefix
	prefix, suffix int    // lengths in bytes
	prefixSum      string // SHA-256 in hex
	suffixSum      string
	pushes         int
}

// Hashes of parts that several contracts have.
const (
	ownerPrefix = "86b0f291096403ced87b8256a0575475143f5ed94646ad5e1f4fdf704c88679e"
	delaySuffix = "796bff900a8e0777555109d9860f769317ef05cf5ca1416eb955400674bdd272"
)

var contracts = []contract{
	{Listing, unhex("2097dfd76851bf465e8f715593b21771"), 102, 702, ownerPrefix,
		"a208540ae84c8c389126731c9e69958a778e0bde2c2b4cbb4c1e3fe11973a1ad", 2},
	{Delay, unhex("2097dfd76851bf465e8f715593b21771"), 102, 807, ownerPrefix, delaySuffix, 2},
	{Mining, unhex("615479011c7a75011b7a011b7a011b7a"), 29_209, 807,
		"807be8f2b3fb5e61e7da041bfebfca9550aba60cb7eb36ca052e1d1a0d8f4538", delaySuffix, 6},
	{Pow20, unhex("010001000151016301680176018801a9"), 2_293, 27_489,
		"0387e0a1dc0ba4141c5085b4fdbdebcbcc69d1cd3f13bfd70260700653bb7421",
		"a3785ef74c2a9899e6ba6e5be6f3f9e0db515a553f3ed2e030fea90df2dfa19c", 5},
}

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

func hasSum(b []byte, sum string) bool {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:]) == sum
}

// find returns the pushes of the contract in a script; ok is false if the script does not contain it.
func (c *contract) find(script []byte) (pushes [][]byte, ok bool) {
	for from := 0; ; {
		at := bytes.Index(script[from:], c.begin)
		if at < 0 || len(script)-from-at < c.prefix+c.suffix {
			return nil, false
		}
		from += at
		if rest := script[from+c.prefix:]; hasSum(script[from:from+c.prefix], c.prefixSum) {
			if pushes, ok = c.parameters(rest); ok {
				return pushes, true
			}
		}
		from++
	}
}

// parameters reads the pushes before the suffix.
func (c *contract) parameters(script []byte) (pushes [][]byte, ok bool) {
	for range c.pushes {
		_, data, rest, ok := block.NextOp(script)
		if !ok {
			return nil, false
		}
		pushes, script = append(pushes, data), rest
	}
	return pushes, len(script) >= c.suffix && hasSum(script[:c.suffix], c.suffixSum)
}

// ReadLock returns the lock of an output script; nil if it has none of the kinds. The lock of an inscription is the
// script after its envelope, or else the one before it. Its parts are parts of the script.
func ReadLock(script []byte) *Lock {
	if block.FalseReturn(script) || len(script) > 0 && script[0] == block.OpReturn {
		return nil
	}
	in := ReadInscription(script)
	if in == nil {
		return readLock(script)
	}
	if l := readLock(in.Suffix); l != nil {
		return l
	}
	return readLock(in.Prefix)
}

func readLock(script []byte) *Lock {
	if n := payKeySize; len(script) == n || len(script) > n && script[n] == block.OpReturn { // data can follow
		if k, hash := block.SolveLegacy(script[:n]); k == block.PubKeyHash {
			return &Lock{Kind: PayKey, KeyHash: hash}
		}
	}
	if l := readCosign(script); l != nil {
		return l
	}
	for i := range contracts {
		c := &contracts[i]
		pushes, ok := c.find(script)
		if !ok {
			continue
		}
		l := &Lock{Kind: c.kind}
		if (c.kind == Listing || c.kind == Delay) && len(pushes[0]) == block.Hash160Size {
			l.KeyHash = pushes[0]
		}
		switch c.kind {
		case Listing:
			if !l.sells(pushes[1]) {
				continue
			}
		case Delay:
			var until [maxHeightSize]byte
			copy(until[:], pushes[1])
			l.Until = binary.LittleEndian.Uint32(until[:])
		}
		return l
	}
	return nil
}

// sells sets the price and the output that a listing demands. It returns false if it is malformed.
func (l *Lock) sells(output []byte) bool {
	const valueSize = 8
	if len(output) <= valueSize {
		return false
	}
	begin, size := valueSize+1, uint64(output[valueSize])
	if width := countWidth(output[valueSize]); width > 0 {
		if begin += width; len(output) < begin {
			return false
		}
		var n [8]byte
		copy(n[:], output[valueSize+1:begin])
		size = binary.LittleEndian.Uint64(n[:])
	}
	if size > uint64(len(output)-begin) {
		return false
	}
	l.Price, l.Payout = binary.LittleEndian.Uint64(output), output[:begin+int(size)]
	return true
}

// countWidth returns the bytes of a compact size after its first one.
func countWidth(first byte) int {
	if first < 0xfd {
		return 0
	}
	return 2 << (first - 0xfd)
}

// cosignBegin and cosignMiddle are the operations around the hash of the owner's key.
var (
	cosignBegin  = []byte{block.OpDup, block.OpHash160, block.Hash160Size}
	cosignMiddle = []byte{block.OpEqualVerify, opCheckSigVerify, keySize}
)

// readCosign returns the lock OP_DUP OP_HASH160 HASH OP_EQUALVERIFY OP_CHECKSIGVERIFY KEY OP_CHECKSIG, anywhere in a
// script; nil if the script has none.
func readCosign(script []byte) *Lock {
	if !bytes.Contains(script, cosignMiddle) {
		return nil
	}
	for rest := script; len(rest) > 0; {
		if after, ok := bytes.CutPrefix(rest, cosignBegin); ok && len(after) > block.Hash160Size {
			hash := after[:block.Hash160Size]
			key, ok := bytes.CutPrefix(after[block.Hash160Size:], cosignMiddle)
			if ok && len(key) > keySize && key[keySize] == block.OpCheckSig {
				return &Lock{Kind: Cosign, KeyHash: hash, Cosigner: key[:keySize]}
			}
		}
		_, _, next, ok := block.NextOp(rest)
		if !ok {
			return nil
		}
		rest = next
	}
	return nil
}
