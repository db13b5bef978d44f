package ergo

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/chains/ergo/sigma"
)

// TokenText is the description of a token by its issuer (EIP-4), as another program reads it.
type TokenText struct {
	Name, Description string
	Decimals          int
}

// NodeToken reads [model.Mint.Info] as the node does (IndexedToken.fromBox): any constant of type Coll[Byte] is a text,
// possibly an empty one. The decimals are a text that Java reads as an Int, or an Int; otherwise 0.
func NodeToken(info []byte) (t TokenText) {
	registers := infoRegisters(info)
	t.Name, t.Description = javaText(bytesOf(registers[0])), javaText(bytesOf(registers[1]))
	n, ok := javaInt(javaText(bytesOf(registers[2])))
	if value, _ := sigma.Value(registers[2]); !ok && len(registers[2]) > 0 && registers[2][0] == typeInt {
		n, _ = value.(int)
	}
	t.Decimals = n
	return t
}

// typeInt is the code of the type Int.
const typeInt = 4

// ExplorerToken reads [model.Mint.Info] as the explorer does (TokenPropsParser.eip4Partial); nil: it does not describe a
// token. That is so without a name in R4, and if R5 is a collection of anything but bytes.
func ExplorerToken(info []byte) *TokenText {
	registers := infoRegisters(info)
	name, ok := explorerText(registers[0])
	if !ok || len(registers[1]) > 0 && isCollection(registers[1]) && byteCollection(registers[1]) == nil {
		return nil
	}
	t := &TokenText{Name: name}
	t.Description, _ = explorerText(registers[1])
	if text, ok := explorerText(registers[2]); ok {
		t.Decimals, _ = javaInt(text)
	}
	return t
}

// isCollection reports whether a value is a collection, or a tuple expression, which the explorer takes for one.
func isCollection(value []byte) bool {
	kind := sigma.TypeName(value)
	return strings.HasPrefix(kind, "Coll[") || value[0] == tupleExpression
}

// tupleExpression is the code of the expression that makes a tuple.
const tupleExpression = 0x86

// byteCollection returns the content of a value of type Coll[Byte], constant or not; nil if it has another type.
func byteCollection(value []byte) []byte {
	if len(value) == 0 || sigma.TypeName(value) != "Coll[Byte]" {
		return nil
	}
	content, _ := sigma.Value(value)
	b, _ := content.([]byte)
	return b
}

// maxExplorerText is the largest text in bytes that the explorer reads.
const maxExplorerText = 1000

// explorerText returns the text in a value. The explorer reads printable ASCII, tabs and line ends, and characters of
// three and four bytes: in its pattern for UTF-8, those of two bytes are in a comment.
func explorerText(value []byte) (string, bool) {
	b := byteCollection(value)
	if b == nil || len(b) > maxExplorerText {
		return "", false
	}
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		ascii := size == 1 && (r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= '~')
		if !ascii && size < 3 {
			return "", false
		}
		rest = rest[size:]
	}
	return string(b), true
}

// javaInt reads a number as Integer.parseInt of Java does: with a sign, in digits of any script.
func javaInt(text string) (int, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(text, "+")
	}
	if digits == "" {
		return 0, false
	}
	n := 0
	for _, r := range digits {
		d, ok := digitOf(r)
		if !ok || n > (1<<31)/10 {
			return 0, false
		}
		n = 10*n + d
	}
	if negative {
		n = -n
	}
	if n != int(int32(n)) {
		return 0, false
	}
	return n, true
}

// digitOf returns the value of a decimal digit of the basic plane.
func digitOf(r rune) (int, bool) {
	for _, digits := range unicode.Nd.R16 {
		if r >= rune(digits.Lo) && r <= rune(digits.Hi) {
			return int(r-rune(digits.Lo)) % 10, true
		}
	}
	return 0, false
}

// javaText decodes UTF-8 as Java does: each sequence that cannot be continued becomes one U+FFFD, and so does an encoded
// surrogate.
func javaText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
			out.WriteRune(r)
			b = b[size:]
			continue
		}
		out.WriteRune(utf8.RuneError)
		b = b[malformed(b):]
	}
	return out.String()
}

// malformed returns the number of bytes of the invalid sequence that begins b.
func malformed(b []byte) int {
	c, need := b[0], 0
	least, most := byte(0x80), byte(0xbf) // of the second byte
	switch {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			least = 0xa0
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			least = 0x90
		} else if c == 0xf4 {
			most = 0x8f
		}
	}
	n := 1
	for ; n <= need && n < len(b) && b[n] >= least && b[n] <= most; n++ {
		least, most = 0x80, 0xbf
	}
	return n
}
