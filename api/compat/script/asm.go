package script

import (
	"encoding/hex"
	"strconv"

	"birthmark/chains/bitcoin/block"
)

// Opcodes that the package refers to by name.
const (
	opPushData1   = 0x4c
	opPushData4   = 0x4e
	op1Negate     = 0x4f
	op1           = 0x51
	op16          = 0x60
	opReturn      = 0x6a
	opCheckLock   = 0xb1
	opCheckSeq    = 0xb2
	opCheckSigAdd = 0xba
	opColor       = 0xbc // of Tapyrus
	opInvalid     = 0xff
)

// names are the names of the opcodes from OP_NOP (0x61) to OP_CHECKSIGADD (0xba).
var names = [...]string{
	"NOP", "VER", "IF", "NOTIF", "VERIF", "VERNOTIF", "ELSE", "ENDIF", "VERIFY", "RETURN", "TOALTSTACK", "FROMALTSTACK",
	"2DROP", "2DUP", "3DUP", "2OVER", "2ROT", "2SWAP", "IFDUP", "DEPTH", "DROP", "DUP", "NIP", "OVER", "PICK", "ROLL", "ROT",
	"SWAP", "TUCK", "CAT", "SUBSTR", "LEFT", "RIGHT", "SIZE", "INVERT", "AND", "OR", "XOR", "EQUAL", "EQUALVERIFY",
	"RESERVED1", "RESERVED2", "1ADD", "1SUB", "2MUL", "2DIV", "NEGATE", "ABS", "NOT", "0NOTEQUAL", "ADD", "SUB", "MUL", "DIV",
	"MOD", "LSHIFT", "RSHIFT", "BOOLAND", "BOOLOR", "NUMEQUAL", "NUMEQUALVERIFY", "NUMNOTEQUAL", "LESSTHAN", "GREATERTHAN",
	"LESSTHANOREQUAL", "GREATERTHANOREQUAL", "MIN", "MAX", "WITHIN", "RIPEMD160", "SHA1", "SHA256", "HASH160", "HASH256",
	"CODESEPARATOR", "CHECKSIG", "CHECKSIGVERIFY", "CHECKMULTISIG", "CHECKMULTISIGVERIFY", "NOP1", "CHECKLOCKTIMEVERIFY",
	"CHECKSEQUENCEVERIFY", "NOP4", "NOP5", "NOP6", "NOP7", "NOP8", "NOP9", "NOP10", "CHECKSIGADD",
}

const firstNamed = 0x61

// rustNames are the names of all opcodes that rust-bitcoin prints.
var rustNames = func() (all [256]string) {
	for op := range all {
		name := ""
		switch {
		case op == 0:
			name = "0"
		case op < opPushData1:
			name = "PUSHBYTES_" + strconv.Itoa(op)
		case op <= opPushData4:
			name = "PUSHDATA" + strconv.Itoa(1<<(op-opPushData1))
		case op == op1Negate:
			name = "PUSHNUM_NEG1"
		case op < op1:
			name = "RESERVED"
		case op <= op16:
			name = "PUSHNUM_" + strconv.Itoa(op-op1+1)
		case op == opCheckLock:
			name = "CLTV"
		case op == opCheckSeq:
			name = "CSV"
		case op <= opCheckSigAdd:
			name = names[op-firstNamed]
		case op < opInvalid:
			name = "RETURN_" + strconv.Itoa(op)
		default:
			name = "INVALIDOPCODE"
		}
		all[op] = "OP_" + name
	}
	return all
}()

// tapyrusNames are the names of all opcodes that rust-tapyrus prints.
var tapyrusNames = func() [256]string {
	names := rustNames
	names[opCheckSigAdd], names[opColor], names[opInvalid] = "OP_RETURN_186", "OP_COLOR", "OP_RETURN_255"
	return names
}()

// AppendAsm disassembles a script as rust-bitcoin does, the form of Esplora: OP_DUP OP_HASH160 OP_PUSHBYTES_20 <hex>. A
// push beyond the end of the script ends it with <push past end>, and a length that is cut off with <unexpected end>.
func AppendAsm(to, script []byte) []byte { return appendAsm(to, script, &rustNames) }

