package ergoexplorer

import (
	"encoding/hex"
	"strconv"
	"strings"

	"birthmark/chains/ergo/sigma"
)

// register returns the type and the text of the value of a register as the explorer writes them (renderEvaluatedValue in
// its protocol/sigma.scala); ok is false if it cannot read the value, and writes null for both.
func register(raw []byte) (kind, text string, ok bool) {
	value, read := sigma.Value(raw)
	if kind = kindName(raw); !read || !isKind(kind) || raw[0] == bareGenerator {
		return "", "", false
	}
	text, ok = rendered(value, kind)
	return kind, text, ok
}

// bareGenerator is the code of the generator as an expression, which the explorer only reads within a tuple.
const bareGenerator = 0x82

// kindName returns the type of a value as the explorer names it: SLong, Coll[SByte], (SInt, SLong). It is empty if the
// type is not known.
func kindName(raw []byte) string {
	name := sigma.TypeName(raw)
	var out strings.Builder
	for i := range len(name) {
		rest := name[i:]
		begins := name[i] >= 'A' && name[i] <= 'Z' && (i == 0 || strings.IndexByte("[( ", name[i-1]) >= 0)
		if begins && !strings.HasPrefix(rest, "Coll[") && !strings.HasPrefix(rest, "Option[") {
			out.WriteByte('S')
		}
		out.WriteByte(name[i])
	}
	return out.String()
}

// kinds are the types whose values the explorer writes. It knows others by name only.
var kinds = map[string]bool{
	"SBoolean": true, "SByte": true, "SShort": true, "SInt": true, "SLong": true, "SBigInt": true,
	"SGroupElement": true, "SSigmaProp": true, "SString": true, "SUnit": true, "SAny": true,
}

// isKind reports whether the explorer reads a type (SigmaType.parse). It divides the types of a tuple at the commas
// outside brackets, and so does not read a tuple in a tuple.
func isKind(name string) bool {
	for _, constructor := range []string{"Coll[", "Option["} {
		if of, ok := strings.CutPrefix(name, constructor); ok && strings.HasSuffix(of, "]") {
			return isKind(of[:len(of)-1])
		}
	}
	if len(name) < 2 || name[0] != '(' || name[len(name)-1] != ')' {
		return kinds[name]
	}
	open, from := 0, 1
	for i := 1; i < len(name); i++ {
		switch c := name[i]; {
		case c == '[':
			open++
		case c == ']':
			open--
		case open == 0 && c == ',' || i == len(name)-1:
			if !isKind(strings.TrimSpace(name[from:i])) {
				return false
			}
			from = i + 1
		}
	}
	return true
}

// rendered returns a decoded value as the explorer writes it: numbers, hex digits, and lists of these. ok is false for
// any other.
func rendered(v any, kind string) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "()", kind == "SUnit"
	case int:
		return strconv.Itoa(v), true
	case sigma.BigInt:
		return "CBigInt(" + string(v) + ")", true
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case []byte:
		return hex.EncodeToString(v), true
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			if parts[i], ok = rendered(v[i], ""); !ok {
				return "", false
			}
		}
		return "[" + strings.Join(parts, ",") + "]", true
	}
	return "", false
}
