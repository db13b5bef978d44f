package block

// Kind is the type of an output script by the rules of Core's Solver (script/solver.cpp). The numbers are not stored.
type Kind uint8

const (
	Nonstandard Kind = iota
	PubKey
	PubKeyHash
	ScriptHash
	Multisig
	NullData
	WitnessV0KeyHash
	WitnessV0ScriptHash
	WitnessV1Taproot
	Anchor
	WitnessUnknown
)

// KindNames are Core's names (GetTxnOutputType), the values of the index script_type.
var KindNames = [...]string{
	"nonstandard", "pubkey", "pubkeyhash", "scripthash", "multisig", "nulldata", "witness_v0_keyhash",
	"witness_v0_scripthash", "witness_v1_taproot", "anchor", "witness_unknown",
}

// Opcodes of the standard scripts.
const (
	Op0             = 0x00
	opPushData1     = 0x4c
	opPushData2     = 0x4d
	opPushData4     = 0x4e
	Op1             = 0x51
	Op16            = 0x60
	OpReturn        = 0x6a
	OpDup           = 0x76
	OpEqual         = 0x87
	OpEqualVerify   = 0x88
	OpHash160       = 0xa9
	OpHash256       = 0xaa
	OpCheckSig      = 0xac
	opCheckMultisig = 0xae
)

const (
	Hash160Size        = 20
	compressedKeySize  = 33
	fullKeySize        = 65
	MinProgramSize     = 2
	MaxProgramSize     = 40
	maxMultisigKeys    = 20
	WitnessKeyHashSize = 20
	WitnessScriptSize  = 32
	taprootSize        = 32
)

// Solve classifies a script. payload is the key, hash or witness program in the script; nil for multisig, nulldata and
// nonstandard. Scripts of a fixed length are recognised by a few bytes; only the others are parsed.
func Solve(script []byte) (k Kind, payload []byte) {
	switch len(script) {
	case 25:
		if script[0] == OpDup && script[1] == OpHash160 && script[2] == Hash160Size && script[23] == OpEqualVerify && script[24] == OpCheckSig {
			return PubKeyHash, script[3:23]
		}
	case 23:
		if script[0] == OpHash160 && script[1] == Hash160Size && script[22] == OpEqual {
			return ScriptHash, script[2:22]
		}
	case compressedKeySize + 2, fullKeySize + 2:
		if key := script[1 : len(script)-1]; int(script[0]) == len(key) && script[len(script)-1] == OpCheckSig && keySize(key[0]) == len(key) {
			return PubKey, key
		}
	}
	if version, program, ok := WitnessProgram(script); ok {
		if k = witnessKind(version, program); k == Nonstandard {
			program = nil
		}
		return k, program
	}
	return other(script), nil
}

// SolveLegacy is [Solve] for coins without witness programs.
func SolveLegacy(script []byte) (k Kind, payload []byte) {
	if _, _, ok := WitnessProgram(script); ok {
		return Nonstandard, nil
	}
	return Solve(script)
}

// other classifies a script that has no address.
func other(script []byte) Kind {
	switch {
	case IsNullData(script):
		return NullData
	case isMultisig(script):
		return Multisig
	}
	return Nonstandard
}

// keySize returns the length of a public key with this first byte, 0 if there is none. As in Core, hybrid keys (6, 7)
// are valid, and the point need not be on the curve.
func keySize(first byte) int {
	switch first {
	case 2, 3:
		return compressedKeySize
	case 4, 6, 7:
		return fullKeySize
	}
	return 0
}

// WitnessProgram splits a script of a version opcode and one push of 2 to 40 bytes (BIP 141).
func WitnessProgram(script []byte) (version byte, program []byte, ok bool) {
	if len(script) < 2+MinProgramSize || len(script) > 2+MaxProgramSize || int(script[1])+2 != len(script) {
		return 0, nil, false
	}
	switch op := script[0]; {
	case op == Op0:
		return 0, script[2:], true
	case op >= Op1 && op <= Op16:
		return op - Op1 + 1, script[2:], true
	}
	return 0, nil, false
}

func witnessKind(version byte, program []byte) Kind {
	switch {
	case version == 0 && len(program) == WitnessKeyHashSize:
		return WitnessV0KeyHash
	case version == 0 && len(program) == WitnessScriptSize:
		return WitnessV0ScriptHash
	case version == 0:
		return Nonstandard // unspendable
	case version == 1 && len(program) == taprootSize:
		return WitnessV1Taproot
	case version == 1 && string(program) == "\x4e\x73":
		return Anchor
	}
	return WitnessUnknown
}

// NextOp splits the first operation off a script. data is the pushed data, nil if the operation is not a push. ok is
// false if the script is empty or ends inside the operation.
func NextOp(script []byte) (op byte, data, rest []byte, ok bool) {
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

// IsNullData reports whether a script is OP_RETURN followed by any number of pushes only.
func IsNullData(script []byte) bool {
	if len(script) == 0 || script[0] != OpReturn {
		return false
	}
	for rest := script[1:]; len(rest) > 0; {
		op, _, next, ok := NextOp(rest)
		if !ok || op > Op16 {
			return false
		}
		rest = next
	}
	return true
}

// FalseReturn reports whether a script begins with OP_FALSE OP_RETURN: on BSV no input can spend it.
func FalseReturn(script []byte) bool {
	return len(script) > 1 && script[0] == Op0 && script[1] == OpReturn
}

// AppendPushed appends the data of all pushes of a nulldata script, at most len(script)-2 bytes. The opcodes for small
// numbers push no data.
func AppendPushed(to, script []byte) []byte {
	for rest := script[1:]; len(rest) > 0; {
		_, data, next, ok := NextOp(rest)
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
	op, data, rest, ok := NextOp(script)
	need := smallNumber(op, data)
	if !ok || need < 1 || need > maxMultisigKeys {
		return false
	}
	for keys := 0; ; keys++ {
		if op, data, rest, ok = NextOp(rest); !ok {
			return false
		}
		if len(data) == 0 || keySize(data[0]) != len(data) {
			count := smallNumber(op, data)
			return count >= need && count <= maxMultisigKeys && count == keys && len(rest) == 1
		}
	}
}

// smallNumber returns the number from 1 to 20 that an operation pushes, else 0. Numbers above 16 have no opcode and are
// pushed as one byte.
func smallNumber(op byte, data []byte) int {
	switch {
	case op >= Op1 && op <= Op16:
		return int(op-Op1) + 1
	case op == 1 && len(data) == 1 && data[0] > 16 && data[0] <= maxMultisigKeys:
		return int(data[0])
	}
	return 0
}

// OpRunestone is OP_13, which follows OP_RETURN in a message of the runes protocol.
const OpRunestone = 0x5d

// Runestone returns the message of the runes protocol in an output script, nil if there is none.
func Runestone(script []byte) []byte {
	if len(script) < 2 || script[0] != OpReturn || script[1] != OpRunestone || !IsNullData(script) {
		return nil
	}
	return AppendPushed(nil, script[1:])
}
