package script

import "birthmark/chains/bitcoin/block"

// maxScript is the length in bytes above which a script cannot be executed (MAX_SCRIPT_SIZE of Bitcoin Core).
const maxScript = 10_000

// Unspendable reports whether no input can spend an output with this script: it begins with OP_RETURN, or is too long.
func Unspendable(script []byte) bool {
	return len(script) > 0 && script[0] == opReturn || len(script) > maxScript
}

// TapyrusUnspendable reports whether no input can spend an output of Tapyrus with this script, as esplora-tapyrus does:
// its first opcode always fails.
func TapyrusUnspendable(script []byte) bool {
	return len(script) > 0 && (script[0] == opReturn || neverRuns(script[0]) && script[0] != opColor)
}

// TapyrusType returns the name of a script's type in esplora-tapyrus. colored reports that the script begins with a color,
// which is not part of it.
func TapyrusType(script []byte, colored bool) string {
	kind, _ := block.SolveLegacy(script)
	switch {
	case colored && kind == block.PubKeyHash:
		return "cp2pkh"
	case colored:
		return "cp2sh"
	case len(script) == 0:
		return "empty"
	case script[0] == opReturn:
		return "op_return"
	case paysToKey(script):
		return "p2pk"
	case kind == block.PubKeyHash:
		return "p2pkh"
	case kind == block.ScriptHash:
		return "p2sh"
	case TapyrusUnspendable(script):
		return "provably_unspendable"
	}
	return "unknown"
}

// EsploraType returns the name of a script's type in Esplora.
func EsploraType(script []byte) string {
	if len(script) == 0 {
		return "empty"
	}
	if script[0] == opReturn {
		return "op_return"
	}
	switch kind, _ := block.Solve(script); kind {
	case block.PubKeyHash:
		return "p2pkh"
	case block.ScriptHash:
		return "p2sh"
	case block.WitnessV0KeyHash:
		return "v0_p2wpkh"
	case block.WitnessV0ScriptHash:
		return "v0_p2wsh"
	case block.WitnessV1Taproot:
		return "v1_p2tr"
	}
	switch {
	case paysToKey(script):
		return "p2pk"
	case neverRuns(script[0]):
		return "provably_unspendable"
	}
	return "unknown"
}

// paysToKey reports whether a script is a push of 33 or 65 bytes and OP_CHECKSIG. The bytes need not be a key.
func paysToKey(script []byte) bool {
	n := len(script)
	return (n == 35 || n == 67) && int(script[0]) == n-2 && script[n-1] == 0xac
}

// neverRuns reports whether a script that begins with this opcode fails at once: the opcodes that are reserved,
// disabled or not defined outside of tapscript.
func neverRuns(op byte) bool {
	switch {
	case op == 0x50 || op == 0x62 || op == 0x65 || op == 0x66: // RESERVED, VER, VERIF, VERNOTIF
	case op >= 0x7e && op <= 0x81: // CAT to RIGHT
	case op >= 0x83 && op <= 0x86: // INVERT to XOR
	case op == 0x89 || op == 0x8a || op == 0x8d || op == 0x8e: // RESERVED1, RESERVED2, 2MUL, 2DIV
	case op >= 0x95 && op <= 0x99: // MUL to RSHIFT
	case op >= opCheckSigAdd:
	default:
		return false
	}
	return true
}

// CoreType returns the name of a script's type in Bitcoin Core.
func CoreType(script []byte) string {
	kind, _ := block.Solve(script)
	return block.KindNames[kind]
}

// Inner returns the scripts that an input reveals when it spends an output: the redeem script of P2SH (BIP 16), which
// is the last push of the script of the input, and the witness script of P2WSH, also within P2SH (BIP 141), or of the
// script path of P2TR (BIP 341). Absent scripts are nil, empty ones are not.
func Inner(spent, scriptSig []byte, witness [][]byte) (redeem, witnessScript []byte) {
	kind, _ := block.Solve(spent)
	if kind == block.ScriptHash {
		redeem = lastPush(scriptSig)
		kind, _ = block.Solve(redeem)
	}
	switch n := len(witness); {
	case n == 0:
	case kind == block.WitnessV0ScriptHash:
		witnessScript = witness[n-1]
	case kind == block.WitnessV1Taproot && redeem == nil:
		if last := witness[n-1]; n >= 2 && len(last) > 0 && last[0] == annexTag {
			n--
		}
		if n >= 2 {
			witnessScript = witness[n-2]
		}
	}
	return redeem, witnessScript
}

// annexTag is the first byte of an annex (BIP 341).
const annexTag = 0x50

// lastPush returns the data of the last operation of a script if that is a push, else nil.
func lastPush(script []byte) (data []byte) {
	for len(script) > 0 {
		var ok bool
		if _, data, script, ok = block.NextOp(script); !ok {
			return nil
		}
	}
	return data
}