// AppendTapyrusAsm is [AppendAsm] of a script of Tapyrus, as rust-tapyrus does.
func AppendTapyrusAsm(to, script []byte) []byte { return appendAsm(to, script, &tapyrusNames) }

func appendAsm(to, script []byte, names *[256]string) []byte {
	for first := true; len(script) > 0; first = false {
		op, data, rest, ok := block.NextOp(script)
		if !ok && op >= opPushData1 && len(script)-1 < 1<<(op-opPushData1) {
			return append(to, "<unexpected end>"...)
		}
		if !first {
			to = append(to, ' ')
		}
		to = append(to, names[op]...)
		if !ok {
			return append(to, " <push past end>"...)
		}
		if len(data) > 0 {
			to = append(to, ' ')
			to = hex.AppendEncode(to, data)
		}
		script = rest
	}
	return to
}

// AppendCoreAsm disassembles a script as Bitcoin Core does (ScriptToAsmStr): pushes of up to 4 bytes as decimal
// numbers, longer ones as hex. With signatures, which is for scripts of inputs, a push that is a signature is followed
// by the name of its hash type in brackets. A script that ends inside a push ends with [error].
func AppendCoreAsm(to, script []byte, signatures bool) []byte {
	signatures = signatures && !Unspendable(script)
	for first := true; len(script) > 0; first = false {
		if !first {
			to = append(to, ' ')
		}
		op, data, rest, ok := block.NextOp(script)
		switch {
		case !ok:
			return append(to, "[error]"...)
		case op <= opPushData4 && len(data) <= 4:
			to = strconv.AppendInt(to, number(data), 10)
		case op <= opPushData4:
			hashType := ""
			if signatures && isSignature(data) {
				hashType = hashTypes[data[len(data)-1]]
				data = data[:len(data)-1]
			}
			to = hex.AppendEncode(to, data)
			to = append(to, hashType...)
		case op == op1Negate:
			to = append(to, "-1"...)
		case op < op1:
			to = append(to, "OP_RESERVED"...)
		case op <= op16:
			to = strconv.AppendInt(to, int64(op-op1+1), 10)
		case op <= opCheckSigAdd:
			to = append(to, "OP_"...)
			to = append(to, names[op-firstNamed]...)
		case op == opInvalid:
			to = append(to, "OP_INVALIDOPCODE"...)
		default:
			to = append(to, "OP_UNKNOWN"...)
		}
		script = rest
	}
	return to
}

// number reads a number of a script: little-endian, the highest bit is the sign.
func number(b []byte) (n int64) {
	if len(b) == 0 {
		return 0
	}
	for i, v := range b {
		n |= int64(v) << (8 * i)
	}
	if sign := int64(0x80) << (8 * (len(b) - 1)); n&sign != 0 {
		return -(n &^ sign)
	}
	return n
}

// hashTypes are the names of the defined hash types of signatures.
var hashTypes = map[byte]string{
	0x01: "[ALL]", 0x02: "[NONE]", 0x03: "[SINGLE]",
	0x81: "[ALL|ANYONECANPAY]", 0x82: "[NONE|ANYONECANPAY]", 0x83: "[SINGLE|ANYONECANPAY]",
}

// isSignature reports whether b is a strictly encoded signature (BIP 66) with a defined hash type.
func isSignature(b []byte) bool {
	if len(b) < 9 || len(b) > 73 || b[0] != 0x30 || int(b[1]) != len(b)-3 {
		return false
	}
	rest, ok := b[2:len(b)-1], true
	for range 2 {
		if rest, ok = afterInteger(rest); !ok {
			return false
		}
	}
	return len(rest) == 0 && hashTypes[b[len(b)-1]] != ""
}

// afterInteger returns what follows a positive integer in the shortest DER encoding.
func afterInteger(b []byte) ([]byte, bool) {
	if len(b) < 3 || b[0] != 0x02 {
		return nil, false
	}
	n := int(b[1])
	if n == 0 || 2+n > len(b) || b[2]&0x80 != 0 || n > 1 && b[2] == 0 && b[3]&0x80 == 0 {
		return nil, false
	}
	return b[2+n:], true
}
