package bitcoin

// kind is what an output script is, by the rules of Core's Solver (script/solver.cpp). The numbers are not stored.
type kind uint8

const (
	nonstandard kind = iota
	pubkey
	pubkeyhash
	scripthash
	multisig
	nulldata
	witnessV0KeyHash
	witnessV0ScriptHash
	witnessV1Taproot
	anchor
	witnessUnknown
)

// kindNames are Core's names (GetTxnOutputType), the values of the index script_type.
var kindNames = [...]string{
	"nonstandard", "pubkey", "pubkeyhash", "scripthash", "multisig", "nulldata", "witness_v0_keyhash",
	"witness_v0_scripthash", "witness_v1_taproot", "anchor", "witness_unknown",
}

// The opcodes that matter to classification.
const (
	op0             = 0x00
	opPushData1     = 0x4c
	opPushData2     = 0x4d
	opPushData4     = 0x4e
	op1             = 0x51
	op16            = 0x60
	opReturn        = 0x6a
	opDup           = 0x76
	opEqual         = 0x87
	opEqualVerify   = 0x88
	opHash160       = 0xa9
	opCheckSig      = 0xac
	opCheckMultisig = 0xae
)

const (
	hash160Size        = 20
	compressedKeySize  = 33
	fullKeySize        = 65
	minProgramSize     = 2
	maxProgramSize     = 40
	maxMultisigKeys    = 20
	witnessKeyHashSize = 20
	witnessScriptSize  = 32
	taprootSize        = 32
)

// solve classifies a script. payload is the key, hash or witness program it holds, and part of the script; nil for
// multisig, nulldata and nonstandard. Forms of a fixed length are told apart by a few bytes; only what is left is parsed.
func solve(script []byte) (k kind, payload []byte) {
	switch len(script) {
	case 25:
		if script[0] == opDup && script[1] == opHash160 && script[2] == hash160Size && script[23] == opEqualVerify && script[24] == opCheckSig {
			return pubkeyhash, script[3:23]
		}
	case 23:
		if script[0] == opHash160 && script[1] == hash160Size && script[22] == opEqual {
			return scripthash, script[2:22]
		}
	case compressedKeySize + 2, fullKeySize + 2:
		if key := script[1 : len(script)-1]; int(script[0]) == len(key) && script[len(script)-1] == opCheckSig && keySize(key[0]) == len(key) {
			return pubkey, key
		}
	}
	if version, program, ok := witnessProgram(script); ok {
		if k = witnessKind(version, program); k == nonstandard {
			program = nil
		}
		return k, program
	}
	switch {
	case isNulldata(script):
		return nulldata, nil
	case isMultisig(script):
		return multisig, nil
	}
	return nonstandard, nil
}

// keySize is the length of a public key by its first byte, 0 where no key begins so. Hybrid keys (6, 7) count as
// Core counts them; whether the point is on the curve does not matter.
func keySize(first byte) int {
	switch first {
	case 2, 3:
		return compressedKeySize
	case 4, 6, 7:
		return fullKeySize
	}
	return 0
}

// witnessProgram splits a script of a version opcode and one push of 2 to 40 bytes (BIP 141).
func witnessProgram(script []byte) (version byte, program []byte, ok bool) {
	if len(script) < 2+minProgramSize || len(script) > 2+maxProgramSize || int(script[1])+2 != len(script) {
		return 0, nil, false
	}
	switch op := script[0]; {
	case op == op0:
		return 0, script[2:], true
	case op >= op1 && op <= op16:
		return op - op1 + 1, script[2:], true
	}
	return 0, nil, false
}

func witnessKind(version byte, program []byte) kind {
	switch {
	case version == 0 && len(program) == witnessKeyHashSize:
		return witnessV0KeyHash
	case version == 0 && len(program) == witnessScriptSize:
		return witnessV0ScriptHash
	case version == 0:
		return nonstandard // no one can ever spend it
	case version == 1 && len(program) == taprootSize:
		return witnessV1Taproot
	case version == 1 && string(program) == "\x4e\x73":
		return anchor
	}
	return witnessUnknown
}

// nextOp splits the first operation off a script. data is what a push pushes, nil for any other opcode. Not ok where
// the script ends inside the operation, or has none.
func nextOp(script []byte) (op byte, data, rest []byte, ok bool) {
	if len(script) == 0 {
		return 0, nil, nil, false
	}
	op, script = script[0], script[1:]
	size := 0
	switch {
	case op < opPushData1:
		size = int(op)
	case op > opPushData4:
		return op, nil, script, true
	default:
		width := 1 << (op - opPushData1) // 1, 2, 4 bytes of length
		if len(script) < width {
			return op, nil, nil, false
		}
		for i := range width {
			size |= int(script[i]) << (8 * i)
		}
		script = script[width:]
	}
	if size > len(script) {
		return op, nil, nil, false
	}
	return op, script[:size], script[size:], true
}

// isNulldata reports whether a script is OP_RETURN and then nothing but pushes, of any number and length.
func isNulldata(script []byte) bool {
	if len(script) == 0 || script[0] != opReturn {
		return false
	}
	for rest := script[1:]; len(rest) > 0; {
		op, _, next, ok := nextOp(rest)
		if !ok || op > op16 {
			return false
		}
		rest = next
	}
	return true
}

// appendPushed appends the data pushed by a nulldata script: that of all its pushes, one after the other. The opcodes
// for small numbers push no data. At most len(script)-2 bytes.
func appendPushed(to, script []byte) []byte {
	for rest := script[1:]; len(rest) > 0; {
		_, data, next, ok := nextOp(rest)
		if !ok {
			break
		}
		to, rest = append(to, data...), next
	}
	return to
}

// isMultisig reports whether a script is m, keys, their count, OP_CHECKMULTISIG; 1 ≤ m ≤ count ≤ 20.
func isMultisig(script []byte) bool {
	if len(script) == 0 || script[len(script)-1] != opCheckMultisig {
		return false
	}
	op, data, rest, ok := nextOp(script)
	need := smallNumber(op, data)
	if !ok || need < 1 || need > maxMultisigKeys {
		return false
	}
	for keys := 0; ; keys++ {
		if op, data, rest, ok = nextOp(rest); !ok {
			return false
		}
		if len(data) == 0 || keySize(data[0]) != len(data) {
			count := smallNumber(op, data)
			return count >= need && count <= maxMultisigKeys && count == keys && len(rest) == 1
		}
	}
}

// smallNumber is the number an opcode pushes, 0 where it is none of 1 to 75. Numbers above 16 have no opcode of their
// own and are pushed as one byte.
func smallNumber(op byte, data []byte) int {
	switch {
	case op >= op1 && op <= op16:
		return int(op-op1) + 1
	case op == 1 && len(data) == 1 && data[0] > 16 && data[0] <= maxMultisigKeys:
		return int(data[0])
	}
	return 0
}
